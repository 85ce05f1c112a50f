# SPDX-License-Identifier: BSD-3-Clause
"""Steps and turns: their histograms in each group."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

tracks = vhem.datasets.load_tracks()
groups = vhem.cluster(tracks, covariance_type="step:gamma,turn:von-mises")
group = np.repeat(groups.labels_, tracks.lengths)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for k, (ax, column) in enumerate(zip(axes, tracks.columns)):
    for j in range(3):
        ax.hist(tracks.y[group == j, k], bins=40, histtype="step", label=f"group {j + 1}")
    ax.set_xlabel(column)
axes[0].legend()
figure.tight_layout()
figure.savefig("tracks_steps.png", dpi=70)
