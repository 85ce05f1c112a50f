# SPDX-License-Identifier: BSD-3-Clause
"""The bound of VHEM: after each iteration, for all starts, on 60 models."""
import matplotlib.pyplot as plt
import vhem

models = vhem.fit_each(vhem.datasets.load_motions(), n_states=4)
found = vhem.VHEM(n_clusters=6, search="restarts", n_init=20).fit(models)
figure, ax = plt.subplots(figsize=(7, 4))
vhem.plot.bound(found, ax=ax)
figure.tight_layout()
figure.savefig("motions_bound.png", dpi=70)
