import numpy as np
import pytest

from condensity.data.resolution import RecordedValues


def recorded(values, weight=None):
    values = np.asarray(values, dtype=float)
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=float)
    return RecordedValues.of(values, weight / weight.sum())


def test_integer_scores_have_a_step_of_one_and_a_floor_of_about_half():
    y = np.random.default_rng(0).choice(
        [3, 4, 5, 6, 7, 8], 300, p=[0.02, 0.08, 0.4, 0.35, 0.1, 0.05]
    )
    found = recorded(y)
    assert found.step == 1.0
    value, share = found.atom
    assert value == np.bincount(y).argmax()
    assert share == pytest.approx(np.mean(y == value))
    assert 0.5 <= found.least_bandwidth < 0.7


def test_kernels_half_a_step_wide_add_up_to_a_flat_curve():
    grid = np.linspace(0, 1, 50)
    curve = np.exp(-0.5 * ((grid[:, None] - np.arange(-20, 20)) / 0.5) ** 2).sum(axis=1)
    assert np.ptp(curve) / curve.mean() < 0.03


def test_a_continuous_sample_has_a_floor_far_below_any_useful_bandwidth():
    y = np.random.default_rng(1).standard_normal(200)
    found = recorded(y)
    assert found.atom is None
    assert found.least_bandwidth < 0.02


def test_an_atom_raises_the_floor_though_the_other_values_lie_densely():
    rng = np.random.default_rng(2)
    y = np.where(rng.random(200) < 0.5, 0.0, rng.exponential(size=200))
    found = recorded(y)
    assert found.atom[0] == 0.0
    assert found.step < 0.03
    assert 0.05 < found.least_bandwidth < 0.3


def test_weights_count_as_repetitions_do():
    y, times = np.array([0.0, 1.0, 2.5, 7.0, 7.5]), np.array([10, 1, 1, 2, 2])
    once, again = recorded(y, times), recorded(np.repeat(y, times))
    np.testing.assert_allclose(once.share, again.share)
    assert once.step == again.step
    assert once.atom == (0.0, 10 / 16) or once.n_effective < 8


@pytest.mark.parametrize(
    ("values", "discrete"),
    [
        (np.repeat(np.arange(5.0), [5, 20, 30, 20, 5]), True),
        (np.r_[np.zeros(60), np.linspace(1, 2, 40)], False),  # one value alone
        (np.r_[np.zeros(10), np.ones(10), np.linspace(2, 3, 80)], False),  # a fifth of the sample
    ],
)
def test_a_sample_is_discrete_where_most_of_it_is_at_a_few_values(values, discrete):
    assert recorded(values).discrete is discrete


def test_few_continuous_samples_are_no_atoms():
    assert recorded(np.arange(10.0)).atom is None


def test_the_step_is_that_of_most_values_not_the_smallest_gap():
    values = np.append(np.arange(20.0), 7.0 + 1e-6)
    assert RecordedValues.of(values, np.full(21, 1 / 21)).step == pytest.approx(1.0, rel=1e-5)


def test_a_value_that_occurs_a_few_times_by_chance_is_not_frequent():
    rest = np.linspace(1, 2, 17)
    for count, frequent in ((3, False), (6, True)):
        values = np.append(np.zeros(count), rest)
        atom = RecordedValues.of(values, np.full(len(values), 1 / len(values))).atom
        assert (atom is not None) == frequent
