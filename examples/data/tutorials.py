#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes made-up data for the tutorials, with the standard library alone: fixations.csv, motion.csv, songs.csv, letters.ts.

    tutorials.py FOLDER
"""
import csv
import math
import pathlib
import random
import sys


def write(folder, name, header, rows):
    with open(pathlib.Path(folder, name), "w", newline="") as f:
        csv.writer(f).writerows([header, *rows])


def fixations(rng):
    """Sixteen viewers of faces, 400 x 400 pixels: half look from eye to eye, half stay near the nose."""
    eyes, nose = [(150, 150), (250, 150), (200, 200)], [(200, 210), (200, 180), (200, 290)]
    for person in range(16):
        spots = [(x + rng.gauss(0, 6), y + rng.gauss(0, 6)) for x, y in (eyes if person % 2 else nose)]
        for trial in range(12):
            at = 0
            for k in range(rng.randint(3, 6)):
                x, y = spots[at]
                yield [f"s{person + 1}", trial + 1, k + 1, f"{rng.gauss(x, 12):.1f}", f"{rng.gauss(y, 12):.1f}",
                       round(rng.gammavariate(6, 40))]
                at = rng.choices(range(3), [[1, 5, 2], [5, 1, 2], [3, 3, 1]][at])[0]


def motion(rng):
    """Recordings of four movements, three channels: a frequency and a size for each movement."""
    for n in range(24):
        kind, tempo, size = [("walk", 0.25, 1), ("run", 0.6, 1.5), ("wave", 0.4, 0.5), ("jump", 0.9, 2)][n % 4]
        phase = rng.uniform(0, 6)
        for t in range(rng.randint(60, 100)):
            phase += tempo * rng.uniform(0.8, 1.2)
            path = (math.sin(phase), math.cos(phase), math.sin(2 * phase) / 2)
            yield [f"take{n}", kind, *(f"{size * v + rng.gauss(0, 0.15):.4f}" for v in path)]


def songs(rng):
    """Six songs of four fragments, four coefficients: calm songs change slowly, loud ones fast."""
    for song in range(6):
        for part in range(4):
            level = [0.0] * 4
            for _ in range(100):
                level = [0.9 * v + rng.gauss(0, 0.3 + 0.7 * (song % 2)) for v in level]
                yield [f"song{song}_{part}", f"song{song}", *(f"{v + 3 * (song % 2):.4f}" for v in level)]


def letters(rng):
    """Six of each letter, speeds of a pen in x and y, in the text format of aeon and sktime."""
    yield "@problemName letters"
    yield "@timeStamps false"
    yield "@univariate false"
    yield "@equalLength false"
    yield "@classLabel true a b c"
    yield "@data"
    for n in range(18):
        T = rng.randint(45, 60)
        turns = 1 + n % 3
        angle = [6 * t / T for t in range(T)]
        path = [[math.sin(turns * v) + rng.gauss(0, 0.05) for v in angle], [math.cos(v) + rng.gauss(0, 0.05) for v in angle]]
        yield ":".join(",".join(f"{v:.4f}" for v in channel) for channel in path) + ":" + "abc"[n % 3]


def main(folder):
    rng = random.Random(1)
    write(folder, "fixations.csv", ["subject", "trial", "fixation", "x", "y", "duration_ms"], fixations(rng))
    write(folder, "motion.csv", ["id", "label", "x", "y", "z"], motion(rng))
    write(folder, "songs.csv", ["clip", "song", "c1", "c2", "c3", "c4"], songs(rng))
    pathlib.Path(folder, "letters.ts").write_text("\n".join(letters(rng)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
