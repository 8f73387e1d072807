"""
More samples than the search needs
==================================

Most of the time of a fit goes into choosing: bandwidths, penalty, location.  That does not take all
samples.  Where there are many, LSCE chooses with a random ``subsample`` of them, and then fits
subspace and coefficients to all, a few hundred at a time.
"""

import time

import matplotlib.pyplot as plt

from condensity import LSCE
from condensity.datasets import illustrative
from condensity.metrics import squared_loss

# %%
# A problem with known truth: bimodal noise whose width depends on x, four inputs of noise, and as
# many samples as we like.

n_samples = 800  # to choose with, at most; there are 15 times as many
problem = illustrative("bimodal")
X, y = problem.sample(15 * n_samples, random_state=0)
X_test, y_test = problem.sample(4000, random_state=1)
best = squared_loss(problem.conditional(X_test), y_test)

# %%
# The same search, with 200, 400 and 800 samples, twice each: once the other samples are thrown
# away, once they are used for all that is fitted after the choice (``subsample``, by default 2000).

sizes = [n_samples // 4, n_samples // 2, n_samples]
losses, seconds = {"thrown away": [], "used": []}, {"thrown away": [], "used": []}
for m in sizes:
    for name, rows in (("thrown away", m), ("used", len(X))):
        begun = time.perf_counter()
        model = LSCE(1, subsample=m, location="none", random_state=0).fit(X[:rows], y[:rows])
        seconds[name].append(time.perf_counter() - begun)
        losses[name].append(squared_loss(model.predict_dist(X_test), y_test) - best)
        print(f"chosen with {m}, the others {name}: {losses[name][-1]:.4f} above the truth's loss")

# %%
# Samples that the search has not seen pay all the same here, for a few seconds more: passes over
# the data are sums, and sums are cheap.  (``predict`` and ``score`` cut many rows into blocks by
# themselves; for samples that no memory holds, ``fit`` takes Dask arrays and data frames.)
#
# This is one draw of the data.  With another, and 200 samples to choose with, the others gained
# nothing: what was chosen badly stays so.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, table, title in zip(
    axes, (losses, seconds), ("Squared loss above the truth's", "Seconds to fit"), strict=True
):
    for (name, values), color in zip(table.items(), ("#d55e00", "#0072b2"), strict=True):
        ax.plot(sizes, values, "o-", color=color, ms=5, label=f"the others {name}")
    ax.set(xscale="log", xlabel="samples to choose with", title=title)
    ax.set_ylim(0, None)
    ax.set_xticks(sizes, [str(m) for m in sizes])
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
plt.show()
