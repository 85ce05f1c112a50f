# SPDX-License-Identifier: BSD-3-Clause
"""Trials and states: four trials under the HMM of their group."""
import matplotlib.pyplot as plt
import vhem

gaze = vhem.datasets.load_gaze()
groups = vhem.cluster(gaze)
figure, axes = plt.subplots(1, 4, figsize=(11, 3.5), sharex=True, sharey=True)
for ax, n in zip(axes, (0, 5, 10, 15)):
    center = groups.centers_[groups.labels_[gaze.group_of[n]]]
    [path], _ = center.decode([gaze[n]])
    ax.plot(*gaze[n].T, color="0.8", zorder=0)
    ax.scatter(*gaze[n].T, c=path, cmap="tab10", vmin=0, vmax=9)
    ax.set(title=gaze.names[n], aspect="equal")
axes[0].invert_yaxis()
figure.tight_layout()
figure.savefig("gaze_paths.png", dpi=70)
