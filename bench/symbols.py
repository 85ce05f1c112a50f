#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What do many symbols cost?

    bench/symbols.py [--symbols 10,100,1000] [--frames 400] [--sequences 100]

Sequences of symbols, all of which occur; each sequence has some 30 of its own and now and then any other.  A line for each
number V of symbols: seconds of processor time of 30 iterations of Baum-Welch with 4 states (one fit for each sequence and
one of all together), of scores, and of 30 iterations of VHEM, with what the dense products of Baum-Welch alone would take,
4 V operations a frame and state, at the rate of 1e10 a second.  The command is the variable VHEM, or build/vhem.
"""
import argparse
import os
import pathlib
import random
import resource
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
STATES, ITERATIONS, RATE = 4, 30, 1e10


def seconds(*args):
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([VHEM, *map(str, args), "--quiet", "--threads", "1"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(path, V, sequences, frames):
    rng = random.Random(1)
    lines, state = ["id,all,symbol"], 0
    for i in range(sequences):
        own = [rng.randrange(V) for _ in range(30)]
        for t in range(frames):
            state = 1 - state if rng.random() < 0.1 else state
            any_other = (i * frames + t) % 7 == 0
            v = (i * frames + t) // 7 % V if any_other else own[15 * state + rng.randrange(15)]
            lines.append(f"q{i},1,{v}")
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", default="10,100,1000")
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--sequences", type=int, default=100)
    args = parser.parse_args()
    N, T = args.sequences, args.frames
    fit = ["--columns", "symbol", "--emission", "categorical", "--states", STATES, "--prior", "none", "--restarts", 1, "--tol", 0,
           "--max-iter", ITERATIONS]
    print(f"{'V':>6} {'fit each':>9} {'fit all':>9} {'dense':>9} {'score':>9} {'vhem':>9}   seconds")
    for V in map(int, args.symbols.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            data, models, one = (pathlib.Path(folder, name) for name in ("d.csv", "m.h5", "one.h5"))
            write(data, V, N, T)
            each = seconds("fit", data, *fit, "-o", models)
            whole = seconds("fit", data, "--group", "all", *fit, "-o", one)
            score = seconds("score", one, data)
            vhem = seconds("cluster", models, "-k", 4, "--preset", "paper", "--restarts", 1, "--tol", 0, "--max-iter",
                           ITERATIONS, "-o", data.with_name("c.json"))
            dense = 4.0 * V * STATES * N * T * ITERATIONS / RATE
            print(f"{V:6d} {each:9.2f} {whole:9.2f} {dense:9.2f} {score:9.2f} {vhem:9.2f}", flush=True)


if __name__ == "__main__":
    main()
