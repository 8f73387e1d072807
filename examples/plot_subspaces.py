"""
Which directions? LSCE, SIR, SAVE and PCA
=========================================

All four reduce ten inputs to two.  They mean different things by it: PCA keeps where x varies, SIR
where the mean of x moves with y, SAVE where its spread does, LSCE where p(y|x) depends on x.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from condensity import LSCE, SAVE, SIR
from condensity.plots import SufficientSummaryDisplay

# %%
# A hill in two oblique directions of ten inputs: y falls with the distance from a point, the same
# on all sides.  The inputs are correlated, so that what varies most is not what matters.

n_samples, dx = 400, 10
rng = np.random.default_rng(3)
mixing = np.eye(dx) + 0.5 * rng.standard_normal((dx, dx)) / np.sqrt(dx)
truth = np.linalg.qr(rng.standard_normal((dx, 2)))[0].T  # two directions, orthonormal
X = rng.standard_normal((n_samples, dx)) @ mixing
Z = X @ truth.T
Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
y = np.exp(-0.5 * np.sum(Z**2, axis=1)) * 2 + 0.15 * rng.standard_normal(n_samples)

# %%
# Principal angles
# ----------------
# Two subspaces of dimension two have two principal angles: both 0 when they are the same, 90° where
# one has a direction that the other knows nothing of.  ``components_`` of our methods act on
# standardised inputs; divided by the standard deviations they act on x as it is.

found = {
    "LSCE": LSCE(n_components=2, random_state=0).fit(X, y),
    "SAVE": SAVE(n_components=2).fit(X, y),
    "SIR": SIR(n_components=2).fit(X, y),
    "PCA": PCA(n_components=2).fit(X),
}
angles = {}
for name, model in found.items():
    W = model.components_ if name == "PCA" else model.components_ / X.std(axis=0)
    angles[name] = np.sort(np.rad2deg(subspace_angles(W.T, truth.T)))
    print(f"{name}: {angles[name].round(0)} degrees from the truth")

# %%
# SIR is blind here, by construction: wherever y is high or low, the mean of x stays at the top of
# the hill.  Where the truth is not known, ``subspace_agreement_`` helps: its first two numbers say
# how far the members of LSCE, each learned without some of the samples, have two directions in
# common.

print("agreement of the members:", found["LSCE"].subspace_agreement_[:4].round(2))

# %%
# The sufficient summary plot shows what is left of x: coloured by y, the hill is there or it is
# not.

figure, axes = plt.subplots(
    1, 3, figsize=(12, 3.8), layout="constrained", width_ratios=(1, 1.2, 1.2)
)
places = np.arange(len(found))
for k, label in enumerate(("smaller angle", "larger angle")):
    values = [own[k] for own in angles.values()]
    bars = axes[0].barh(
        places + 0.2 - 0.4 * k, values, 0.38, color=("#56b4e9", "#0072b2")[k], label=label
    )
axes[0].set_yticks(places, list(found))
axes[0].invert_yaxis()
axes[0].axvline(90, color="0.4", lw=1, ls="--")
axes[0].set(xlabel="degrees from the truth", title="Principal angles")
axes[0].legend(frameon=False, fontsize=9, loc="upper right", bbox_to_anchor=(1.0, 0.95))
axes[0].spines[["top", "right"]].set_visible(False)
for ax, name in zip(axes[1:], ("LSCE", "SIR"), strict=True):
    SufficientSummaryDisplay.from_estimator(found[name], X, y, ax=ax)
    ax.set_title(f"What {name} leaves of x")
plt.show()
