#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/images/reproduction-music.svg: average precision of every tag, VHEM against others."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import BLUE, GREEN, GREY, ORANGE, numbers, save                                         # noqa: E402
from matplotlib import pyplot as plt                                                             # noqa: E402

OTHERS = {"em-h3m": ("EM-H3M", BLUE), "hem-gmm": ("HEM-GMM", GREEN), "ppk-sc": ("PPK-SC", ORANGE)}


def main():
    found = numbers("music")
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained")
    for ax, name, title, size in zip(axes, ("cal500", "gtzan"), ("97 tags of CAL500", "10 genres of GTZAN"), (3.5, 5)):
        tags = found[f"{name}_tags"]
        for e, (label, colour) in OTHERS.items():
            ax.plot(tags[e], tags["vhem"], "o", ms=size, mew=0, alpha=0.8, color=colour, label=label)
        ax.axline((0, 0), slope=1, color=GREY, lw=0.8)
        ax.set(title=title, xlabel="average precision of the other", ylabel="average precision of VHEM-H3M",
               xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes[0].legend(frameon=False)
    save(fig, "music")


if __name__ == "__main__":
    main()
