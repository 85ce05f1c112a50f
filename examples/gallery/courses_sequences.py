# SPDX-License-Identifier: BSD-3-Clause
"""Every life course: a line of colours, sorted by group."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

courses = vhem.datasets.load_courses()
groups = vhem.cluster(courses, covariance_type="categorical")
order = np.argsort(groups.labels_, kind="stable")
lines = np.full((len(courses), courses.lengths.max()), np.nan)
for line, n in zip(lines, order):
    line[:courses.lengths[n]] = courses[int(n)][:, 0]
figure, ax = plt.subplots(figsize=(7, 5))
image = ax.imshow(lines, aspect="auto", cmap="Set2", vmin=-0.5, vmax=7.5, interpolation="nearest")
names = courses.symbols["state"]
figure.colorbar(image, ticks=range(len(names)), boundaries=np.arange(-0.5, len(names))).ax.set_yticklabels(names)
ax.set(xlabel="year", ylabel="person")
figure.tight_layout()
figure.savefig("courses_sequences.png", dpi=70)
