"""The humanoid robot of the paper's Sec. 3.4, simulated with MuJoCo.

The joints, the gains of the controller and the noise of the actions are those of the paper.  The
body (``humanoid.xml``) is our own, because the simulator of the robot CB-i is not public.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from importlib.resources import files
from numbers import Integral
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.extras import require
from condensity._utils.parameters import check_count, check_rng
from condensity.datasets.transitions import Transitions

_ALL = (
    "right_shoulder_pitch",
    "right_shoulder_roll",
    "right_elbow_pitch",
    "left_shoulder_pitch",
    "left_shoulder_roll",
    "left_elbow_pitch",
    "waist_yaw",
    "torso_roll",
    "torso_pitch",
)
_FEW = ("right_shoulder_pitch", "right_elbow_pitch")
#: The joints of the paper's three cases, in the paper's order.
JOINTS = {2: _FEW, 4: (*_FEW, "right_shoulder_roll", "waist_yaw"), 9: _ALL}
#: Numbers of transitions and of training samples in the paper, by number of joints.
ROBOT_SAMPLES = {2: 500, 4: 1000, 9: 1500}
ROBOT_TRAIN = {2: 100, 4: 200, 9: 500}

#: Targets differ from the angles by at most TARGET_RANGE.  The noise of a target is a mixture of
#: two Gaussians, given as (probability, mean).  All these numbers are the paper's, in radians.
TARGET_RANGE = 0.087
NOISE = ((0.6, 0.0), (0.4, -0.087))
NOISE_SD = 0.034

#: Our choices: the paper gives neither the duration of a step nor the start of the robot.  The mean
#: of the noise is not zero, so it would drive the joints into their limits without new starts.
CONTROL_STEP = 0.1  # seconds
EPISODE = 10  # transitions after each start
START = 0.2  # largest distance of a start from the home posture, in radians


class Humanoid:
    """Simulator of the robot: from a state and targets to the next state.

    A state contains the angles (k,) and then the angular velocities (k,) of ``joints``.

    Parameters
    ----------
    n_joints : {2, 4, 9}, default=9
        Number of moving joints, one of the paper's three cases.  The other joints are fixed.
    """

    def __init__(self, n_joints: int = 9) -> None:
        self._mujoco = require("mujoco", "robot")
        self.joints = JOINTS[_check_joints(n_joints)]
        self.model = self._mujoco.MjModel.from_xml_string(_model_with(self.joints))
        self.data = self._mujoco.MjData(self.model)
        # MuJoCo orders angles by the tree of bodies and targets by the list of actuators.  The
        # columns here have the order of the paper.
        joints = [self.model.joint(name) for name in self.joints]
        self._angles = np.array([int(joint.qposadr[0]) for joint in joints])
        self._velocities = np.array([int(joint.dofadr[0]) for joint in joints])
        self._targets = np.array([int(self.model.actuator(name).id) for name in self.joints])
        self.home = np.array([float(joint.user[0]) for joint in joints])
        self.limits = np.array([joint.range for joint in joints])  # (k, 2)
        self._substeps = round(CONTROL_STEP / self.model.opt.timestep)

    def start(self, rng: np.random.Generator) -> Array:
        """Random state near the home posture, with zero velocities, (2k,)."""
        angles = self.home + rng.uniform(-START, START, len(self.joints))
        return np.concatenate([angles, np.zeros(len(self.joints))])

    def step(self, state: Array, targets: Array) -> Array:
        """State (2k,) after one control step with targets (k,), to which no noise is added."""
        k = len(self.joints)
        if np.shape(state) != (2 * k,) or np.shape(targets) != (k,):
            raise ValueError(
                f"a state of {k} joints has shape ({2 * k},) and targets have ({k},), got "
                f"{np.shape(state)} and {np.shape(targets)}: pass one state and one action"
            )
        self.show(state)
        self.data.ctrl[self._targets] = targets
        self._mujoco.mj_step(self.model, self.data, nstep=self._substeps)
        # MuJoCo restarts an unstable simulation without an error, and its numbers are finite.
        if any(warning.number for warning in self.data.warning):
            raise FloatingPointError(
                f"the simulation became unstable from the state {state} with targets {targets}: "
                "choose targets nearer to the angles, and realistic velocities"
            )
        return np.concatenate([self.data.qpos[self._angles], self.data.qvel[self._velocities]])

    def show(self, state: Array) -> None:
        """Set the simulator to a state (2k,), for a renderer or for access to ``data``."""
        self._mujoco.mj_resetData(self.model, self.data)  # removes all traces of the last state
        self.data.qpos[self._angles], self.data.qvel[self._velocities] = np.split(state, 2)
        self._mujoco.mj_forward(self.model, self.data)


def propose(angles: Array, rng: np.random.Generator) -> Array:
    """Random targets (k,) near the angles, as in the paper."""
    return angles + rng.uniform(-TARGET_RANGE, TARGET_RANGE, angles.shape)


def disturb(targets: Array, rng: np.random.Generator) -> Array:
    """Targets with the paper's bimodal noise, which the motors receive."""
    probabilities, means = np.transpose(NOISE)
    which = rng.choice(len(means), p=probabilities, size=targets.shape)
    return np.asarray(targets + rng.normal(means[which], NOISE_SD))


