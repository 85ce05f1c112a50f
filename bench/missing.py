#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do clusters stay where they are when values are missing?

    bench/missing.py [--only basic,mocap] [--seeds 1,2,3]

Motions of a smart watch (BasicMotions: 80 sequences, 6 columns, 4 classes) and of people (CMU motion capture: 56
sequences, 66 columns, 8 classes), from the folder VHEM_DATA.  A share of the cells is deleted at random, or a column
throughout in every second sequence; a line for each: the adjusted Rand index of the clusters with the classes, the mean
over the seeds, which also draw what is deleted, and the least.  The command is the variable VHEM, or build/vhem.
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "experiments"))
from arrays import read_npy, write_rows                                                          # noqa: E402

VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
DATA = pathlib.Path(os.environ.get("VHEM_DATA") or SOURCE / ".." / "shared" / "data").resolve()
SETS = {"basic": ("basic_motions/basic_motions.npy", [], 4, 3),
        "mocap": ("cmu_mocap/mocap_xyz_local.npy", ["--where", "in56=1", "--label", "cls"], 8, 4)}
SHARES = (0, 0.1, 0.3, 0.5)


def run(*args):
    done = subprocess.run([VHEM, *map(str, args), "--quiet"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in args else None


def rows_of(index):
    """First row and length of each sequence."""
    lines = index.read_text().splitlines()
    at = [lines[0].split(",").index(word) for word in ("start", "length")]
    return [tuple(int(line.split(",")[k]) for k in at) for line in lines[1:]]


def ari(name, seed, delete):
    """delete changes the numbers, which are rows of d."""
    path, options, classes, states = SETS[name]
    index = DATA / path.replace(".npy", "_index.csv").replace("_local", "")
    numbers, d = read_npy(DATA / path)
    y = array.array("f", numbers)
    delete(random.Random(seed), y, d, rows_of(index))
    with tempfile.TemporaryDirectory() as folder:
        data, models = pathlib.Path(folder, "y.npy"), pathlib.Path(folder, "m.h5")
        write_rows(data, y, d)
        shutil.copyfile(index, data.with_name("y_index.csv"))
        run("fit", data, *options, "--states", states, "--seed", seed, "-o", models)
        said = run("cluster", models, "-k", classes, "--seed", seed, "-o", data.with_name("c.json"), "--json")
        return said["agreement"]["adjusted_rand"]


def cells(share):
    def delete(rng, y, d, rows):
        for start, length in rows:
            for e in range(d * start, d * (start + length)):
                if rng.random() < share:
                    y[e] = math.nan
    return delete


def channel(rng, y, d, rows):
    k = rng.randrange(d)
    for start, length in rows[::2]:
        for t in range(start, start + length):
            y[d * t + k] = math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--seeds", default="1,2,3")
    args = parser.parse_args()
    seeds = [int(s) for s in args.seeds.split(",")]
    print(f"{'set':8} {'deleted':40} {'ARI':>6} {'least':>6}")
    for name in args.only.split(","):
        ways = [(f"{100 * share:.0f} % of the cells", cells(share)) for share in SHARES]
        for what, delete in [*ways, ("a column, in every second sequence", channel)]:
            found = [ari(name, seed, delete) for seed in seeds]
            print(f"{name:8} {what:40} {sum(found) / len(found):6.3f} {min(found):6.3f}", flush=True)


if __name__ == "__main__":
    main()
