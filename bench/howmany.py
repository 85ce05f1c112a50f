#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many clusters and states does variational Bayes find?  Sets drawn from known HMMs, well apart or overlapping.

    bench/howmany.py VHEM [--sets 50] [--apart 4] [--frames 150] [--first 0]

Each set has K = 2..6 kinds of HMMs with S = 2..4 states in the plane, whose means are at least `apart` standard
deviations from each other within an HMM, and 12 sequences of each kind.  Models are fitted with
--states 1..5 and clustered with --method vbhem -k 8 --states 5.  A line for each set, then the shares found.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np

EACH, D = 12, 2


def kind(rng, S, apart):
    """A random HMM: transition matrix, means, deviations."""
    while True:
        mean = rng.normal(0, 1.2 * apart, (S, D))
        away = np.linalg.norm(mean[:, None] - mean[None], axis=-1) + 1e9 * np.eye(S)
        if away.min() > apart:
            break
    stay = rng.uniform(0.7, 0.9, S)
    A = np.repeat((1 - stay)[:, None] / (S - 1), S, axis=1)
    A[np.arange(S), np.arange(S)] = stay
    return A, mean, rng.uniform(0.7, 1.3, (S, D))


def draw(rng, frames_wanted, A, mean, deviation):
    s, frames = int(rng.integers(len(A))), []
    for _ in range(frames_wanted):
        frames.append(mean[s] + deviation[s] * rng.normal(size=D))
        s = int(rng.choice(len(A), p=A[s]))
    return frames


def write_set(path, seed, K, S, apart, frames):
    rng = np.random.default_rng(seed)
    with open(path, "w") as f:
        f.write("seq,label,x,y\n")
        for j in range(K):
            hmm = kind(rng, S, apart)
            for i in range(EACH):
                for x, y in draw(rng, frames, *hmm):
                    f.write(f"{j}_{i},{j},{x:.6f},{y:.6f}\n")


def find(vhem, folder, seed):
    """K, the states of each centre, and the adjusted Rand index with the kinds."""
    run = lambda *args: subprocess.run([vhem, *args, "--threads", "1", "--seed", str(seed)], cwd=folder, check=True,
                                       capture_output=True, text=True)
    run("fit", "d.csv", "--states", "1..5", "-o", "m.json", "--quiet")
    facts = json.loads(run("cluster", "m.json", "--method", "vbhem", "-k", "8", "--states", "5", "-o", "c.json",
                           "--json").stdout)
    return facts["K"], [c["S"] for c in facts["clusters"]], facts["agreement"]["adjusted_rand"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vhem")
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--apart", type=float, default=4)
    parser.add_argument("--frames", type=int, default=150)
    given = parser.parse_args()
    right_K = right_S = right = 0
    with tempfile.TemporaryDirectory() as folder:
        for n in range(given.first, given.first + given.sets):
            rng = np.random.default_rng(1000 + n)
            K, S = int(rng.integers(2, 7)), int(rng.integers(2, 5))
            write_set(pathlib.Path(folder) / "d.csv", n, K, S, given.apart, given.frames)
            found, states, ari = find(str(pathlib.Path(given.vhem).resolve()), folder, n)
            right_K += found == K
            right_S += set(states) == {S}
            right += found == K and set(states) == {S}
            print(f"{n}\tK {K}\tS {S}\tfound {found}\t{states}\tARI {ari:.3f}", flush=True)
    print(f"K found in {right_K} of {given.sets}, S of all centres in {right_S}, both in {right}")


if __name__ == "__main__":
    main()
