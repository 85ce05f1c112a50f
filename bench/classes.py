#!/usr/bin/env python3
"""Training models of classes and tags: times of VHEM over those of EM-H3M and the other estimators.

  python3 bench/classes.py BUILD characters [--trials 5]     20 characters, as in experiments/characters
  python3 bench/classes.py BUILD music [--folds 5]           97 tags of CAL500, with the features there are

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
from arrays import read_npy, write_npy
from estimators import settings, words

DATA = pathlib.Path(os.environ.get("VHEM_DATA") or SOURCE.parent / "shared" / "data")


def music(folder, length=43, hop=9):
    """dense.npy and sparse.npy: fragments of one second, with 80% overlap and without; tags.csv."""
    source = DATA / "cal500"
    rows, d = read_npy(source / "cal500_specmfcc.npy")
    fragments = {"dense": (hop, []), "sparse": (length, [])}
    songs = {}
    with open(source / "cal500_specmfcc_index.csv") as f:
        for r in csv.DictReader(f):
            songs[int(r["song"])] = r["name"]
            for step, found in fragments.values():
                for at in range(0, int(r["length"]) - length + 1, step):
                    found.append((int(r["start"]) + at, length, {"song": r["name"]}))
    for name, (_, sequences) in fragments.items():
        write_npy(folder / f"{name}.npy", rows, d, sequences)
    vocabulary = (source / "vocab.txt").read_text().split("\n")
    vocabulary = [word.strip().strip(",") for word in vocabulary if word.strip()]
    kept = [k for k, word in enumerate(vocabulary)
            if not word.endswith("-Solo") and not word.endswith("_Solo") and "Genre-Best" not in word]
    has = [line.split(",") for line in (source / "hardAnnotations.txt").read_text().split("\n") if line.strip()]
    counts = {k: sum(float(row[k]) > 0 for row in has) for k in kept}
    kept = [k for k in kept if counts[k] >= 30]
    with open(folder / "tags.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["song", *(vocabulary[k] for k in kept)])
        for song, name in songs.items():
            out.writerow([name, *(int(float(has[song][k]) > 0) for k in kept)])
    return len(kept), len(songs)


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


def run_music(run, folds, estimators):
    common = ["--group", "song", "--tags", "tags.csv", "--states", 4, "--mix", 2, "-k", 3, "--fit-restarts", 1,
              "--fit-tol", 1e-3, "--restarts", 1, "--tol", 1e-3]
    more = {"vhem": ["--nv", 1000], "hem-gmm": ["--nv", 1000]}
    print("| estimator | P | R | F | MAP | P@5 | P@10 | P@15 | seconds | over VHEM |\n" + "|---" * 10 + "|")
    base = None
    for name, data in estimators:
        seconds, _ = run("annotate", "train", f"{data}.npy", *common, *more.get(name, []), "--estimator", name,
                         "--no-store", "-o", "m.json")
        _, text = run("annotate", "cross", f"{data}.npy", *common, *more.get(name, []), "--estimator", name, "--folds",
                      folds, "--json")
        base = base or seconds
        s = json.loads(text)["summary"]
        cells = [f"{s[k]:.3f}" for k in ("precision", "recall", "F", "MAP", "P@5", "P@10", "P@15")]
        print(f"| {name} ({data}) | " + " | ".join(cells) + f" | {seconds:.2f} | {seconds / base:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("which", choices=["characters", "music"])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--estimators", default="")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vhem-bench-") as folder:
        folder = pathlib.Path(folder)
        run = Runs(a.build, folder, a.threads)
        if a.which == "characters":
            characters.prepare(DATA / characters.ARRAY, folder)
            run_characters(run, a.trials, (a.estimators or "vhem,em-h3m,shem,ppk-sc").split(","))
        else:
            print("%d tags, %d songs" % music(folder))
            every = "vhem:dense,em-h3m:dense,em-h3m:sparse,ppk-sc:dense,ppk-sc-hybrid:dense,hem-gmm:dense"
            run_music(run, a.folds, [n.split(":") for n in (a.estimators or every).split(",")])


if __name__ == "__main__":
    main()
