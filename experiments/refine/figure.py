#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/images/reproduction-refine.svg: the gap of the bound over the number of slabs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import BLUE, GREEN, GREY, ORANGE, numbers, save                                         # noqa: E402
from matplotlib import pyplot as plt                                                             # noqa: E402


def main():
    found = numbers("refine")
    fig, ax = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    for (name, gaps), colour in zip(found["gaps"].items(), (BLUE, GREEN, ORANGE, GREY)):
        ax.plot(found["slabs"], gaps, "o-", ms=4, lw=1.2, color=colour, label=name)
    ax.set(xscale="log", xlabel="slabs, Q", ylabel="nats per 5 frames", ylim=(0, None))
    ax.set_xticks(found["slabs"], [str(q) for q in found["slabs"]])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=7.5)
    save(fig, "refine")


if __name__ == "__main__":
    main()
