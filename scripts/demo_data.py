#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a small labelled data set of noisy 2-D motions as long CSV: id,label,x,y, one row per frame.

usage: demo_data.py FILE [SEED]

Six kinds of motion, ten of each, of unequal length, each at its own pace, size and place in its course.
"""
import csv
import math
import random
import sys

PER_KIND = 10
NOISE = 0.06


def circle(u):
    return math.cos(u), math.sin(u)


def figure_eight(u):
    return math.sin(u), math.sin(2 * u) * 0.7


def zigzag(u):
    return 2 * (u / (2 * math.pi) % 1) - 1, abs(4 * (u / math.pi % 1) - 2) - 1


def spiral(u):
    r = 0.15 + 0.85 * (u / (6 * math.pi) % 1)
    return r * math.cos(u), r * math.sin(u)


def line(u):
    back_and_forth = abs(u / math.pi % 2 - 1) * 2 - 1
    return back_and_forth, 0.5 * back_and_forth


def square(u):
    side, along = divmod(u / (2 * math.pi) % 1 * 4, 1)
    edge = 2 * along - 1
    return [(edge, -1), (1, edge), (-edge, 1), (-1, -edge)][int(side)]


KINDS = [circle, figure_eight, zigzag, spiral, line, square]


def sequence(rng, kind):
    frames = rng.randint(60, 140)
    pace = rng.uniform(0.22, 0.34)
    size = rng.uniform(0.92, 1.08)
    u = rng.uniform(0, 2 * math.pi)
    for _ in range(frames):
        x, y = kind(u)
        yield size * x + rng.gauss(0, NOISE), size * y + rng.gauss(0, NOISE)
        u += pace * rng.uniform(0.8, 1.2)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) == 3 else 1)
    with open(sys.argv[1], "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["id", "label", "x", "y"])
        for kind in KINDS:
            for n in range(PER_KIND):
                for x, y in sequence(rng, kind):
                    rows.writerow([f"{kind.__name__}_{n:02d}", kind.__name__, f"{x:.4f}", f"{y:.4f}"])


if __name__ == "__main__":
    main()
