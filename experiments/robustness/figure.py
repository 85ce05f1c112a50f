#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/images/reproduction-robustness.svg: P@5, P@10 and P@15 for every tau and every N_v."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import BLUE, GREEN, ORANGE, numbers, save                                               # noqa: E402
from matplotlib import pyplot as plt                                                             # noqa: E402


def main():
    found = numbers("robustness")
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for ax, at, fixed, label in ((axes[0], 0, 1000, "length of virtual samples, tau"),
                                 (axes[1], 1, 10, "virtual samples per HMM, N_v")):
        for name, style in (("gtzan", "o-"), ("cal500", "s--")):
            rows = sorted((key[at], m) for key, m in zip(found[name]["settings"], found[name]["measures"])
                          if key[1 - at] == fixed)
            for k, colour in enumerate((BLUE, GREEN, ORANGE)):
                ax.plot([r[0] for r in rows], [r[1][k] for r in rows], style, ms=4, lw=1.2, color=colour,
                        label=f"{name.upper()}, P@{5 * (k + 1)}")
        ax.set(xscale="log", xlabel=label, ylim=(0, 1))
    axes[0].set_ylabel("precision")
    axes[1].legend(frameon=False, ncols=2, fontsize=7.5)
    save(fig, "robustness")


if __name__ == "__main__":
    main()
