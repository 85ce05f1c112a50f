# SPDX-License-Identifier: BSD-3-Clause
"""Six groups of drawings: their number was not given."""
import matplotlib.pyplot as plt
import vhem

motions = vhem.datasets.load_motions()
groups = vhem.cluster(motions)
figure, axes = plt.subplots(2, 3, figsize=(9, 6), sharex=True, sharey=True)
for j, ax in enumerate(axes.flat):
    for n in (groups.labels_ == j).nonzero()[0]:
        ax.plot(*motions[int(n)].T, linewidth=0.5)
    ax.set(title=f"group {j + 1}", aspect="equal")
figure.tight_layout()
figure.savefig("motions_groups.png", dpi=70)
