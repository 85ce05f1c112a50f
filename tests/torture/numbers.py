#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Models with extreme numbers through every step on every backend: tests/agree/test_extremes.c for some minutes.

    numbers.py [--minutes N] [--vhem BIN]      BIN tells where the tests were built: BIN/../tests
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--vhem", required=True)
    args = parser.parse_args()
    program = pathlib.Path(args.vhem).resolve().parent / "tests" / "agree_extremes"
    if not program.exists():
        print(f"numbers: {program} is not there; build the tests first: scripts/build test")
        return 1
    first = int(time.time()) * 1000         # other problems each time; a failure prints the number of its problem
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
        **os.environ, "VHEM_TEST_FIRST": str(first), "VHEM_TEST_COUNT": str(10**9),
        "VHEM_TEST_SECONDS": str(max(1, int(60 * args.minutes)))})
    summary = [line for line in done.stdout.splitlines() if line.startswith("extremes: ")]
    if done.returncode or not summary:
        print(done.stdout[-4000:])
    print(f"numbers: {summary[0][10:] if summary else 'FAILED'}, from problem {first}")
    return 1 if done.returncode or not summary else 0


sys.exit(main())
