# SPDX-License-Identifier: BSD-3-Clause
"""A tree: six groups of drawings, and groups of these groups, with the kinds in each."""
import matplotlib.pyplot as plt
import vhem

motions = vhem.datasets.load_motions()
tree = vhem.cluster(motions, n_clusters=[6, 3, 2])
figure, ax = plt.subplots(figsize=(8, 5))
vhem.plot.levels(tree, motions.labels, ax=ax)
figure.tight_layout()
figure.savefig("motions_tree.png", dpi=70)
