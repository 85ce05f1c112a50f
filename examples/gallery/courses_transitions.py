# SPDX-License-Identifier: BSD-3-Clause
"""Stages of life: how they follow each other in the HMM of each group."""
import matplotlib.pyplot as plt
import vhem

courses = vhem.datasets.load_courses()
groups = vhem.cluster(courses, covariance_type="categorical", n_states=3)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.5))
for center, ax in zip(groups.centers_, axes):
    ax.imshow(center.A, cmap="Blues", vmin=0, vmax=1)
    for (i, j), p in ((ij, center.A[ij]) for ij in ((i, j) for i in range(center.S) for j in range(center.S))):
        ax.text(j, i, f"{p:.2f}", ha="center", va="center", color="white" if p > 0.6 else "black")
    ax.set(title=center.name, xlabel="to", ylabel="from", xticks=range(center.S), yticks=range(center.S))
figure.tight_layout()
figure.savefig("courses_transitions.png", dpi=70)
