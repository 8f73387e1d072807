"""
What drives the mean, and what the uncertainty
==============================================

An input may shift y, or make it more uncertain, or both.  ``condensity.inspection`` answers three
questions about a fitted density: which inputs matter for which property, in which direction they
act, and how sure the density itself is.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from condensity import LSCE
from condensity.inspection import bootstrap, importance
from condensity.plots import DensityBandDisplay, ImportanceDisplay, LoadingsDisplay, SlopesDisplay

# %%
# Simulated travel times.  Distance and rain make a trip longer.  Traffic makes its duration
# uncertain.  The hour and the age of the car have no effect.

n_samples = 300
names = ["distance", "rain", "traffic", "hour", "age"]


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 5)), columns=names)
    spread = np.exp(0.5 * X["traffic"] - 0.7)
    return X, 2 * X["distance"] + 0.7 * X["rain"] + spread * rng.standard_normal(n)


X, y = sample(n_samples, 0)
X_test, y_test = sample(n_samples, 1)
model = LSCE(n_components=2, location="linear", n_starts=5, random_state=0).fit(X, y)

# %%
# Which inputs matter
# -------------------
# The values of one input are exchanged between test samples, and a proper loss is computed again:
# the squared error for the mean, the log loss of a normal distribution with a fixed mean for the
# spread.  The bars are the increases of the loss, the lines two standard errors on each side.

ImportanceDisplay.from_estimator(
    model, X_test, y_test, of=("mean", "spread", ("quantile", 0.9)), n_repeats=5, random_state=0
)

# %%
# The same for the directions of the model.  If everything *but* the two directions is exchanged,
# the density does not get worse: the directions carry all that it uses.

by_direction = importance(model, X_test, y_test, directions=True, n_repeats=5, random_state=0)
for name, increase, error in zip(
    by_direction.names, by_direction.increase, by_direction.std_error, strict=True
):
    print(f"{name:>25}: {increase:6.3f} ± {error:.3f} nats")

# %%
# In which direction they act
# ---------------------------
# The derivative of the 95 % quantile with respect to every input, one dot for each test sample.
# More traffic makes late arrivals later.  The derivatives of this model are exact: its
# location is linear.

SlopesDisplay.from_estimator(model, X_test[:150], ("quantile", 0.95))

# %%
# How sure the model is
# ---------------------
# Fits to resampled data show how much the directions and the densities vary with the sample.  A
# single member instead of an average makes these fits faster.

single = LSCE(n_components=2, location="linear", n_starts=2, n_members=1, random_state=0)
single.fit(X, y)
fits = bootstrap(single, X, y, n_resamples=12, random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
LoadingsDisplay.from_estimator(single, intervals=fits.loading_intervals(0.9), ax=left)
trips = pd.DataFrame([[0, 0, -1, 0, 0], [0, 0, 1, 0, 0]], columns=names)
DensityBandDisplay.from_estimator(
    fits,
    trips,
    np.linspace(-4, 4, 200),
    names=["little traffic", "much traffic"],
    output_name="duration",
    ax=right,
)
plt.show()
