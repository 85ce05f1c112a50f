# SPDX-License-Identifier: BSD-3-Clause
"""Rest and movement: the probability of the states, hour by hour."""
import matplotlib.pyplot as plt
import vhem

tracks = vhem.datasets.load_tracks()
groups = vhem.cluster(tracks, covariance_type="step:gamma,turn:von-mises", n_states=2)
figure, axes = plt.subplots(3, 1, figsize=(9, 5), sharex=True)
for n, ax in enumerate(axes):
    [gamma] = groups.centers_[groups.labels_[n]].posterior([tracks[n]])
    ax.stackplot(range(len(gamma)), gamma.T)
    ax.plot(tracks[n][:, 0] / tracks[n][:, 0].max(), "k", linewidth=0.7)
    ax.set(title=tracks.names[n], ylim=(0, 1))
axes[-1].set_xlabel("hour")
figure.tight_layout()
figure.savefig("tracks_states.png", dpi=70)
