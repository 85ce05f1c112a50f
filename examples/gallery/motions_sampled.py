# SPDX-License-Identifier: BSD-3-Clause
"""Drawn from the centres: five new sequences of each group show how much an HMM keeps."""
import matplotlib.pyplot as plt
import vhem

groups = vhem.cluster(vhem.datasets.load_motions(), n_states=8)
figure, axes = plt.subplots(2, 3, figsize=(9, 6), sharex=True, sharey=True)
for center, ax in zip(groups.centers_, axes.flat):
    for drawn in center.sample(5, 60, random_state=1):
        ax.plot(*drawn.T, ".-", linewidth=0.5, markersize=3)
    ax.set(title=center.name, aspect="equal")
figure.tight_layout()
figure.savefig("motions_sampled.png", dpi=70)
