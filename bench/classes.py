#!/usr/bin/env python3
"""Models of classes and tags, VHEM beside EM-H3M and the other estimators: Tables 5 and 4 of the paper.

  python3 bench/classes.py BUILD characters [--trials 5]     20 characters, half of the data held out
  python3 bench/classes.py BUILD music [--folds 5]           97 tags of CAL500, with the features there are

BUILD is the folder with the command.  The data lies where VHEM_DATA says, ../shared/data beside the source when
unset.  Times are processor time of the whole command `train`, pieces included, without a store to go on from; the runs
that a ratio compares are made one after the other with the same --threads, and the median over the trials is given.
"""
import argparse
import array
import csv
import json
import os
import pathlib
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("VHEM_DATA") or SOURCE.parent / "shared" / "data")


def read_npy(path):
    """The numbers of a 2-D float32 array of format version 1, as rows of d."""
    raw = path.read_bytes()
    size = struct.unpack("<H", raw[8:10])[0]
    head = raw[10:10 + size].decode()
    d = int(head.split("(")[1].split(")")[0].split(",")[1])
    assert "'<f4'" in head, head
    y = array.array("f")
    y.frombytes(raw[10 + size:])
    return y, d


def write_npy(path, rows, d, sequences):
    """sequences: (first row, rows, {column: text}); the index stands beside the array."""
    y, at = array.array("d"), 0
    with open(path.with_name(path.stem + "_index.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["seq", "start", "length", *sequences[0][2]])
        for n, (first, length, labels) in enumerate(sequences):
            out.writerow([f"s{n}", at, length, *labels.values()])
            y.extend(rows[d * first:d * (first + length)].tolist())
            at += length
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({at}, {d}), }}".ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + y.tobytes())


def characters(folder):
    """train.npy and test.npy, without the zeros around each trajectory."""
    source = DATA / "character_trajectories"
    rows, d = read_npy(source / "characters.npy")
    parts = {"train": [], "test": []}
    with open(source / "characters_index.csv") as f:
        for r in csv.DictReader(f):
            first = int(r["start"]) + int(r["nz_first"])
            parts[r["split"]].append((first, int(r["nz_length"]), {"char": r["char"]}))
    for name, sequences in parts.items():
        write_npy(folder / f"{name}.npy", rows, d, sequences)


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
                              cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"vhem {' '.join(map(str, args))}: {done.stderr}")
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime, done.stdout


def row(name, tol, results, keys, base=None):
    seconds = statistics.median(r["seconds"] for r in results)
    cells = [f"{statistics.mean(r[k] for r in results):.3f}" for k in keys]
    ratio = f"{seconds / base:6.2f}" if base else ""
    print(f"| {name} | {tol} | " + " | ".join(cells) + f" | {seconds:.2f} | {ratio} |", flush=True)
    return seconds


def run_characters(run, trials, estimators):
    common = ["--label", "char", "--states", 4, "--chunk", 3, "--fit-restarts", 1, "--fit-tol", 1e-3, "--restarts", 1,
              "--no-store"]
    more = {"vhem": ["--nv", 10], "shem": ["--nv", 43]}
    print("| estimator | Delta LL | P@3 | P@5 | accuracy | seconds | over VHEM |\n|---|---|---|---|---|---|---|")
    base = {}
    for name in estimators:
        tols = ["1e-2", "1e-3", "1e-4", "1e-5"] if name in ("vhem", "shem", "em-h3m") else ["1e-5"]
        for tol in tols:
            results = []
            for seed in range(1, trials + 1):
                seconds, _ = run("classify", "train", "train.npy", *common, *more.get(name, []), "--estimator", name,
                                 "--tol", tol, "--seed", seed, "-o", "m.json")
                _, text = run("classify", "eval", "m.json", "test.npy", "--label", "char", "--json")
                results.append({**json.loads(text)["summary"], "seconds": seconds})
            seconds = row(name, tol if len(tols) > 1 else "-", results, ["P@3", "P@5", "accuracy"], base.get(tol))
            base.setdefault(tol, seconds)


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
            characters(folder)
            names = a.estimators or "vhem,em-h3m,shem,ppk-sc,ppk-sc-hybrid,hem-gmm"
            run_characters(run, a.trials, names.split(","))
        else:
            print("%d tags, %d songs" % music(folder))
            every = "vhem:dense,em-h3m:dense,em-h3m:sparse,ppk-sc:dense,ppk-sc-hybrid:dense,hem-gmm:dense"
            run_music(run, a.folds, [n.split(":") for n in (a.estimators or every).split(",")])


if __name__ == "__main__":
    main()
