#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of vhem cluster and vhem-mpi over numbers of models, clusters and ranks.

    bench/scale.py [--build build-mpi] [--models 4,5,6] [--clusters 10,100] [--ranks 1,2] [--memory 64M,16G] [FOLDER]

Models have S = 3, M = 1, d = 2.  10^4 of them are drawn, and larger sets are copies of these in shards of 10^5; they are kept in
FOLDER (default: build/scale).  Every run is one start and 3 iterations, of which each is an E-step over all models, with one
more for the labels and two passes before them; the last two columns are the E-steps' share of it by the cost model, Kb x
Kr pairs at so many microseconds, and what a pair took.  Where ranks is not 0, vhem-mpi runs with so many ranks.  Every process
has one thread unless --threads says otherwise.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

ITERATIONS, E_STEPS = 3, 5


def draw(path, K, seed):
    rng = random.Random(seed)
    S, d = 3, 2

    def row():
        x = [rng.random() + 0.1 for _ in range(S)]
        return [v / sum(x) for v in x]

    hmms = []
    for i in range(K):
        at = 6 * (i % 10)
        hmms.append({"S": S, "M": 1, "pi": row(), "A": [row() for _ in range(S)], "c": [[1]] * S,
                     "mu": [[[at * (k == 0) + rng.gauss(0, 1) + 3 * s for k in range(d)]] for s in range(S)],
                     "cov": [[[rng.uniform(0.5, 2) for _ in range(d)]] for _ in range(S)]})
    path.write_text(json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d,
                                "omega": [1 / K] * K, "hmms": hmms}))


def make(vhem, folder, power):
    """A set of 10^power models."""
    one = folder / "4.h5"
    if not one.exists():
        draw(folder / "4.json", 10**4, 1)
        subprocess.run([vhem, "convert", folder / "4.json", "-o", one, "-q"], check=True)
    if power == 4:
        return one
    path = folder / str(power)
    if not path.exists():
        below = [make(vhem, folder, power - 1)] * 10
        subprocess.run([vhem, "convert", *below, "--shards", str(max(1, 10 ** (power - 5))), "-o", path, "-q"], check=True)
    return path


def measure(command, env):
    """Seconds by the clock, of processors, and the largest resident memory of a process in MB."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(list(map(str, command)), stdout=said, stderr=said, env=env)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        if status != 0:
            said.seek(0)
            raise SystemExit(f"{' '.join(map(str, command))}: {said.read().decode()}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--models", default="4,5", help="powers of 10")
    parser.add_argument("--clusters", default="10,100")
    parser.add_argument("--ranks", default="0", help="0: vhem itself")
    parser.add_argument("--memory", default="64M", help="a set that needs more stays on disk")
    parser.add_argument("--threads", default="1", help="of each process")
    parser.add_argument("--backend", help="default: what vhem takes by itself")
    parser.add_argument("--pair", type=float, default=0.35, help="microseconds of a pair in the cost model")
    parser.add_argument("folder", nargs="?", default="build/scale")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    build = pathlib.Path(args.build).resolve()
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    print("models\tclusters\tmemory\tranks\tseconds\tprocessor s\tMB\tmodel s\tus a pair")
    for power, K, memory, ranks in itertools.product(map(int, args.models.split(",")), map(int, args.clusters.split(",")),
                                                     args.memory.split(","), map(int, args.ranks.split(","))):
        models = make(build / "vhem", folder, power)
        start = [build / "vhem"] if ranks == 0 else [shutil.which("mpirun"), "--oversubscribe", "--bind-to", "none",
                                                    "-n", ranks, build / "vhem-mpi"]
        wall, cpu, mb = measure([*start, "cluster", models, "-k", K, "--memory", memory, "-r", 1, "--search", "restarts",
                                 "--soft", 0, "--init", "base", "--max-iter", ITERATIONS, "--tol", 0, "-t", args.threads,
                                 *(["--backend", args.backend] if args.backend else []), "-q", "-o", folder / "out.json"], env)
        pairs = E_STEPS * 10**power * K
        print(f"{10**power}\t{K}\t{memory}\t{ranks}\t{wall:.1f}\t{cpu:.1f}\t{mb:.0f}\t{pairs * args.pair * 1e-6:.1f}\t"
              f"{cpu / pairs * 1e6:.2f}", flush=True)


if __name__ == "__main__":
    main()
