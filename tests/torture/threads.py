#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Races: C tests and commands with 4 threads under ThreadSanitizer (preset tsan).

    threads.py [--minutes N] [--vhem BIN]

A deliberate race must be reported first, and the same sum without a race must not be: otherwise the OpenMP runtime does not
tell the sanitizer about its synchronisation, and a silent run proves nothing.  BIN is not used: it has no sanitizer.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build-tsan"
THREADS = "4"
ENVIRONMENT = {**os.environ, "ARCHER_OPTIONS": "verbose=1", "VHEM_TEST_THREADS": THREADS, "OPENBLAS_NUM_THREADS": "1",
               "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=66", "VHEM_TEST_COUNT": "40",
               "VHEM_SOURCE": str(SOURCE), "VHEM": str(BUILD / "vhem")}
COMMANDS = [
    "fit d.csv -S 2 -r 2 -o m.json",
    "fit d.csv -S 2 -r 2 -k 2 -o h3m.json",
    "fit d.csv -S 2 --model dtm -o dtm.json",
    "cluster m.json -k 3 -o c.json",
    "fit d.csv --states 1..3 -r 2 -o auto.json",
    "cluster m.json -k 3 --method vbhem -o v.json",
    "cluster auto.json -k 4 --method vbhem --init far -r 8 -o w.json",
    "cluster m.json -k 3 --method ppk-sc -o p.json",
    "cluster m.json -k 3 --method kl-sampled-sc -o s.json",
    "cluster d.csv -k 2 --method em-h3m -S 2 -o e.json",
    "cluster dtm.json -k 2 -o t.json",
    "tree m.json -k 4,2 -o tree.json",
    "assign c.json m.json",
    "score m.json d.csv",
    "compare m.json --kind ppk",
    "classify train d.csv --label label -S 2 -r 2 --store store.jsonl -o k.json",
    "classify predict k.json d.csv",
    "choose m.json -k 2,3",
]


def run(command, folder):
    """(reports of races, failed to run, output)"""
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    return done.stdout.count("WARNING: ThreadSanitizer"), done.returncode, done.stdout


def check_tool():
    racing, _, text = run([BUILD / "tests" / "torture_race", "race"], SOURCE)
    quiet, _, _ = run([BUILD / "tests" / "torture_race"], SOURCE)
    if not racing or quiet or "Archer detected" not in text:
        sys.exit("threads: FAILED, a deliberate race is not told from none: is libarcher installed (libomp5-14)?")


def sequences(path):
    rows = [f"s{n},{'uv'[n % 2]},{(n * 7 + t * t) % 11 / 3 + 4 * (n % 2)},{(n + 3 * t) % 5}"
            for n in range(12) for t in range(12)]
    path.write_text("id,label,x,y\n" + "\n".join(rows) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--vhem")
    end = time.monotonic() + 60 * parser.parse_args().minutes
    subprocess.run([SOURCE / "scripts" / "build", "tsan"], check=True, stdout=subprocess.DEVNULL)
    check_tool()
    # ThreadSanitizer cannot follow a fork() of a process with threads, which is what unit_team is about.
    programs = sorted(p for label in ("unit", "agree", "property") for p in (BUILD / "tests").glob(f"{label}_*")
                      if os.access(p, os.X_OK) and p.is_file() and p.name != "unit_team")
    ran, races, failed = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        sequences(pathlib.Path(folder, "d.csv"))
        work = [([BUILD / "vhem", *c.split(), "-t", THREADS, "-q"], folder) for c in COMMANDS]
        for command, where in work + [([p], SOURCE) for p in programs]:
            if time.monotonic() > end:
                break
            found, status, text = run(command, where)
            ran += 1
            races += found
            if found or status:
                failed.append(" ".join(map(str, command)))
                print(f"{failed[-1]}: status {status}, {found} races\n{text[-3000:]}", flush=True)
    print(f"threads: {ran} of {len(work) + len(programs)} programs and commands with {THREADS} threads, {races} races, "
          f"{len(failed)} failures")
    return 1 if failed else 0


sys.exit(main())
