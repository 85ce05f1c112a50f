#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""New inputs for every reader: scripts/fuzz, with the minutes divided among its targets.

    fuzz.py [--minutes N] [--vhem BIN]      BIN is not used: the targets are programs of their own (preset fuzz)
"""
import argparse
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--vhem")
    minutes = parser.parse_args().minutes
    subprocess.run([SOURCE / "scripts" / "build", "fuzz"], check=True, stdout=subprocess.DEVNULL)
    targets = len(list((SOURCE / "tests" / "fuzz" / "corpus").iterdir())) + 1
    jobs = os.cpu_count()
    seconds = max(1, int(60 * minutes * jobs / targets) - 1)
    return subprocess.run([SOURCE / "scripts" / "fuzz", "--seconds", str(seconds), "--jobs", str(jobs)]).returncode


sys.exit(main())
