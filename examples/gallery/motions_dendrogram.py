# SPDX-License-Identifier: BSD-3-Clause
"""A dendrogram: twenty drawings, by the divergences between their HMMs."""
import matplotlib.pyplot as plt
import vhem

motions = vhem.datasets.load_motions()
figure, ax = plt.subplots(figsize=(8, 4))
vhem.plot.dendrogram(vhem.fit_each(motions[:20], n_states=4), ax=ax)
figure.tight_layout()
figure.savefig("motions_dendrogram.png", dpi=70)
