# SPDX-License-Identifier: BSD-3-Clause
"""Few frames: how many of a new drawing are needed to find its group."""
import matplotlib.pyplot as plt
import vhem

motions, new = vhem.datasets.load_motions(), vhem.datasets.load_motions(random_state=1)
groups = vhem.cluster(motions)
frames = (1, 2, 4, 8, 16, 32, 60)
right = [vhem.metrics.agreement(groups.predict([y[:T] for y in new]), new.labels)["purity"] for T in frames]
figure, ax = plt.subplots(figsize=(6, 3.5))
ax.semilogx(frames, right, "o-", base=2)
ax.set(xlabel="frames", ylabel="purity of the groups", ylim=(0, 1.05))
figure.tight_layout()
figure.savefig("motions_few_frames.png", dpi=70)
