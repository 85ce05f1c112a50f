#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Training models of classes and tags: times of VHEM over those of EM-H3M and the other estimators.

  python3 bench/classes.py BUILD characters [--trials 5]     20 characters, as in experiments/characters
  python3 bench/classes.py BUILD music                       97 tags of CAL500, with the features there are
  python3 bench/classes.py BUILD songs [--frames 2500]       the same tags, songs as long as songs are

BUILD is the folder with the command.  The data lies where VHEM_DATA says, ../shared/data beside the source when
unset.  Times are processor time of the whole command `train`, pieces included, without a store to go on from; the runs
that a ratio compares are made one after the other with the same --threads, and the median over the trials is given.
How good the models are is what experiments/ is about.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(SOURCE / "experiments"), str(SOURCE / "experiments" / "characters")]

import data as characters
import music_data
from common import words
from estimators import settings

DATA = pathlib.Path(os.environ.get("VHEM_DATA") or SOURCE.parent / "shared" / "data")


class Source:
    """The data, as experiments ask for it."""

    @staticmethod
    def data(path, hint):
        if not (DATA / path).exists():
            sys.exit(f"{DATA / path} is not there. {hint}")
        return DATA / path

    @staticmethod
    def check(what, found, expected):
        if found != expected:
            sys.exit(f"{what}: {found}, must be {expected}")


def music(folder):
    """dense.npy and sparse.npy: fragments of one second, with 80% overlap and without; tags.csv."""
    cut = {"length": 43, "hop": 9, "kept": 1, "derivatives": False}
    files = music_data.prepare(Source, "cal500", cut, folder)
    with open(folder / "tags.csv", "w", newline="") as f:
        csv.writer(f).writerows([["song", "tag"], *([s.name, tag] for s in files.songs for tag in s.tags)])
    return len(files.tags), len(files.songs)


class Runs:
    def __init__(self, build, folder, threads):
        self.vhem, self.folder, self.threads = str(pathlib.Path(build).resolve() / "vhem"), folder, threads

    def __call__(self, *args):
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.vhem, *map(str, args), "--quiet", "--threads", str(self.threads)],
                              cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})     # idle threads of it take time
        if done.returncode:
            sys.exit(f"vhem {' '.join(map(str, args))}: {done.stderr}")
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime, done.stdout


def run_characters(run, trials, estimators):
    """VHEM and the others in turn; both columns are medians over the trials of ratios of neighbouring runs."""
    config = json.loads((SOURCE / "experiments" / "characters" / "config.json").read_text())
    print("| estimator | Delta LL | time over VHEM | over EM-H3M |\n|---|---|---|---|")
    for tol in config["delta"]:
        seconds = {name: [] for name in estimators}
        for seed in range(1, trials + 1):
            for name in estimators:
                options = words(settings(config, name, tol=tol))
                seconds[name].append(run("classify", "train", "train.npy", "--label", "char", *options, "--seed", seed,
                                         "--no-store", "-o", "m.json")[0])
        for name in estimators:
            cells = [f"{statistics.median(a / b for a, b in zip(seconds[name], seconds[base])):.2f}"
                     if base in seconds else "" for base in ("vhem", "em-h3m")]
            print(f"| {name} | {tol} | " + " | ".join(cells) + " |", flush=True)


def lengthen(run, folder, frames):
    """Songs of so many frames drawn from HMMs fitted to the real ones, cut into fragments of 125 as the paper does:
    with 80% overlap, and of those without overlap 73%.  Fragments share the rows of one array."""
    import numpy as np
    run("fit", "dense.npy", "--group", "song", "--states", 4, "--mix", 2, "--restarts", 1, "-o", "songs.json")
    rng, rows, songs = np.random.default_rng(1), [], json.loads((folder / "songs.json").read_text())["hmms"]
    for h in songs:
        A, c, mu, cov = (np.array(h[key]) for key in ("A", "c", "mu", "cov"))
        path = [rng.choice(4, p=h["pi"])]
        for u in rng.random(frames - 1):
            path.append(min(int(np.searchsorted(np.cumsum(A[path[-1]]), u)), 3))
        part = (rng.random(frames) > c[path, 0]).astype(int)
        rows.append(rng.normal(mu[path, part], np.sqrt(cov[path, part])))
    for name, hop, share in (("dense", 25, 1), ("sparse", 125, 0.73)):
        np.save(folder / f"{name}.npy", np.concatenate(rows).astype("f4"))
        with open(folder / f"{name}_index.csv", "w", newline="") as f:
            out, n = csv.writer(f), 0
            out.writerow(["seq", "start", "length", "song"])
            for k, h in enumerate(songs):
                for at in range(0, frames - 124, hop):
                    n += 1
                    if int(n * share) > int((n - 1) * share):
                        out.writerow([f"s{n}", k * frames + at, 125, h["name"]])


def run_music(run, trials, estimators):
    """Estimator, data and HMMs to a song in turn; medians of ratios of neighbouring runs."""
    common = ["--group", "song", "--tags", "tags.csv", "--states", 4, "--mix", 2, "-k", 3, "--fit-restarts", 1,
              "--fit-tol", 1e-3, "--restarts", 1]
    tol = ["--tol", 1e-3]
    more = {"vhem": ["--nv", 1000, *tol], "hem-gmm": ["--nv", 1000, *tol], "ppk-sc": []}
    seconds = {e: [] for e in estimators}
    for seed in range(1, trials + 1):
        for name, data, Ks in estimators:
            options = [*common, *more.get(name, tol), "--mixture", Ks, "--estimator", name, "--seed", seed]
            seconds[name, data, Ks].append(
                run("annotate", "train", f"{data}.npy", *options, "--no-store", "-o", "m.json")[0])
    print("| estimator | fragments | HMMs to a song | seconds | over the first |\n|---|---|---|---|---|")
    for e in estimators:
        ratio = statistics.median(a / b for a, b in zip(seconds[e], seconds[estimators[0]]))
        print(f"| {e[0]} | {e[1]} | {e[2]} | {statistics.median(seconds[e]):.1f} | {ratio:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("which", choices=["characters", "music", "songs"])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--frames", type=int, default=2500, help="of a song")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--estimators", default="")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vhem-bench-") as folder:
        folder = pathlib.Path(folder) / a.which
        run = Runs(a.build, folder, a.threads)
        if a.which == "characters":
            folder.mkdir()
            characters.prepare(DATA / characters.ARRAY, folder)
            run_characters(run, a.trials, (a.estimators or "vhem,em-h3m,shem,ppk-sc").split(","))
        else:
            print("%d tags, %d songs" % music(folder))
            if a.which == "songs":
                lengthen(run, folder, a.frames)
            every = a.estimators or "vhem:dense:1,vhem:dense:3,em-h3m:sparse:1,em-h3m:dense:1"
            run_music(run, a.trials, [tuple(e.split(":")) for e in every.split(",")])


if __name__ == "__main__":
    main()
