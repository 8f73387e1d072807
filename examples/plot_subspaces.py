"""
Which directions? LSCE, SIR, SAVE and PCA
=========================================

All four methods reduce ten inputs to two directions, with different aims.  PCA keeps the directions
in which x varies most.  SIR finds directions in which the mean of x changes with y, SAVE directions
in which its variance changes with y.  LSCE finds directions on which p(y|x) depends.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from condensity import LSCE, SAVE, SIR
from condensity.plots import SufficientSummaryDisplay

# %%
# In two oblique directions of the ten inputs, the mean of y is a round hill: y falls with the
# distance from its top.  The inputs are correlated, and the directions in which they vary most are
# not the two that matter.

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
# Two planes have two principal angles.  Both are 0 if the planes are the same.  An angle of 90°
# means that one plane contains a direction orthogonal to the other.  ``components_`` of LSCE, SAVE
# and SIR act on standardised inputs; divided by the standard deviations, they act on x.

models = {
    "LSCE": LSCE(n_components=2, random_state=0).fit(X, y),
    "SAVE": SAVE(n_components=2).fit(X, y),
    "SIR": SIR(n_components=2).fit(X, y),
    "PCA": PCA(n_components=2).fit(X),
}
angles = {}
for name, model in models.items():
    W = model.components_ if name == "PCA" else model.components_ / X.std(axis=0)
    angles[name] = np.sort(np.rad2deg(subspace_angles(W.T, truth.T)))
    print(f"{name}: {angles[name].round(0)} degrees from the truth")

# %%
# SIR fails here by construction: for high and low y alike, the mean of x is at the top of the
# hill.  In practice the true directions are unknown.  Then ``subspace_agreement_`` helps: its
# first two numbers measure how well the members of LSCE agree on two directions, from 0 to 1.
# Each member was fitted without some of the samples.

print("agreement of the members:", models["LSCE"].subspace_agreement_[:4].round(2))

# %%
# The sufficient summary plot shows the reduced inputs, coloured by y.  LSCE keeps the hill, SIR
# loses it.

figure, axes = plt.subplots(
    1, 3, figsize=(12, 3.8), layout="constrained", width_ratios=(1, 1.2, 1.2)
)
places = np.arange(len(models))
for k, label in enumerate(("smaller angle", "larger angle")):
    values = [pair[k] for pair in angles.values()]
    bars = axes[0].barh(
        places + 0.2 - 0.4 * k, values, 0.38, color=("#56b4e9", "#0072b2")[k], label=label
    )
axes[0].set_yticks(places, list(models))
axes[0].invert_yaxis()
axes[0].axvline(90, color="0.4", lw=1, ls="--")
axes[0].set(xlabel="degrees from the truth", title="Principal angles")
axes[0].legend(frameon=False, fontsize=9, loc="upper right", bbox_to_anchor=(1.0, 0.95))
axes[0].spines[["top", "right"]].set_visible(False)
for ax, name in zip(axes[1:], ("LSCE", "SIR"), strict=True):
    SufficientSummaryDisplay.from_estimator(models[name], X, y, ax=ax)
    ax.set_title(f"x reduced by {name}")
plt.show()
