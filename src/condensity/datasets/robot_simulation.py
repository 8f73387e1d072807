"""The humanoid robot of the paper's Sec. 3.4, in MuJoCo.

The joints, the controller's gains and the noise of the actions are the paper's; the body
(``humanoid.xml``) is ours, since the simulator of CB-i is not public.
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
#: How many transitions the paper drew in each case, and with how many it learned.
N_SAMPLES = {2: 500, 4: 1000, 9: 1500}
N_TRAIN = {2: 100, 4: 200, 9: 500}

#: Targets are drawn from within REACH of the angles.  They are then disturbed by one of two
#: Gaussians: (probability, mean).  All of it is the paper's, in radians.
REACH = 0.087
NOISE = ((0.6, 0.0), (0.4, -0.087))
NOISE_SD = 0.034

#: Not the paper's: it does not say how long a step takes, nor where the robot starts from.  The
#: noise has a mean and drives the joints into their limits unless they are put back now and then.
CONTROL_STEP = 0.1  # seconds
EPISODE = 10  # transitions from a start
START = 0.2  # starts are within this of the home posture, at rest


class Humanoid:
    """The simulated robot: a function from a state and targets to the next state.

    A state is the angles (k,) and then the angular velocities (k,) of ``joints``.

    Parameters
    ----------
    n_joints : {2, 4, 9}, default 9
        Which of the paper's three cases.  Joints that are not used do not move.
    """

    def __init__(self, n_joints: int = 9) -> None:
        self._mujoco = require("mujoco", "robot")
        self.joints = JOINTS[_known(n_joints)]
        self.model = self._mujoco.MjModel.from_xml_string(_only(self.joints))
        self.data = self._mujoco.MjData(self.model)
        # Angles follow the tree of bodies, targets the list of actuators, and we the paper.
        joints = [self.model.joint(name) for name in self.joints]
        self._angles = np.array([int(joint.qposadr[0]) for joint in joints])
        self._velocities = np.array([int(joint.dofadr[0]) for joint in joints])
        self._targets = np.array([int(self.model.actuator(name).id) for name in self.joints])
        self.home = np.array([float(joint.user[0]) for joint in joints])
        self.limits = np.array([joint.range for joint in joints])  # (k, 2)
        self._substeps = round(CONTROL_STEP / self.model.opt.timestep)

    def start(self, rng: np.random.Generator) -> Array:
        """A state near the home posture, at rest, (2k,)."""
        angles = self.home + rng.uniform(-START, START, len(self.joints))
        return np.concatenate([angles, np.zeros(len(self.joints))])

    def step(self, state: Array, targets: Array) -> Array:
        """The state (2k,) after one control step under undisturbed targets (k,)."""
        k = len(self.joints)
        if np.shape(state) != (2 * k,) or np.shape(targets) != (k,):
            raise ValueError(
                f"a state of {k} joints has shape ({2 * k},) and targets have ({k},), got "
                f"{np.shape(state)} and {np.shape(targets)}: one state and one action at a time"
            )
        self.show(state)
        self.data.ctrl[self._targets] = targets
        self._mujoco.mj_step(self.model, self.data, nstep=self._substeps)
        # When it becomes unstable MuJoCo starts anew without a word, and all is finite.
        if any(warning.number for warning in self.data.warning):
            raise FloatingPointError(
                f"the simulation became unstable from the state {state} with targets {targets}: "
                "choose targets nearer to the angles, and velocities that a joint can have"
            )
        return np.concatenate([self.data.qpos[self._angles], self.data.qvel[self._velocities]])

    def show(self, state: Array) -> None:
        """Put the robot into a state (2k,), as a renderer or ``data`` will see it."""
        self._mujoco.mj_resetData(self.model, self.data)  # so that nothing is left of the last one
        self.data.qpos[self._angles], self.data.qvel[self._velocities] = np.split(state, 2)
        self._mujoco.mj_forward(self.model, self.data)


def propose(angles: Array, rng: np.random.Generator) -> Array:
    """Targets drawn as the paper does, (k,)."""
    return angles + rng.uniform(-REACH, REACH, angles.shape)


def disturb(targets: Array, rng: np.random.Generator) -> Array:
    """What becomes of targets on their way to the motors: the paper's bimodal noise is added."""
    probabilities, means = np.transpose(NOISE)
    which = rng.choice(len(means), p=probabilities, size=targets.shape)
    return np.asarray(targets + rng.normal(means[which], NOISE_SD))


def robot(n_joints: int = 9, n_samples: int | None = None, random_state: Any = None) -> Transitions:
    """Transitions of the simulated humanoid robot: (s, a) in, s' out.

    States s are angles (rad) and angular velocities (rad/s), actions a the targets of a
    proportional-derivative controller.  What the motors get is the action plus noise from two
    Gaussians; what is recorded is the action.

    Parameters
    ----------
    n_joints : {2, 4, 9}, default 9
        The right shoulder's and elbow's pitch; also the shoulder's roll and the waist's yaw; all.
    n_samples : int, optional
        Number of transitions; that of the paper unless given: 500, 1000 or 1500.
    random_state : int, RandomState, Generator or None
        What decides starts, actions and noise.

    Returns
    -------
    Transitions
        ``X`` (n, 3k), ``Y`` (n, 2k) for k joints, and ``episodes`` of ten transitions each.

    Notes
    -----
    Needs ``condensity[robot]``.  The body is not that of the paper's robot, see ``humanoid.xml``.
    """
    k = _known(n_joints)
    n = N_SAMPLES[k] if n_samples is None else check_count("n_samples", n_samples, low=1)
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
        n_train=N_TRAIN[k],
        source="simulated with MuJoCo after Tangkaratt, Xie, Sugiyama, Sec. 3.4; the body is ours",
        episodes=np.arange(n) // EPISODE,
    )


def _known(n_joints: Any) -> int:
    if not isinstance(n_joints, Integral) or n_joints not in JOINTS:
        raise ValueError(f"n_joints must be 2, 4 or 9, the paper's three cases, got {n_joints!r}")
    return int(n_joints)


def _only(joints: tuple[str, ...]) -> str:
    """The model with these joints; other bodies stay where their home angles turn them."""
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
