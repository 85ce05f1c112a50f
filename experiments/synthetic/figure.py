#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/reproduction-synthetic.svg, the counterpart of the paper's Figure 3, from expected.json."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import BLUE, GREEN, ORANGE, expected, save                                              # noqa: E402
from matplotlib import pyplot as plt                                                             # noqa: E402

MEASURES = ["Rand index", "expected log-likelihood", "PPK compactness"]
WHAT = {"(a)": "(a) means differ", "(b)": "(b) variances differ"}
COLOURS = [BLUE, ORANGE, GREEN]


def panel(ax, rows, measure):
    """Solid: VHEM; dashed: PPK-SC; a colour for each noise."""
    for colour, noise in zip(COLOURS, sorted({row[2] for row in rows})):
        line = [row for row in rows if row[2] == noise]
        K = [row[1] for row in line]
        for which, style in enumerate(("-", "--")):
            ax.plot(K, [row[3 + 2 * measure + which] for row in line], style, color=colour, marker="o", markersize=3,
                    linewidth=1.4, label=f"{('VHEM-H3M', 'PPK-SC')[which]}, noise {noise:g}")
    ax.set_xscale("log", base=2)
    ax.set_xticks(K, [str(k) for k in K])
    ax.grid(color="#dddddd", linewidth=0.6)


def main():
    rows = next(t for t in expected("synthetic")["tables"] if t["key"] == "curves")["rows"]
    plt.rcParams["axes.titlesize"] = 10
    figure, axes = plt.subplots(2, 3, figsize=(10, 6))
    for line, (experiment, title) in zip(axes, WHAT.items()):
        for measure, ax in enumerate(line):
            panel(ax, [row for row in rows if row[0] == experiment], measure)
            ax.set_title(f"{title}: {MEASURES[measure]}")
            ax.set_xlabel("noisy versions of each HMM, K")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    save(figure, "synthetic")


if __name__ == "__main__":
    main()
