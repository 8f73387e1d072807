"""
Photometric redshifts
=====================

The redshift of a galaxy gives its distance, but a camera with eight filters measures only colours.
The magnitudes in neighbouring filters are correlated, and the redshift has a skewed distribution.
A near galaxy of one kind can look like a distant galaxy of another kind; then
p(redshift|magnitudes) has two modes.
"""

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE
from condensity.metrics import crps, hpd_coverage
from condensity.plots import CalibrationDisplay

# %%
# Simulated galaxies
# ------------------
# There are two kinds of galaxies.  The spectrum of each has a smooth step, which moves through the
# filters with the redshift: at a wavelength of 400 for one kind, 250 for the other, which is also
# slightly redder.  The eight magnitudes share the brightness of the galaxy and have independent
# noise.  Both are Gaussian, so Bayes' rule on a grid gives the true density.  Astronomers write z
# for the redshift.  Here it is y, because z = Wx are the directions.

n_samples = 600
filters, steps = np.linspace(380, 920, 8), np.array([400.0, 250.0])
brightness, noise = 0.6, 0.2
redshifts = np.linspace(0.005, 3, 500)
prior = redshifts**2 * np.exp(-((redshifts / 0.6) ** 1.1))  # not normalised


def template(redshift, kind):
    """Magnitudes (m, 8) of average brightness."""
    step = 1.6 / (1 + np.exp((filters - steps[kind][:, None] * (1 + redshift[:, None])) / 90.0))
    return step + 0.4 * kind[:, None] * (filters - 650) / 540


def sample(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(redshifts, n, p=prior / prior.sum()) + rng.uniform(-0.003, 0.003, n)
    kind = (rng.random(n) < 0.5).astype(int)
    shared = brightness * rng.standard_normal((n, 1))
    return template(y, kind) + shared + noise * rng.standard_normal((n, 8)), y


def truth(X):
    """p(redshift | magnitudes) on the grid, (m, 500)."""
    inverse = np.linalg.inv(noise**2 * np.eye(8) + brightness**2)
    total = 0.0
    for kind in (0, 1):
        rest = X[:, None] - template(redshifts, np.full(len(redshifts), kind))
        total = total + np.exp(-0.5 * np.einsum("mgi,ij,mgj->mg", rest, inverse, rest))
    total = total * prior
    return total / (total.sum(axis=1, keepdims=True) * (redshifts[1] - redshifts[0]))


X, y = sample(n_samples, 0)
X_test, y_test = sample(500, 1)

# %%
# The fit
# -------
# Three directions are enough for the position of the step and the kind of the galaxy.

model = LSCE(n_components=3, random_state=0).fit(X, y)
dist = model.predict_dist(X_test)
covered = (hpd_coverage(dist, y_test) <= 0.8).mean()
print(f"CRPS {crps(dist, y_test):.3f}; 80 % regions contain {covered:.0%} of new galaxies")

# %%
# Four of the first hundred test galaxies: the two with the smallest standard deviations, and the
# two whose 80 % highest-density region has the most probable second part.


def second_part(i):
    """Probability of the second part of the region."""
    masses = [float(dist[i].prob(a, b)[0]) for a, b in dist[i].hdr(0.8)[0]]
    return sorted(masses)[-2] if len(masses) > 1 else 0.0


certain = np.argsort(dist[:100].std())[:2]
ambiguous = np.argsort([-second_part(i) for i in range(100)])[:2]
figure, axes = plt.subplots(2, 2, figsize=(10, 5.4), sharex=True, layout="constrained")
for ax, i in zip(axes.T.flat, map(int, [*certain, *ambiguous]), strict=True):
    ax.fill_between(redshifts, truth(X_test[i : i + 1])[0], color="0.85", label="truth")
    ax.plot(redshifts, dist[i].pdf_on(redshifts)[0], color="#0072b2", label="LSCE")
    for a, b in dist[i].hdr(0.8)[0]:
        ax.plot([a, b], [0, 0], lw=6, color="#0072b2", alpha=0.4, solid_capstyle="butt")
    ax.plot(y_test[i], 0, "v", color="#d55e00", ms=8, clip_on=False, label="true redshift")
    ax.set(yticks=[], ylim=(0, None), xlim=(0, 3))
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[0, 0].set_title("Certain redshifts")
axes[0, 1].set_title("Ambiguous redshifts: two modes")
axes[0, 0].legend(frameon=False)
for ax in axes[1]:
    ax.set_xlabel("redshift")

# %%
# Calibration
# -----------
# If the densities were right, F(y|x) of new galaxies would be uniform.  The hump in the histogram
# shows that the densities are slightly too wide, and the intervals contain more galaxies than their
# nominal probability.  With 600 galaxies the kernels smooth sharp modes, which is also visible in
# the figure above.

CalibrationDisplay.from_predictions(y_test, dist)
plt.show()
