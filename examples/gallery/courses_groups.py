# SPDX-License-Identifier: BSD-3-Clause
"""Life courses by group: the share of people in each state, year by year."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

courses = vhem.datasets.load_courses()
groups = vhem.cluster(courses, covariance_type="categorical")
names = courses.symbols["state"]
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), sharey=True)
for j, ax in enumerate(axes):
    first = np.array([courses[int(n)][:25, 0] for n in (groups.labels_ == j).nonzero()[0]])
    ax.stackplot(range(25), [(first == v).mean(axis=0) for v in range(len(names))], labels=names)
    ax.set(title=f"group {j + 1}: {len(first)} people", xlabel="year")
axes[2].legend(loc="center left", bbox_to_anchor=(1, 0.5))
figure.tight_layout()
figure.savefig("courses_groups.png", dpi=70)
