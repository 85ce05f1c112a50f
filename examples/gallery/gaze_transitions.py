# SPDX-License-Identifier: BSD-3-Clause
"""Two strategies as graphs: the transitions of their HMMs."""
import matplotlib.pyplot as plt
import vhem

groups = vhem.cluster(vhem.datasets.load_gaze())
figure, axes = plt.subplots(1, 2, figsize=(8, 4))
for center, ax in zip(groups.centers_, axes):
    vhem.plot.transitions(center, ax=ax)
figure.tight_layout()
figure.savefig("gaze_transitions.png", dpi=70)
