# SPDX-License-Identifier: BSD-3-Clause
"""Centres of three groups: states as ellipses, transitions as arrows."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

motions = vhem.datasets.load_motions()
three = motions[np.isin(motions.labels, ["circle", "line", "cross"])]
vhem.plot.centers(vhem.cluster(three, n_clusters=3, n_states=5))
plt.savefig("motions_centres.png", dpi=70)
