"""
Large data: model selection on a subsample
==========================================

Most of the time of a fit goes into model selection: bandwidths, penalty, location.  Model selection
does not need all samples.  With many samples, LSCE selects on a random ``subsample`` and then fits
the subspace and the coefficients to all samples, chunk by chunk.
"""

import time

import matplotlib.pyplot as plt

from condensity import LSCE
from condensity.datasets import illustrative
from condensity.metrics import squared_loss

# %%
# A simulated problem with a known density: bimodal noise whose width depends on x, and four
# irrelevant inputs.

n_samples = 800  # largest subsample; the data have 15 times this number of samples
problem = illustrative("bimodal")
X, y = problem.sample(15 * n_samples, random_state=0)
X_test, y_test = problem.sample(4000, random_state=1)
best = squared_loss(problem.conditional(X_test), y_test)

# %%
# Model selection with 200, 400 and 800 samples, twice each.  First the other samples are
# discarded, then they are used for the final fit (``subsample``, 2000 by default).

sizes = [n_samples // 4, n_samples // 2, n_samples]
losses, seconds = {"discarded": [], "used": []}, {"discarded": [], "used": []}
for m in sizes:
    for name, rows in (("discarded", m), ("used", len(X))):
        start = time.perf_counter()
        model = LSCE(1, subsample=m, location="none", random_state=0).fit(X[:rows], y[:rows])
        seconds[name].append(time.perf_counter() - start)
        losses[name].append(squared_loss(model.predict_dist(X_test), y_test) - best)
        print(f"selected on {m}, the others {name}: {losses[name][-1]:.4f} above the true density")

# %%
# The other samples reduce the loss here and cost only a few more seconds, because the final
# fit computes sums over the samples.  (``predict`` and ``score`` process many rows in chunks
# automatically.  For samples that do not fit into memory, ``fit`` accepts Dask arrays and data
# frames.)
#
# This is one random sample of the data.  With another one, and a subsample of 200, the other
# samples did not help: a poor selection remains poor.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, table, title in zip(
    axes, (losses, seconds), ("Squared loss above the true density", "Seconds to fit"), strict=True
):
    for (name, values), color in zip(table.items(), ("#d55e00", "#0072b2"), strict=True):
        ax.plot(sizes, values, "o-", color=color, ms=5, label=f"the others {name}")
    ax.set(xscale="log", xlabel="samples for model selection", title=title)
    ax.set_ylim(0, None)
    ax.set_xticks(sizes, [str(m) for m in sizes])
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
plt.show()
