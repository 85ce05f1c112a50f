#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/reproduction-characters.svg from expected.json: accuracy over Delta LL and over tau."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import BLUE, GREEN, ORANGE, expected, save                                              # noqa: E402
from matplotlib import pyplot as plt                                                             # noqa: E402

STYLE = {"vhem": ("VHEM", BLUE, "o"), "shem": ("SHEM", ORANGE, "s"), "em-h3m": ("EM-H3M", GREEN, "^"),
         "ppk-sc": ("PPK-SC", "#777777", "D")}


def main():
    found = expected("characters")
    rows = {t["key"]: t["rows"] for t in found["tables"]}
    trials, delta = found["numbers"]["accuracy"], found["config"]["delta"]
    plt.rcParams["axes.titlesize"] = 10
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for e in ("vhem", "shem", "em-h3m"):
        name, colour, mark = STYLE[e]
        runs = [trials[f"{e} {tol}"] for tol in delta]
        left.plot(delta, [sum(r) / len(r) for r in runs], color=colour, marker=mark, label=name)
        for tol, r in zip(delta, runs):
            left.plot([tol] * len(r), r, ".", color=colour, alpha=0.4, markersize=4)
    for e in ("vhem", "shem", "ppk-sc"):
        name, colour, mark = STYLE[e]
        points = [(row[1], row[4]) for row in rows["tau"] if row[0] == f"`{e}`"]
        last = next(row[4][0] for row in reversed(rows["table5"]) if row[0] == f"`{e}`")
        right.plot(*zip(*sorted([*points, (10, last)])), color=colour, marker=mark, label=name)
    right.set_xscale("log")
    right.set_xticks([5, 10, 30, 120], ["5", "10", "30", "120"])
    right.minorticks_off()
    left.set(xlabel="Delta LL (dots: single trials)", ylabel="accuracy", title="the stopping criterion, tau = 10")
    right.set(xlabel="tau, frames", title="the length of the virtual samples, Delta LL = 1e-5")
    for ax in (left, right):
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.legend(frameon=False)
    figure.tight_layout()
    save(figure, "characters")


if __name__ == "__main__":
    main()
