"""The simulated robot obeys the paper's law of control, and the laws of mechanics."""

import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from condensity.datasets import robot

mujoco = pytest.importorskip("mujoco", reason="needs condensity[robot]")
from condensity.datasets.robot_simulation import (  # noqa: E402
    EPISODE,
    JOINTS,
    NOISE_SD,
    TARGET_RANGE,
    Humanoid,
    disturb,
    propose,
)

CASES = {2: (500, 100), 4: (1000, 200), 9: (1500, 500)}
G = 9.81


@pytest.fixture(scope="module")
def arm():
    return robot(2, random_state=0)


def at_home(world, velocities=0.0):
    k = len(world.joints)
    return np.concatenate([world.home, np.broadcast_to(velocities, k)])


@pytest.mark.parametrize("k", CASES)
def test_samples_are_those_of_the_paper_in_number_and_kind(k):
    table = robot(k, 3 * EPISODE, random_state=0)
    assert table.X.shape == (30, 3 * k)
    assert table.Y.shape == (30, 2 * k)
    assert (len(table.feature_names), len(table.target_names)) == (3 * k, 2 * k)
    assert table.name == f"{k} Joints"
    assert table.n_train == CASES[k][1]
    assert np.isfinite(table.Y).all()


def test_the_paper_s_number_of_samples_is_the_default(arm):
    assert arm.X.shape == (500, 6)
    assert len(np.unique(arm.episodes)) == 50


def test_the_seed_decides():
    first, again, other, longer = (
        robot(4, n, random_state=seed) for n, seed in ((15, 0), (15, 0), (15, 1), (25, 0))
    )
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.isclose(first.Y, other.Y).any()
    np.testing.assert_array_equal(longer.Y[:15], first.Y)


