"""
Half of the values are zero: a hurdle model
===========================================

Rain, insurance claims, burnt areas: y is often exactly zero, and otherwise positive and skewed.
Such a distribution has no density: it takes the probability of the value zero *and* a density of
the positive values.  A hurdle model estimates the two separately and combines them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from condensity import LSCE

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
print(f"probability of negative rain: {raw.predict_dist(X_test).prob(-np.inf, -0.01).mean():.0%}")

# %%
# The hurdle model
# ----------------
# A classifier estimates the probability of rain, a density the amount.  The density is fitted to
# the wet days only and restricted to positive values, ``bounds=(0, None)``.

wet = y > 0
rains = LogisticRegression().fit(X, wet)
amount = LSCE(n_components=2, bounds=(0, None), random_state=0).fit(X[wet], y[wet])

# %%
# The combination is ``P(y > v | x) = P(wet | x) P(amount > v | x, wet)``.  The q-quantile is zero
# if a dry day has probability q or more, and otherwise a quantile of the amount.

p_wet, dist = rains.predict_proba(X_test)[:, 1], amount.predict_dist(X_test)


def above(v):
    return p_wet * dist.prob(v, np.inf)


def quantile(day, q):
    level = 1 - (1 - q) / p_wet[day]
    return float(dist[day].quantile(level)[0]) if level > 0 else 0.0


for day in (0, 1, 2):
    ends = [round(quantile(day, q), 2) for q in (0.5, 0.75, 0.95)]
    print(f"day {day}: P(dry) = {1 - p_wet[day]:.2f}, quantiles {ends}, observed {y_test[day]:.2f}")

# %%
# Left: predicted and observed probabilities of heavy rain in ten groups of days.  Right: one day.

predicted = above(2.0)
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
right.bar(0, 1 - p_wet[day], width=0.12, color="#0072b2", label="P(y = 0), hurdle")
right.plot(
    grid,
    p_wet[day] * dist[day].pdf_on(grid)[0],
    color="#0072b2",
    label="density of the amount, hurdle",
)
line = np.linspace(-1.5, 6, 400)
plain = raw.predict_dist(X_test[day : day + 1]).pdf_on(line)[0]
right.plot(line, plain, "--", color="#d55e00", label="density of all values")
right.set(xlabel="rain", ylabel="probability of zero; density", title="One day", ylim=(0, None))
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
