#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of random problems, and of the same problems in another order, in other units, doubled and so on, for some minutes.

    relations.py [--minutes N] --vhem BIN [--first NUMBER] [--count N]      a failure prints the number of its problem
"""
import argparse
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import relations  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--vhem", required=True)
    parser.add_argument("--first", type=int, default=1000 * int(time.time()))   # other problems each time
    parser.add_argument("--count", type=int, default=10**9)
    args = parser.parse_args()
    end, number, looked, wrong = time.monotonic() + 60 * args.minutes, args.first, 0, 0
    with tempfile.TemporaryDirectory(prefix="vhem-relations-") as folder:
        run = relations.Runner(str(pathlib.Path(args.vhem).resolve()), folder)
        while number < args.first + args.count and time.monotonic() < end:
            faults, n = relations.check(run, number)
            for why in faults:
                print(why)
            looked, wrong, number = looked + n, wrong + len(faults), number + 1
    print(f"relations: {number - args.first} problems from {args.first} on, {looked} relations, {wrong} faults")
    return 1 if wrong else 0


sys.exit(main())
