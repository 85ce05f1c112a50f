#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes made-up data of five kinds, with the standard library alone: the tables of docs/tutorial-data.md.

    kinds_of_data.py FOLDER
"""
import math
import pathlib
import random
import sys


def chain(rng, A, T):
    """T states, beginning with one drawn evenly."""
    s = rng.randrange(len(A))
    for _ in range(T):
        yield s
        s = rng.choices(range(len(A)), A[s])[0]


def write(folder, name, header, rows):
    pathlib.Path(folder, name).write_text("\n".join([header, *rows]) + "\n")


def poisson(rng, mean):
    n, p, least = 0, rng.random(), math.exp(-mean)
    while p > least:
        n, p = n + 1, p * rng.random()
    return n


def tracks(rng):
    """Steps in km and turns: encamped, 0.1 km with reversals and no step at all in 5 % of the hours; exploring, 1 km,
    straight ahead.  Residents explore seldom."""
    for i in range(30):
        kind = "resident" if i % 2 else "migrant"
        A = [[0.95, 0.05], [0.4, 0.6]] if i % 2 else [[0.85, 0.15], [0.1, 0.9]]
        for s in chain(rng, A, 150):
            step = 0 if s == 0 and rng.random() < 0.05 else rng.gammavariate(1, [0.1, 1][s])
            turn = rng.vonmisesvariate([math.pi, 0][s], 1)
            yield f"elk{i},{kind},{step:.5f},{math.remainder(turn, 2 * math.pi):.4f}"


def spikes(rng):
    """Counts of two neurons in bins: quiet, and a burst in which one or the other fires more."""
    for i in range(30):
        rates = [[0.4, 0.4], [4, 0.8] if i % 2 else [0.8, 4]]
        for s in chain(rng, [[0.9, 0.1], [0.2, 0.8]], 80):
            yield f"trial{i},{'left' if i % 2 else 'right'}," + ",".join(str(poisson(rng, r)) for r in rates[s])


def courses(rng):
    """Twenty years of life, for those who study and those who work early; nobody goes back."""
    early = [{"school": 0.9, "jobless": 0.1}, {"work": 0.85, "jobless": 0.15}, {"work": 0.6, "home": 0.4}]
    long = [{"school": 1}, {"university": 0.85, "work": 0.15}, {"work": 0.9, "home": 0.1}]
    for i in range(60):
        s = 0
        for _ in range(20):
            p = (long if i % 2 else early)[s]
            yield f"person{i},{'long' if i % 2 else 'early'}," + rng.choices(list(p), list(p.values()))[0]
            s = min(2, s + (rng.random() > 0.75))


def gaze(rng):
    """Fixations on a face, a fifth of the samples lost; one tracker had no y in half of the trials of some people."""
    places = [[(0, 0), (4, 0)], [(2, -3), (2, 1)]]
    for i in range(24):
        for s in chain(rng, [[0.7, 0.3], [0.3, 0.7]], 60):
            x, y = (c + rng.gauss(0, 0.7) for c in places[i % 2][s])
            cell = ["" if rng.random() < 0.2 else f"{v:.3f}" for v in (x, y)]
            yield f"p{i},{'eyes' if i % 2 == 0 else 'nose'},{cell[0]},{'' if i % 6 == 5 else cell[1]}"


def ward(rng):
    """Blood pressure, ward, visits and drip, with gaps: the stable, and those who get worse."""
    for i in range(30):
        A = [[0.97, 0.03], [0.5, 0.5]] if i % 2 else [[0.8, 0.2], [0.1, 0.9]]
        for s in chain(rng, A, 60):
            systolic = rng.gauss([125, 95][s], 8)
            diastolic = 0.5 * systolic + rng.gauss(15, 4)
            cells = [f"{systolic:.0f}", f"{diastolic:.0f}", rng.choices(["normal", "icu"], [[9, 1], [3, 7]][s])[0],
                     str(poisson(rng, [1, 5][s])), str(int(rng.random() < [0.1, 0.8][s]))]
            yield f"patient{i},{'stable' if i % 2 else 'worse'}," + ",".join("" if rng.random() < 0.1 else c for c in cells)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    for name, columns, rows in (("tracks.csv", "step,turn", tracks), ("spikes.csv", "n1,n2", spikes),
                                ("courses.csv", "state", courses), ("gaze.csv", "x,y", gaze),
                                ("ward.csv", "sys,dia,ward,visits,drip", ward)):
        write(folder, name, f"id,label,{columns}", rows(random.Random(1)))


if __name__ == "__main__":
    main()
