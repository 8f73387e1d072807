"""Errors in the units of the target are those of plain formulas, row by row."""

import numpy as np
import pytest

from commands import columns
from condensity import LSCDE
from condensity.tables import Evaluation, evaluate_model, fit_table

FIXED = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
TABLE = columns(n=80)
ROWS = np.random.default_rng(0).permutation(80)
TEST, TRAIN = np.sort(ROWS[:16]), np.sort(ROWS[16:])


def plain(dist, y):
    """Absolute error of the median, width of the 90 % interval and CRPS, from F on a grid."""
    t = np.linspace(-25, 25, 200_001)
    F = np.array([np.interp(t, *curve) for curve in curves(dist, t)])
    ends = [np.array([np.interp(q, row, t) for row in F]) for q in (0.05, 0.5, 0.95)]
    step = (t >= y[:, None]).astype(float)
    crps = ((F - step) ** 2).sum(axis=1) * (t[1] - t[0])
    return np.abs(y - ends[1]), ends[2] - ends[0], crps


def curves(dist, t):
    coarse = np.linspace(t[0], t[-1], 20_001)
    p = dist.pdf_on(coarse)
    masses = np.cumsum((p[:, 1:] + p[:, :-1]) / 2, axis=1) * (coarse[1] - coarse[0])
    return [(coarse, np.append(0.0, row)) for row in masses]


def test_errors_in_the_units_of_the_target():
    model = fit_table(TABLE, "y", features=["a"], estimator=FIXED)
    found, y = model.evaluation, TABLE["y"]
    error, width, crps = plain(model.predict_dist({"a": TABLE["a"][TEST]}), y[TEST])
    assert found.median_error == pytest.approx((error.mean(),), rel=1e-3)
    assert found.interval_width == pytest.approx((width.mean(),), rel=1e-3)
    assert found.crps == pytest.approx((crps.mean(),), rel=1e-3)

    noise, noise_test = (
        np.random.default_rng(0).permutation([i % 2 for i in range(n)]).astype(float)[:, None]
        for n in (64, 16)
    )
    ignorant = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(noise, y[TRAIN])
    other = plain(ignorant.predict_dist(noise_test), y[TEST])
    assert found.median_error_without_inputs == pytest.approx((other[0].mean(),), rel=1e-3)
    assert found.interval_width_without_inputs == pytest.approx((other[1].mean(),), rel=1e-3)
    assert found.crps_without_inputs == pytest.approx((other[2].mean(),), rel=1e-3)
    se = (other[2] - crps).std(ddof=1) / 4
    assert found.crps_inputs_se == pytest.approx((se,), rel=1e-2)


def test_each_output_has_its_own_errors():
    model = fit_table(TABLE, ["y", "y2"], features="a", estimator=FIXED)
    for j, name in enumerate(("y", "y2")):
        dist = model.predict_dist({"a": TABLE["a"][TEST]}).marginal(j)
        _, width, crps = plain(dist, TABLE[name][TEST])
        assert model.evaluation.interval_width[j] == pytest.approx(width.mean(), rel=1e-3)
        assert model.evaluation.crps[j] == pytest.approx(crps.mean(), rel=1e-3)
    assert len(model.evaluation.crps_inputs_se) == 2


def test_progress_counts_rows():
    model = fit_table(TABLE, "y", features="a", estimator=FIXED, test_size=0)
    done = []
    evaluate_model(model.model, np.zeros((600, 1)), np.zeros(600), report=done.append)
    assert done == [256, 512, 600]


def test_damaged_evaluations_are_refused():
    plain_fields = (5, 0.0, 0.1, 1.0, 0.1, (0.9,))
    for name in ("crps", "median_error", "crps_inputs_se"):
        for value in ((1.0, 2.0), [1.0], ("low",), 3.0):
            with pytest.raises(ValueError, match=f"{name} of an evaluation must"):
                Evaluation(*plain_fields, **{name: value})
