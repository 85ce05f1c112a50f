#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user gets with nothing but -k said, or nothing at all: sequences with known classes, and what else could be used.

    bench/defaults.py --prepare FOLDER            writes the sets, about 90 MB, from the folder VHEM_DATA
    bench/defaults.py --sets FOLDER --jobs 2      the table of all sets
    bench/defaults.py --sets FOLDER --only basic,trace --methods auto,vhem --seeds 1 --out all.jsonl
    bench/defaults.py --read all.jsonl            the table once more

Needs the command (the variable VHEM, or build/vhem), Python and NumPy; for k-means scikit-learn; for catch22 pycatch22.

    auto        vhem cluster DATA -k K
    how-many    vhem cluster DATA: the number of groups is found, too
    vhem        vhem cluster DATA -k K --method vhem: one model for each sequence, and their clusters by VHEM
    em-h3m      vhem cluster DATA -k K --method em-h3m: a mixture of HMMs
    dtw         time warping and a graph of neighbours by mutual ranks: one of the graphs of auto, by itself
    resampled   k-means of every column resampled to 20 frames and standardised
    catch22     k-means of 22 features of each column

Means are over families of sets: six speakers of digits count as one, so do two cuts of characters.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
METHODS = ("auto", "how-many", "vhem", "em-h3m", "resampled", "catch22")
SPEAKERS = ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
SETS = ("basic", "mocap", "chars", "chars2", "speakers", "digits-all", *(f"digits-{name}" for name in SPEAKERS),
        "animals", "eog", "gait", "handwriting", "harmony", "languages", "myo_emg", "pedestrians", "plaid", "proteins",
        "sign_imu", "spikes", "splice", "stork", "syscalls", "trace", "traffic", "uwave", "watch")
SYMBOLS = {"harmony", "languages", "proteins", "splice", "syscalls"}
COUNTS = {"spikes"}


# ---- the sets --------------------------------------------------------------------------------------------------------

def index_of_path(path):
    """The index beside an array."""
    return path.with_name(path.stem + "_index.csv")


