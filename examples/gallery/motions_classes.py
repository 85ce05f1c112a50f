# SPDX-License-Identifier: BSD-3-Clause
"""Known classes: a model of each, and how often cross-validation puts drawings right."""
import matplotlib.pyplot as plt
import vhem

motions = vhem.datasets.load_motions()
held = vhem.HMMClassifier(n_components=1, n_states=3).cross_validate(motions, motions.labels, folds=5)
names = sorted(set(motions.labels))
figure, ax = plt.subplots(figsize=(5.5, 5))
ax.imshow(held.confusion, cmap="Blues")
for i, row in enumerate(held.confusion):
    for j, n in enumerate(row):
        ax.text(j, i, int(n), ha="center", va="center")
ax.set_xticks(range(6), names, rotation=45)
ax.set_yticks(range(6), names)
ax.set_title(f"{held.accuracy:.0%} right")
figure.tight_layout()
figure.savefig("motions_classes.png", dpi=70)
