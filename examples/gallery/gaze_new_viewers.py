# SPDX-License-Identifier: BSD-3-Clause
"""New viewers: how sure their group is after 1, 2, 5 and 10 fixations."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

groups = vhem.cluster(vhem.datasets.load_gaze())
new = vhem.datasets.load_gaze(random_state=1)
figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
for ax, T in zip(axes, (1, 2, 5, 10)):
    sure = groups.predict_proba(vhem.Sequences.from_arrays([trial[:T] for trial in new]))
    for k, kind in enumerate(("eyes", "nose")):
        ax.hist(sure[np.array(new.labels) == kind, 0], bins=np.linspace(0, 1, 11), alpha=0.6, label=kind)
    ax.set(title=f"fixations: {T}", xlabel="probability of group 1")
axes[0].set_ylabel("trials")
axes[0].legend()
figure.tight_layout()
figure.savefig("gaze_new_viewers.png", dpi=70)
