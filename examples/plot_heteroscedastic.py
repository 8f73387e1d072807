"""
Noise that depends on x
=======================

A regression with the same error bar everywhere is right on average and wrong almost everywhere: too
wide where the noise is small, too narrow where it is large.  A conditional density has its own
width at every x.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from condensity import LSCE
from condensity.datasets import illustrative
from condensity.plots import FanDisplay

# %%
# Only the first of five inputs matters.  It changes the mean, ``sinc(2 x1)``, and the standard
# deviation of the noise, which falls from 0.92 at the left end to 0.125 at the right end.  The
# other four inputs are irrelevant.

n_samples = 400
problem = illustrative("gaussian")
X, y = problem.sample(n_samples, random_state=0)
X_test, y_test = problem.sample(4000, random_state=1)
model = LSCE(n_components=1, random_state=0).fit(X, y)

# %%
# For comparison, a random forest with one error bar for all x: the 90 % quantile of its
# cross-validated absolute errors.

forest = RandomForestRegressor(200, min_samples_leaf=5, random_state=0)
errors = y - cross_val_predict(forest, X, y)
half = np.quantile(abs(errors), 0.9)
forest.fit(X, y)

# %%
# Coverage by x1
# --------------
# Both kinds of 90 % intervals contain about 90 % of all new samples.  But are they right for each
# value of x1?

of_density = model.predict_dist(X_test).interval(0.9)
of_forest = forest.predict(X_test)[:, None] + [-half, half]
edges = np.linspace(-1, 1, 11)
part = np.digitize(X_test[:, 0], edges) - 1
for name, ends in (("density", of_density), ("one error bar", of_forest)):
    inside = (ends[:, 0] <= y_test) & (y_test <= ends[:, 1])
    shares = [inside[part == k].mean() for k in range(10)]
    print(f"{name}: {inside.mean():.2f} of all, from {min(shares):.2f} to {max(shares):.2f} by x1")

# %%
# Left: the median and central intervals along x1, with the other inputs at their medians.  The
# dashed lines are the true ends of the widest interval.  Right: the coverage in ten bins of x1.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
display = FanDisplay.from_estimator(model, X, y, feature=0, ax=left)
line = np.zeros((100, 5))
line[:, 0] = np.linspace(-0.98, 0.98, 100)
left.plot(line[:, 0], problem.conditional(line).interval(0.95), "--", color="#d55e00", lw=1)
left.set(xlabel="x1", title="Median and intervals; dashed: true 95 %")

middles = (edges[1:] + edges[:-1]) / 2
for k, (name, ends) in enumerate((("density", of_density), ("one error bar", of_forest))):
    inside = (ends[:, 0] <= y_test) & (y_test <= ends[:, 1])
    shares = [inside[part == j].mean() for j in range(10)]
    right.plot(middles, shares, "o-", ms=4, color=("#0072b2", "#d55e00")[k], label=name)
right.axhline(0.9, color="0.4", lw=1, ls="--")
right.set(xlabel="x1", ylabel="share of new samples inside", ylim=(0.5, 1.02))
right.set_title("Coverage of 90 % intervals")
right.legend(frameon=False, loc="lower right")
right.spines[["top", "right"]].set_visible(False)
plt.show()
