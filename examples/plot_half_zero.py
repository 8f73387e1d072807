"""
Half of the values are zero: atoms
==================================

Rain, insurance claims, burnt areas: y is often exactly zero, and otherwise positive and skewed.
Such a distribution has no density: it takes the probability of the value zero *and* a density of
the positive values.  ``WithAtoms`` fits both, and its answers are those of the mixed distribution.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE, WithAtoms

# %%
# A simulated rain gauge and eight measurements of the weather.  One direction determines the
# probability of rain, another the amount.

n_samples = 600


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    wet = rng.random(n) < 1 / (1 + np.exp(-1.5 * (X[:, 0] + X[:, 1])))
    amount = np.exp(0.8 * X[:, 2] - 0.5 * X[:, 3] + 0.5 * rng.standard_normal(n))
    return X, np.where(wet, amount, 0.0)


X, y = sample(n_samples, 0)
X_test, y_test = sample(4000, 1)
print(f"{np.mean(y == 0):.0%} of the days are dry")

# %%
# A density of all values
# -----------------------
# LSCE warns that one value has a large share of the sample.  It smooths this value: a density can
# only represent it by a narrow peak, and part of this peak is below zero.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    raw = LSCE(n_components=2, n_members=1, random_state=0).fit(X, y)
print(next(str(w.message) for w in caught if "y" in str(w.message)))
plain = raw.predict_dist(X_test)
print(f"probability of negative rain: {plain.prob(-np.inf, -0.01).mean():.0%}")

# %%
# An atom and a density
# ---------------------
# ``WithAtoms`` finds the frequent value.  Its probability is an average of a logistic regression
# and boosted trees, with the weights that are best on held-out samples.  The density is fitted to
# the wet days.

model = WithAtoms(LSCE(n_components=2, random_state=0), random_state=0).fit(X, y)
print("atoms:", model.atoms_)
print("weights:", {name: round(weight, 2) for name, weight in model.model_weights_.items()})

# %%
# The answers are those of the whole distribution: quantiles are zero as long as the probability of
# a dry day reaches their level.

dist = model.predict_dist(X_test)
for day in (0, 1, 2):
    ends = dist[day].quantile([0.5, 0.75, 0.95])[0].round(2)
    dry = dist[day].pmf(0.0)[0]
    print(f"day {day}: P(dry) = {dry:.2f}, quantiles {ends}, observed {y_test[day]:.2f}")

# %%
# The continuous ranked probability score (CRPS) compares both models on new days.  The difference
# is paired: both are scored on the same days.

gain = plain.crps(y_test) - dist.crps(y_test)
print(f"CRPS {dist.crps(y_test).mean():.3f} with the atom, {plain.crps(y_test).mean():.3f} without")
print(f"difference {gain.mean():.3f} ± {gain.std() / np.sqrt(len(gain)):.3f}")

# %%
# Left: predicted and observed probabilities of heavy rain in ten groups of days.  Right: one day.

predicted = dist.prob(2.0, np.inf)
groups = np.array_split(np.argsort(predicted), 10)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.plot([0, 1], [0, 1], "--", color="0.4", lw=1)
left.plot(
    [predicted[g].mean() for g in groups],
    [(y_test[g] > 2).mean() for g in groups],
    "o",
    color="#0072b2",
)
left.set(
    xlabel="predicted P(y > 2)",
    ylabel="share of days with y > 2",
    aspect="equal",
    title="Heavy rain",
)
left.set(xlim=(-0.02, 0.9), ylim=(-0.02, 0.9))
day, grid = int(groups[7][0]), np.linspace(0.01, 6, 300)
dry = dist[day].pmf(0.0)[0]
right.bar(0, dry, width=0.12, color="#0072b2", label="P(y = 0), with the atom")
right.plot(
    grid,
    dist[day].pdf_on(grid)[0],
    color="#0072b2",
    label="density beside the atom",
)
line = np.linspace(-1.5, 6, 400)
right.plot(line, plain[day].pdf_on(line)[0], "--", color="#d55e00", label="density of all values")
right.set(xlabel="rain", ylabel="probability of zero; density", title="One day", ylim=(0, None))
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
