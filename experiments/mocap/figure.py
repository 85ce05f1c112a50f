#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The paper's Figure 2 from expected.json: which motions VHEM-H3M and PPK-SC put together, level by level."""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import numbers, save                                                                    # noqa: E402
from matplotlib import patches, pyplot as plt                                                    # noqa: E402

COLOURS = ["#1b6ca8", "#e07b39", "#5aa469", "#d64550", "#8a6fb0", "#a9744f", "#e3a5c7", "#8d9299"]
HEIGHT, STEP = 0.62, 1.0


def place(levels, motions):
    """The motions in an order in which every cluster of every level stands together; the position of each."""
    order = sorted(range(len(motions)), key=lambda i: [*(level[i] for level in reversed(levels)), motions[i]])
    return {i: position for position, i in enumerate(order)}


def draw(ax, levels, motions):
    """One hierarchy: a bar for each cluster in the colours of its classes, above the clusters it is made of."""
    at = place(levels, motions)
    rows = [list(range(len(motions))), *levels]
    centre = []
    for row, labels in enumerate(rows):
        members = collections.defaultdict(list)
        for i, label in enumerate(labels):
            members[label].append(i)
        centre.append({label: sum(at[i] for i in own) / len(own) for label, own in members.items()})
        for label, own in members.items():
            width, bottom = min(4.2, 0.8 * len(own)), row * STEP
            for which, count in sorted(collections.Counter(motions[i] for i in own).items()):
                part = HEIGHT * count / len(own)
                ax.bar(centre[row][label], part, width, bottom=bottom, color=COLOURS[which], linewidth=0)
                bottom += part
            if row:
                ax.text(centre[row][label], row * STEP + HEIGHT + 0.03, str(len(own)), ha="center", va="bottom",
                        fontsize=7)
                for below in {rows[row - 1][i] for i in own}:
                    ax.plot([centre[row - 1][below], centre[row][label]],
                            [(row - 1) * STEP + HEIGHT + (0.17 if row > 1 else 0.02), row * STEP - 0.02],
                            color="#b5b5b5", linewidth=0.5)
    ax.set_yticks([row * STEP + HEIGHT / 2 for row in range(len(rows))],
                  [f"Level {row + 1}" for row in range(len(rows))])
    ax.set_xticks([])
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)


def main():
    plt.rcParams["svg.fonttype"] = "none"
    found = numbers("mocap")["hierarchies"]
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for ax, name in zip(axes, ("VHEM-H3M", "PPK-SC")):
        draw(ax, found[name], found["motions"])
        ax.set_title(name, fontsize=10)
    handles = [patches.Patch(color=colour, label=c) for colour, c in zip(COLOURS, found["classes"])]
    fig.legend(handles=handles, loc="lower center", ncol=len(handles), frameon=False, fontsize=8)
    fig.subplots_adjust(left=0.07, right=0.99, top=0.93, bottom=0.1, wspace=0.04)
    save(fig, "mocap")


if __name__ == "__main__":
    main()
