# SPDX-License-Identifier: BSD-3-Clause
"""How many states: each sequence takes as many as its evidence supports."""
import matplotlib.pyplot as plt
import numpy as np
import vhem

motions = vhem.datasets.load_motions()
models = vhem.fit_each(motions[:30], n_states="auto")
kinds = list(dict.fromkeys(motions.labels))
figure, ax = plt.subplots(figsize=(7, 3.5))
for k, kind in enumerate(kinds):
    S = [m.S for m in models if m.label == kind]
    ax.scatter(k + np.linspace(-0.2, 0.2, len(S)), S)
ax.set_xticks(range(6), kinds)
ax.set_ylabel("states")
figure.tight_layout()
figure.savefig("motions_n_states.png", dpi=70)
