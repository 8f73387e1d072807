"""
Risk: probabilities in the tail
===============================

Decisions about risk depend on the tail of a distribution.  How likely is it that y exceeds a limit?
Which value is exceeded with probability 0.1?  What is the mean beyond that value?  One density
answers all three questions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from condensity import LSCE

# %%
# The table comes with scikit-learn: ten measurements of 442 patients, and the progression of their
# diabetes after one year, a positive number.  A third of the patients are test data.

n_samples = 300
data = load_diabetes(as_frame=True, scaled=False)
X, X_test, y, y_test = train_test_split(
    data.data, data.target, train_size=n_samples, random_state=1
)
model = LSCE(n_components=2, bounds=(0, None), random_state=0).fit(X, y)
dist = model.predict_dist(X_test)

# %%
# Three questions
# ---------------
# - The probability that y exceeds a limit: ``prob(200, inf)``.
# - The value at risk, exceeded with probability 0.1: ``quantile(0.9)``.
# - The expected shortfall, the mean of y beyond the value at risk.  It is the mean of the quantiles
#   above 0.9.

LIMIT, LEVEL = 200, 0.9
exceedance = dist.prob(LIMIT, np.inf)
at_risk = dist.quantile(LEVEL)
tail = LEVEL + (1 - LEVEL) * (np.arange(40) + 0.5) / 40
shortfall = dist.quantile(tail).mean(axis=1)
for i in np.argsort(exceedance)[[5, len(exceedance) // 2, -5]]:
    print(
        f"patient {X_test.index[i]}: P(y > {LIMIT}) = {exceedance[i]:.2f}, "
        f"value at risk {at_risk[i]:.0f}, expected shortfall {shortfall[i]:.0f}; "
        f"observed {y_test.iloc[i]:.0f}"
    )

# %%
# Are the probabilities right?
# ----------------------------
# The test patients are divided into five groups by their predicted probability.  In each group,
# the share of patients above the limit should be close to this probability.  Error bars are two
# standard errors.

groups = np.array_split(np.argsort(exceedance), 5)
predicted = np.array([exceedance[g].mean() for g in groups])
observed = np.array([(y_test.to_numpy()[g] > LIMIT).mean() for g in groups])
chance = 2 * np.sqrt(predicted * (1 - predicted) / [len(g) for g in groups])
exceeded = (y_test.to_numpy() > at_risk).mean()
print(f"value at risk exceeded by {exceeded:.0%} of patients, 10 % expected")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
grid = np.linspace(0, 400, 400)
picks = np.argsort(exceedance)[[5, len(exceedance) // 2, -5]]
for i, color in zip(picks, ("#009e73", "#0072b2", "#d55e00"), strict=True):
    density = dist[int(i)].pdf_on(grid)[0]
    left.plot(grid, density, color=color, label=f"P(y > {LIMIT}) = {exceedance[i]:.2f}")
    worst = grid >= LIMIT
    left.fill_between(grid[worst], density[worst], color=color, alpha=0.3, lw=0)
left.axvline(LIMIT, color="0.4", lw=1, ls="--")
left.set(xlabel="progression", ylabel="density", ylim=(0, None), title="Three patients and a limit")
left.legend(frameon=False)
right.errorbar(predicted, observed, chance, fmt="o", color="#0072b2", ecolor="0.6", capsize=3)
top = max(predicted.max(), (observed + chance).max()) + 0.05
right.plot([0, top], [0, top], "--", color="0.4", lw=1)
right.set(xlabel="predicted probability", ylabel="share above the limit", title="Calibration")
right.set(xlim=(0, top), ylim=(0, top), aspect="equal")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
