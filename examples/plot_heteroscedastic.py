"""
Noise that depends on x
=======================

A regression with one error bar for all is right on average and wrong nearly everywhere: too wide
where y is sure, too narrow where it is not.  A conditional density has a width of its own at every
x.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from condensity import LSCE
from condensity.datasets import illustrative
from condensity.plots import FanDisplay

# %%
# Five inputs of which the first matters: it moves the mean, ``sinc(2 x1)``, and the noise, whose
# standard deviation falls from 0.92 at the left end to 0.125 at the right.  The other four are
# there to be seen through.

n_samples = 400
problem = illustrative("gaussian")
X, y = problem.sample(n_samples, random_state=0)
X_test, y_test = problem.sample(4000, random_state=1)
model = LSCE(n_components=1, random_state=0).fit(X, y)

# %%
# To compare with, a forest and the spread of its errors, which cross-validation measures honestly,
# but once for all of the data.

forest = RandomForestRegressor(200, min_samples_leaf=5, random_state=0)
errors = y - cross_val_predict(forest, X, y)
half = np.quantile(abs(errors), 0.9)
forest.fit(X, y)

# %%
# Coverage where you are
# ----------------------
# Both kinds of 90 % intervals hold about 90 % of new samples.  But if your x1 is given, you want to
# know how often they hold *there*.

ours = model.predict_dist(X_test).interval(0.9)
theirs = forest.predict(X_test)[:, None] + [-half, half]
edges = np.linspace(-1, 1, 11)
part = np.digitize(X_test[:, 0], edges) - 1
for name, ends in (("density", ours), ("one error bar", theirs)):
    inside = (ends[:, 0] <= y_test) & (y_test <= ends[:, 1])
    shares = [inside[part == k].mean() for k in range(10)]
    print(f"{name}: {inside.mean():.2f} of all, from {min(shares):.2f} to {max(shares):.2f} by x1")

# %%
# The fan shows the median and central intervals over x1, the other inputs at their medians; dashes
# are the true ends of the widest band.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
display = FanDisplay.from_estimator(model, X, y, feature=0, ax=left)
line = np.zeros((100, 5))
line[:, 0] = np.linspace(-0.98, 0.98, 100)
left.plot(line[:, 0], problem.conditional(line).interval(0.95), "--", color="#d55e00", lw=1)
left.set(xlabel="x1", title="Median and intervals; dashed: the true 95 %")

middles = (edges[1:] + edges[:-1]) / 2
for k, (name, ends) in enumerate((("density", ours), ("one error bar", theirs))):
    inside = (ends[:, 0] <= y_test) & (y_test <= ends[:, 1])
    shares = [inside[part == j].mean() for j in range(10)]
    right.plot(middles, shares, "o-", ms=4, color=("#0072b2", "#d55e00")[k], label=name)
right.axhline(0.9, color="0.4", lw=1, ls="--")
right.set(xlabel="x1", ylabel="share of new samples within", ylim=(0.5, 1.02))
right.set_title("What 90 % intervals hold")
right.legend(frameon=False, loc="lower right")
right.spines[["top", "right"]].set_visible(False)
plt.show()