def robot(n_joints: int = 9, n_samples: int | None = None, random_state: Any = None) -> Transitions:
    """Transitions of a simulated humanoid robot: states and actions in, next states out.

    A state s contains angles (rad) and angular velocities (rad/s).  An action a contains the
    targets of a proportional-derivative controller.  The motors receive the action plus noise from
    a mixture of two Gaussians; the table contains the action without noise.

    Parameters
    ----------
    n_joints : {2, 4, 9}, default=9
        Number of moving joints.  2: pitch of the right shoulder and of the right elbow.  4: also
        roll of the right shoulder and yaw of the waist.  9: all joints.
    n_samples : int, default=None
        Number of transitions.  None takes the number in the paper: 500, 1000 or 1500.
    random_state : None, int, RandomState or Generator, default=None
        Source of randomness for starts, actions and noise.

    Returns
    -------
    Transitions
        ``X`` (n, 3k) and ``Y`` (n, 2k) for k joints, and ``episodes`` of ten transitions each.

    See Also
    --------
    brush : Transitions of a simulated brush.

    Notes
    -----
    It needs ``condensity[robot]``.  The body differs from that of the paper's robot; see
    ``humanoid.xml``.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import robot
    >>> robot(2, random_state=0)  # doctest: +SKIP
    <Transitions '2 Joints': X (500, 6), Y (500, 4), 50 episodes>
    """
    k = _check_joints(n_joints)
    n = ROBOT_SAMPLES[k] if n_samples is None else check_count("n_samples", n_samples, low=1)
    rng, world = check_rng(random_state), Humanoid(k)
    X, Y = np.empty((n, 3 * k)), np.empty((n, 2 * k))
    for i in range(n):
        state = world.start(rng) if i % EPISODE == 0 else Y[i - 1]
        action = propose(state[:k], rng)
        X[i] = np.concatenate([state, action])
        Y[i] = world.step(state, disturb(action, rng))
    state_names = tuple(f"{what} {name}" for what in ("angle", "velocity") for name in world.joints)
    return Transitions(
        f"{k} Joints",
        X,
        Y,
        feature_names=(*state_names, *(f"target {name}" for name in world.joints)),
        target_names=tuple(f"next {name}" for name in state_names),
        n_train=ROBOT_TRAIN[k],
        source="simulated with MuJoCo after Tangkaratt, Xie, Sugiyama, Sec. 3.4; the body is ours",
        episodes=np.arange(n) // EPISODE,
    )


def _check_joints(n_joints: Any) -> int:
    if not isinstance(n_joints, Integral) or n_joints not in JOINTS:
        raise ValueError(f"n_joints must be 2, 4 or 9, the paper's three cases, got {n_joints!r}")
    return int(n_joints)


def _model_with(joints: tuple[str, ...]) -> str:
    """XML of the model with these joints; the other joints are fixed at their home angles."""
    root = ET.fromstring(files("condensity.datasets").joinpath("humanoid.xml").read_text("utf-8"))
    for body in root.iter("body"):
        joint = body.find("joint")
        if joint is not None and joint.get("name") not in joints:
            body.set("axisangle", f"{joint.get('axis')} {joint.get('user')}")
            body.remove(joint)
    actuators = root.find("actuator")
    assert actuators is not None
    for actuator in list(actuators):
        if actuator.get("joint") not in joints:
            actuators.remove(actuator)
    return ET.tostring(root, encoding="unicode")
