# SPDX-License-Identifier: BSD-3-Clause
"""A map of tracks: from steps and turns back to places, by group."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

tracks = vhem.datasets.load_tracks()
groups = vhem.cluster(tracks, covariance_type="step:gamma,turn:von-mises")
figure, axes = plt.subplots(1, 3, figsize=(11, 4))
for j, ax in enumerate(axes):
    for n in (groups.labels_ == j).nonzero()[0]:
        step, turn = tracks[int(n)].T
        way = np.cumsum(step * np.exp(1j * np.cumsum(turn)))
        ax.plot(way.real, way.imag, linewidth=0.8)
    ax.set(title=f"group {j + 1}", aspect="equal")
figure.tight_layout()
figure.savefig("tracks_map.png", dpi=70)
