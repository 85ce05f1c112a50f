# SPDX-License-Identifier: BSD-3-Clause
"""Distances: divergences between the HMMs of 60 drawings, in the order of their groups."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

motions = vhem.datasets.load_motions()
models = vhem.fit_each(motions, n_states=4)
order = np.argsort(vhem.VHEM(n_clusters=6).fit(models).labels_, kind="stable")
D = vhem.metrics.distance(models, symmetric=True)[np.ix_(order, order)]
figure, ax = plt.subplots(figsize=(5.5, 5))
figure.colorbar(ax.imshow(np.log1p(np.maximum(D, 0)), cmap="viridis_r"), label="log(1 + nats)")
ax.set_xticks(range(0, 60, 10))
ax.set_yticks(range(0, 60, 10), [motions.labels[i] for i in order[::10]])
figure.tight_layout()
figure.savefig("motions_distances.png", dpi=70)
