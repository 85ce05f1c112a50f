# SPDX-License-Identifier: BSD-3-Clause
"""Noise: how much of it the groups of drawings stand."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

motions = vhem.datasets.load_motions()
rng = np.random.default_rng(1)
noise = (0, 0.1, 0.2, 0.3, 0.5, 0.8)
found = []
for sd in noise:
    y = motions.y + rng.normal(0, sd, motions.y.shape)
    labels = vhem.cluster(vhem.Sequences(y, motions.lengths), n_clusters=6).labels_
    found.append(vhem.metrics.agreement(labels, motions.labels)["adjusted_rand"])
figure, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(noise, found, "o-")
ax.set(xlabel="standard deviation of added noise", ylabel="adjusted Rand index", ylim=(0, 1.05))
figure.tight_layout()
figure.savefig("motions_noise.png", dpi=70)