def index_of(path):
    """Its rows."""
    with open(index_of_path(path), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(folder, name, parts):
    """parts: (frames, class) of each sequence."""
    np.save(folder / f"{name}.npy", np.concatenate([y for y, _ in parts]).astype("<f4"))
    with open(folder / f"{name}_index.csv", "w", newline="", encoding="utf-8") as f:
        out, at = csv.writer(f), 0
        out.writerow(["seq", "start", "length", "label"])
        for n, (y, label) in enumerate(parts):
            out.writerow([f"s{n}", at, len(y), label])
            at += len(y)


def take(frames, row, first=0, length=None):
    """The frames of one sequence."""
    start = int(row["start"]) + first
    return frames[start:start + (int(row["length"]) if length is None else length)]


def fill_gaps(y):
    """A marker out of sight is written 0 0 0; straight lines take its place."""
    y = y.astype(float)
    for k in range(0, y.shape[1], 3):
        gone = ~y[:, k:k + 3].any(axis=1)
        if gone.any() and not gone.all():
            at = np.arange(len(y))
            for c in range(k, k + 3):
                y[gone, c] = np.interp(at[gone], at[~gone], y[~gone, c])
    return y


def first_of_each(rows, label, first, count):
    """count rows of each class, from number first on."""
    seen, kept = {}, []
    for row in rows:
        n = seen[row[label]] = seen.get(row[label], -1) + 1
        if first <= n < first + count:
            kept.append(row)
    return kept


def prepare(data, folder):
    """All sets as arrays with an index."""
    for path in sorted((data / "classed").glob("*.npy")):
        for one in (path, index_of_path(path)):
            (folder / one.name).write_bytes(one.read_bytes())
    path = data / "cmu_mocap" / "mocap_xyz_local.npy"
    y = np.load(path)
    rows = [r for r in index_of(path.with_name("mocap_xyz.npy")) if r["in56"] == "1"]
    write(folder, "mocap", [(take(y, r), r["cls"]) for r in rows])
    rows = index_of(path.with_name("mocap_xyz.npy"))
    write(folder, "mocap86", [(take(y, r), r["cls"]) for r in rows])
    y = np.load(path.with_name("mocap_xyz.npy"))
    write(folder, "mocap-velocities", [(np.diff(take(y, r)[::2], axis=0), r["cls"]) for r in rows])
    path = data / "basic_motions" / "basic_motions.npy"
    y = np.load(path)
    write(folder, "basic", [(take(y, r), r["label"]) for r in index_of(path)])
    path = data / "vicon_physical_action" / "vicon.npz"
    y = np.load(path)["X"]
    write(folder, "vicon", [(np.diff(fill_gaps(take(y, r))[::4], axis=0), r["activity"]) for r in index_of(path)])
    path = data / "fsdd" / "fsdd_mfcc.npy"
    y = np.load(path)
    for name in SPEAKERS:
        write(folder, f"digits-{name}", [(take(y, r), r["digit"]) for r in index_of(path) if r["speaker"] == name])
    write(folder, "digits-all", [(take(y, r), r["digit"]) for r in index_of(path) if int(r["take"]) < 10])
    write(folder, "speakers", [(take(y, r), r["speaker"]) for r in index_of(path) if 20 <= int(r["take"]) < 30])
    path = data / "character_trajectories" / "characters.npy"
    y = np.load(path)
    for name, first in (("chars", 0), ("chars2", 20), ("chars3", 40), ("chars4", 70)):
        write(folder, name, [(take(y, r, int(r["nz_first"]), int(r["nz_length"])), r["char"])
                             for r in first_of_each(index_of(path), "char", first, 20)])
    path = data / "gtzan_mfcc" / "gtzan_mfcc_x100.npy"
    y = np.load(path)
    for name, first in (("gtzan", 0), ("gtzan2", 15), ("gtzan3", 32)):
        write(folder, name, [(take(y, r) / 100, r["genre"]) for r in first_of_each(index_of(path), "genre", first, 15)])


# ---- one answer ------------------------------------------------------------------------------------------------------

def adjusted_rand(a, b):
    """Hubert and Arabie's index."""
    a, b = (np.unique(x, return_inverse=True)[1] for x in (a, b))
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda x: float((x * (x - 1) / 2).sum())
    both, rows, columns, n = pairs(table), pairs(table.sum(1)), pairs(table.sum(0)), len(a)
    expected = rows * columns / (n * (n - 1) / 2)
    top = (rows + columns) / 2
    return 1.0 if top == expected else (both - expected) / (top - expected)


def run(*args):
    """The command; returns the seconds of processor time it took."""
    child = subprocess.Popen([VHEM, *map(str, args), "--quiet", "--force", "--threads", "1"])
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"vhem {' '.join(map(str, args))}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime


def family_of(name):
    """Sets that are cuts of the same data count as one."""
    return "digits" if name in {f"digits-{s}" for s in SPEAKERS} else "chars" if name.startswith("chars") else name


def emission_of(name):
    """The option that a user of this kind of data would give."""
    return ("--emission", "categorical") if name in SYMBOLS else ("--emission", "poisson") if name in COUNTS else ()


def by_command(path, method, K, seed, truth):
    """Rows of one run of the command."""
    options = {"auto": ("-k", K), "how-many": (), "vhem": ("-k", K, "--method", "vhem"),
               "em-h3m": ("-k", K, "--method", "em-h3m")}[method]
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "clusters.json"
        seconds = run("cluster", path, *options, *emission_of(path.stem), "--seed", seed, "-o", out)
        found = json.loads(out.read_text())
    labels = found["labels"]
    back = float(np.mean(np.argmax(found["z"], axis=1) == np.array(labels))) if "z" in found else None
    graphs = [{**{k: g[k] for k in ("graph", "modularity", "stability")}, "kept": g.get("kept", False),
               "ari": adjusted_rand(truth, g.get("labels", labels))} for g in found.get("graphs", [])]
    yield {"method": method, "ari": adjusted_rand(truth, labels), "found": len(found["centers"]["hmms"]), "seconds": seconds,
           "put_back": back, "graphs": graphs}
    for g in graphs if method == "auto" else []:
        if g["graph"] == "elastic distance":
            yield {"method": "dtw", "ari": g["ari"]}


def by_kmeans(path, method, K, seed, truth):
    """Rows of k-means of features of every sequence."""
    from sklearn.cluster import KMeans
    y, rows = np.load(path).astype(float), index_of(path)
    y = np.where(np.isnan(y), np.nanmean(y, 0), y)
    y = (y - y.mean(0)) / np.where(y.std(0) > 0, y.std(0), 1)
    each = [take(y, r) for r in rows]
    if method == "resampled":
        feature = lambda c: np.interp(np.linspace(0, len(c) - 1, 20), np.arange(len(c)), c)
    else:
        import pycatch22
        feature = lambda c: pycatch22.catch22_all(list(c), catch24=True)["values"]
    x = np.nan_to_num(np.array([np.hstack([feature(c) for c in s.T]) for s in each]))
    x = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    yield {"method": method, "ari": adjusted_rand(truth, KMeans(K, n_init=20, random_state=seed).fit_predict(x))}


def job(task):
    """One set, one method, one seed: a list of rows."""
    folder, name, method, seed = task
    path = folder / f"{name}.npy"
    truth = [r["label"] for r in index_of(path)]
    numbers = method in ("resampled", "catch22")
    if numbers and name in SYMBOLS:
        return []
    try:
        rows = list((by_kmeans if numbers else by_command)(path, method, len(set(truth)), seed, truth))
    except ImportError:
        return []
    return [{"set": name, "seed": seed, "K": len(set(truth)), **row} for row in rows]


# ---- all of them -----------------------------------------------------------------------------------------------------

def show(results):
    """A row for each set, and the means over families with standard errors of the differences from auto."""
    table = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in results:
        table[r["set"]][r["method"]].append(r)
    methods = [m for m in ("auto", "how-many", "vhem", "em-h3m", "dtw", "resampled", "catch22")
               if any(m in row for row in table.values())]
    mean = lambda rows, key="ari": float(np.mean([r[key] for r in rows]))
    print("| set | K | " + " | ".join(methods) + " | graph | put back | K found |\n|" + "---|" * (len(methods) + 5))
    for name in (s for s in SETS if s in table):
        row = table[name]
        cells = [f"{mean(row[m]):.2f}" if m in row else "-" for m in methods]
        first = row["auto"][0] if "auto" in row else None
        kept = next((g["graph"] for g in first["graphs"] if g["kept"]), "-") if first else "-"
        back = f"{mean(row['auto'], 'put_back'):.2f}" if first else "-"
        some = " ".join(str(r["found"]) for r in row.get("how-many", []))
        K = next(iter(row.values()))[0]["K"]
        print(f"| {name} | {K} | {' | '.join(cells)} | {kept} | {back} | {some or '-'} |")
    family = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, row in table.items():
        for m in methods:
            if m in row:
                family[family_of(name)][m].append(mean(row[m]))
    for m in methods:
        have = {f: np.mean(v[m]) for f, v in family.items() if m in v}
        apart = np.array([np.mean(family[f]["auto"]) - x for f, x in have.items() if "auto" in family[f]])
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0
        print(f"{m:10} {np.mean(list(have.values())):.3f} over {len(have)} families; auto is "
              f"{apart.mean() if len(apart) else 0:+.3f} apart (standard error {error:.3f})")
    show_numbers(table)


def show_numbers(table):
    """How often the number of groups is right, over families; and how long it takes."""
    near = collections.defaultdict(list)
    for name, row in table.items():
        for r in row.get("how-many", []):
            near[family_of(name)].append((abs(r["found"] - r["K"]) <= max(1, r["K"] / 4),
                                          max(r["found"] / r["K"], r["K"] / r["found"]) <= 2))
    if near:
        quarter, double = np.mean([np.mean(v, axis=0) for v in near.values()], axis=0)
        print(f"number of groups: within a quarter or one on {quarter:.2f} of the families, within a factor of two on {double:.2f}")
    ratio = [np.mean([r["seconds"] for r in row["auto"]]) / np.mean([r["seconds"] for r in row["vhem"]])
             for row in table.values() if "auto" in row and "vhem" in row]
    if ratio:
        print(f"time of auto over that of vhem: median {np.median(ratio):.1f}, largest {max(ratio):.1f}")


def main():
    """Parses the command line and runs the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", type=pathlib.Path, metavar="FOLDER", help="write the sets there and end")
    parser.add_argument("--sets", type=pathlib.Path, default=pathlib.Path("sets"), help="folder of prepared sets")
    parser.add_argument("--only", default=",".join(SETS), help="some of the sets, by name")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="side by side")
    parser.add_argument("--out", type=pathlib.Path, help="file for all results, a line of JSON each")
    parser.add_argument("--read", type=pathlib.Path, help="results of an earlier run: show them and end")
    args = parser.parse_args()
    if args.prepare:
        args.prepare.mkdir(parents=True, exist_ok=True)
        return prepare(pathlib.Path(os.environ["VHEM_DATA"]), args.prepare)
    if args.read:
        return show([json.loads(line) for line in args.read.read_text().splitlines()])
    tasks = [(args.sets, s, m, seed) for m in args.methods.split(",") for s in args.only.split(",")
             for seed in map(int, args.seeds.split(","))]
    results = []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for n, rows in enumerate(pool.map(job, tasks)):
            results += rows
            print(f"\r{n + 1} of {len(tasks)}", end="", file=sys.stderr)
            if args.out:
                args.out.write_text("".join(json.dumps(r) + "\n" for r in results))
    print(file=sys.stderr)
    return show(results)


if __name__ == "__main__":
    main()
