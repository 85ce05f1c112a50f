# SPDX-License-Identifier: BSD-3-Clause
"""States of frames: each frame in the colour of its state, under the centre of its group."""
import matplotlib.pyplot as plt
import vhem

motions = vhem.datasets.load_motions()
groups = vhem.cluster(motions)
figure, axes = plt.subplots(2, 3, figsize=(9, 6), sharex=True, sharey=True)
for n, ax in enumerate(axes.flat):
    [path], _ = groups.centers_[groups.labels_[n]].decode([motions[n]])
    ax.plot(*motions[n].T, color="0.85", zorder=0)
    ax.scatter(*motions[n].T, c=path, cmap="tab10", vmin=0, vmax=9, s=12)
    ax.set(title=motions.names[n], aspect="equal")
figure.tight_layout()
figure.savefig("motions_states.png", dpi=70)
