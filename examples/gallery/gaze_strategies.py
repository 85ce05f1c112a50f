# SPDX-License-Identifier: BSD-3-Clause
"""Two ways to look at a face: groups of viewers, their fixations and the HMM of each group."""
import matplotlib.pyplot as plt
import numpy as np
import vhem
from matplotlib.patches import Arc, Ellipse

gaze = vhem.datasets.load_gaze()                 # 60 trials of 12 viewers
groups = vhem.cluster(gaze)                      # of viewers: the data name them

figure, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True)
for j, ax in enumerate(axes):
    for width, height, y in ((220, 300, 215), (16, 46, 200)):          # a face and its nose
        ax.add_patch(Ellipse((200, y), width, height, fill=False, color="0.7"))
    for x in (150, 250):                                               # its eyes
        ax.add_patch(Ellipse((x, 160), 44, 20, fill=False, color="0.7"))
    ax.add_patch(Arc((200, 280), 80, 34, theta1=0, theta2=180, color="0.7"))
    mine = np.repeat(groups.labels_[gaze.group_of] == j, gaze.lengths)
    ax.plot(*gaze.y[mine].T, ".", color="0.5", markersize=3)
    vhem.plot.model(groups.centers_[j], ax=ax, y_down=True)
    ax.set(title=f"group {j + 1}: {np.sum(groups.labels_ == j)} viewers", xlim=(80, 320), ylim=(375, 55), aspect="equal")
figure.tight_layout()
figure.savefig("gaze_strategies.png", dpi=90)
