# SPDX-License-Identifier: BSD-3-Clause
"""Lost fixations: the groups stay the same for long, and nothing has to be filled in."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

gaze = vhem.datasets.load_gaze()
rng = np.random.default_rng(1)
shares = (0, 0.2, 0.4, 0.6, 0.8, 0.9)
found = []
for share in shares:
    y = gaze.y.copy()
    y[rng.random(len(y)) < share] = np.nan
    torn = vhem.Sequences(y, gaze.lengths, names=gaze.names, groups=gaze.groups)
    found.append(vhem.metrics.agreement(vhem.cluster(torn, n_clusters=2).labels_, [0, 1] * 6)["adjusted_rand"])
figure, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(shares, found, "o-")
ax.set(xlabel="share of fixations lost", ylabel="adjusted Rand index", ylim=(-0.2, 1.05))
figure.tight_layout()
figure.savefig("gaze_lost_samples.png", dpi=70)