def test_episodes_begin_at_rest_and_go_on_where_they_were(arm):
    first = np.arange(500) % EPISODE == 0
    assert (arm.X[first, 2:4] == 0).all()
    np.testing.assert_array_equal(arm.X[~first, :4], arm.Y[np.flatnonzero(~first) - 1])
    np.testing.assert_array_equal(arm.episodes, np.arange(500) // EPISODE)


def test_actions_are_recorded_as_they_were_drawn_and_not_as_they_arrived(arm):
    reach = arm.X[:, 4:] - arm.X[:, :2]
    assert np.abs(reach).max() <= TARGET_RANGE
    np.testing.assert_allclose(reach.var(), TARGET_RANGE**2 / 3, rtol=0.1)  # uniform
    np.testing.assert_allclose(reach.mean(), 0.0, atol=4 * TARGET_RANGE / np.sqrt(3 * 1000))


def test_noise_and_actions_have_the_moments_of_the_paper_s():
    rng = np.random.default_rng(0)
    noise = disturb(np.zeros(200_000), rng)
    mean = -0.4 * 0.087
    variance = NOISE_SD**2 + 0.6 * 0.4 * 0.087**2
    third = 0.6 * (0 - mean) ** 3 + 0.4 * (-0.087 - mean) ** 3
    np.testing.assert_allclose(noise.mean(), mean, atol=5e-4)
    np.testing.assert_allclose(noise.var(), variance, rtol=0.01)
    np.testing.assert_allclose(((noise - noise.mean()) ** 3).mean(), third, atol=3e-6)
    actions = propose(np.full(100_000, 0.5), rng)
    np.testing.assert_allclose([actions.min(), actions.max()], [0.413, 0.587], atol=1e-4)


@pytest.mark.parametrize("k", CASES)
def test_torques_are_those_of_the_paper_s_law(k):
    world, rng = Humanoid(k), np.random.default_rng(k)
    q, v, a = world.home + 0.1 * rng.normal(size=k), rng.normal(size=k), rng.normal(size=k)
    world.show(np.concatenate([q, v]))
    for name, target in zip(world.joints, a, strict=True):
        world.data.actuator(name).ctrl[0] = target
    mujoco.mj_forward(world.model, world.data)
    for i, name in enumerate(world.joints):
        kp, kd = (200, 10) if "elbow" in name else (2000, 100)
        force = world.data.actuator(name).force[0]
        assert force == pytest.approx(kp * (a[i] - q[i]) - kd * v[i], rel=1e-12)


@pytest.mark.parametrize("k", CASES)
def test_moving_one_target_moves_that_joint_most(k):
    world = Humanoid(k)
    rest = world.step(at_home(world), world.home)
    for i in range(k):
        targets = world.home + 0.05 * np.eye(k)[i]
        moved = world.step(at_home(world), targets) - rest
        assert np.abs(moved[:k]).argmax() == i
        assert 0.02 < moved[i] < 0.07  # where it was sent, about
        assert moved[i] == pytest.approx(world.data.joint(JOINTS[k][i]).qpos[0] - rest[i])


def test_a_step_depends_on_nothing_but_state_and_targets():
    world, rng = Humanoid(9), np.random.default_rng(0)
    state, targets = at_home(world, 0.5), world.home + 0.05
    first = world.step(state, targets)
    world.step(world.start(rng), world.home - 0.3)
    np.testing.assert_array_equal(world.step(state, targets), first)


def potential_energy(q):
    """Of all that moves, from lengths and masses alone; q in the paper's order of nine joints."""
    (rp, rr, re, lp, lr, le, yaw, roll, pitch), energy = q, 0.0

    def turned(axis, angle, by):
        return by * Rotation.from_rotvec(angle * np.eye(3)["xyz".index(axis)])

    def weigh(mass, origin, frame, offset):
        return mass * G * (origin + frame.apply(offset))[2]

    waist = turned("z", yaw, Rotation.identity())
    trunk = turned("x", roll, waist)
    chest = turned("y", pitch, trunk)
    origin = np.array([0, 0, 0.92 + 0.08])
    neck = origin + trunk.apply([0, 0, 0.02])
    energy += 20.0 * G * (neck + chest.apply([0, 0, 0.20]))[2] + weigh(
        5.0, neck, chest, [0, 0, 0.52]
    )
    for side, (p, r, e) in ((-1, (rp, rr, re)), (1, (lp, lr, le))):
        shoulder = neck + chest.apply([0, side * 0.20, 0.36])
        upper = turned("x", r, turned("y", p, chest))
        elbow, lower = shoulder + upper.apply([0, 0, -0.28]), turned("y", e, upper)
        energy += 1.5 * G * shoulder[2] + weigh(3.5, shoulder, upper, [0, 0, -0.14])
        energy += weigh(2.0, elbow, lower, [0, 0, -0.125]) + weigh(1.0, elbow, lower, [0, 0, -0.31])
    return energy


def test_gravity_pulls_as_the_gradient_of_the_potential_energy():
    world, rng = Humanoid(9), np.random.default_rng(1)
    q, step = world.home + 0.3 * rng.normal(size=9), 1e-5
    world.show(np.concatenate([q, np.zeros(9)]))
    pull = [world.data.joint(name).qfrc_bias[0] for name in world.joints]
    slope = [
        (potential_energy(q + d) - potential_energy(q - d)) / (2 * step) for d in step * np.eye(9)
    ]
    np.testing.assert_allclose(pull, slope, rtol=1e-6, atol=1e-6)
    assert world.model.body_mass.sum() == pytest.approx(45.0)


@pytest.mark.parametrize("k", [2, 4])
def test_joints_that_are_not_used_stay_at_home(k):
    few, all_of_them = Humanoid(k), Humanoid(9)
    few.show(at_home(few))
    all_of_them.show(at_home(all_of_them))
    assert few.model.nq == k
    for name in ("right_hand", "left_hand", "head"):
        np.testing.assert_allclose(
            few.data.geom(name).xpos, all_of_them.data.geom(name).xpos, atol=1e-12
        )


def test_where_the_motors_hold_against_gravity_nothing_moves():
    world = Humanoid(9)
    world.show(at_home(world))
    pull = np.array([world.data.joint(name).qfrc_bias[0] for name in world.joints])
    gains = np.array([200 if "elbow" in name else 2000 for name in world.joints])
    state = world.step(at_home(world), world.home + pull / gains)
    np.testing.assert_allclose(state, at_home(world), atol=1e-8)


def test_without_motors_energy_is_kept():
    world = Humanoid(9)
    world.model.actuator_gainprm[:], world.model.actuator_biasprm[:] = 0.0, 0.0
    world.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    world.show(at_home(world))
    before = world.data.energy.copy()
    state = world.step(at_home(world), world.home)
    mujoco.mj_forward(world.model, world.data)
    potential, kinetic = world.data.energy - before
    assert kinetic > 1.0  # it falls
    assert potential + kinetic == pytest.approx(0.0, abs=0.005 * kinetic)
    assert np.abs(state[9:]).max() > 0.5


@pytest.mark.parametrize(("state", "targets"), [(2, 1), (4, 4), (8, 2)])
def test_a_step_is_of_one_state_and_one_action(state, targets):
    with pytest.raises(ValueError, match=r"of 2 joints has shape \(4,\) and targets have \(2,\)"):
        Humanoid(2).step(np.zeros(state), np.zeros(targets))


def test_what_is_unstable_is_told_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    world = Humanoid(2)
    with pytest.raises(FloatingPointError, match=r"unstable .* targets nearer to the angles"):
        world.step(at_home(world, 1e12), world.home)
    after = world.step(at_home(world), world.home)  # nothing of it is left
    np.testing.assert_array_equal(after, Humanoid(2).step(at_home(world), world.home))


def linear_residuals(table):
    A = np.column_stack([table.X, np.ones(len(table.X))])
    return table.Y - A @ np.linalg.lstsq(A, table.Y, rcond=None)[0]


def test_the_transitions_look_as_the_specification_says(arm):
    """Angles are nearly linear, velocities half noise, and the noise has two humps."""
    left = linear_residuals(arm)
    explained = 1 - left.var(axis=0) / arm.Y.var(axis=0)
    assert (explained[:2] > 0.9).all()
    assert ((explained[2:] > 0.35) & (explained[2:] < 0.55)).all()
    # Angle and velocity share one source of noise.
    assert np.corrcoef(left[:, 0], left[:, 2])[0, 1] > 0.95
    # Two humps: the kurtosis is that of 0.6 N(0, s²) + 0.4 N(-m, s²), far below a Gaussian's 3.
    standard = left[:, :2] / left[:, :2].std(axis=0)
    m, s, mean = 0.087, NOISE_SD, -0.4 * 0.087
    parts = ((0.6, -mean), (0.4, -m - mean))
    fourth = sum(p * (d**4 + 6 * d**2 * s**2 + 3 * s**4) for p, d in parts)
    expected = fourth / (s**2 + 0.24 * m**2) ** 2
    assert expected < 2.4
    np.testing.assert_allclose((standard**4).mean(axis=0), expected, atol=0.25)


def test_joints_keep_off_their_limits():
    table, world = robot(9, 300, random_state=1), Humanoid(9)
    low, high = world.limits.T
    assert (world.home - 0.2 > low).all()
    assert (world.home + 0.2 < high).all()
    inside = (table.Y[:, :9] > low) & (table.Y[:, :9] < high)
    assert inside.mean() > 0.995


@pytest.mark.parametrize("n_joints", [3, "all", None, [2]])
def test_other_robots_are_refused(n_joints):
    with pytest.raises(ValueError, match=r"n_joints must be 2, 4 or 9, .* got"):
        robot(n_joints)


def test_a_missing_mujoco_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'mujoco<5,>=4'"):
        robot(2, 10)
