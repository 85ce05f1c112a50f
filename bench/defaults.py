#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user gets with nothing but -k said: sets with known classes, fitted and clustered with given options.

    bench/defaults.py --prepare FOLDER            writes the sets, about 65 MB, from the folder VHEM_DATA
    bench/defaults.py --sets FOLDER --out all.json --jobs 16
    bench/defaults.py --sets FOLDER --only basic,mocap --seeds 1,2 --variants default,restarts

Needs the command (the variable VHEM, or build/vhem), Python and NumPy.  Every seed fits its own models.  A variant is a
name of VARIANTS below, or NAME=FIT OPTIONS/CLUSTER OPTIONS, as "floor=--cov-floor 0.01/--search fast".

Rules by which one of the candidates could be kept, written down before any of them was tried:
    kept        what the command does: the largest modularity among those whose bound is near the best
    bound       the best bound
    modularity  the largest modularity in the graph of 5 nearest neighbours
    agreement   the one that agrees best with all others, by the mean adjusted Rand index
The labels choose nothing: "oracle" is the best candidate by the labels, what no rule can exceed.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
RULES = ("kept", "bound", "modularity", "agreement", "oracle")
SPEAKERS = ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
CLUSTERS = {"mocap": 8, "basic": 4, "vicon": 20, "chars": 20, "chars2": 20, "gtzan": 10,
            **{f"digits-{name}": 10 for name in SPEAKERS},
            # sets that were only looked at once the rules and candidates were written down
            "chars3": 20, "chars4": 20, "gtzan2": 10, "gtzan3": 10, "mocap86": 8, "mocap-velocities": 8, "digits-all": 10,
            "speakers": 6}
VARIANTS = {                             # name: options of fit, options of cluster
    "default": ("", ""),
    "restarts": ("", "--search restarts"),
    "fast": ("", "--search fast"),
    "thorough": ("", "--search thorough"),
    "tau30": ("", "--tau 30"),
    "tau-auto": ("", "--tau auto"),
    "ml": ("--prior none", ""),
    "ml-restarts": ("--prior none", "--search restarts"),
    "ml-tau30": ("--prior none", "--tau 30"),
    "vb": ("--prior vb", ""),
    "vb-tau30": ("--prior vb", "--tau 30"),
    # candidates for the prior of fit, written down before they were compared
    "vb-nu1": ("--prior vb:nu0=1", ""),
    "vb-effective": ("--prior vb:frames=effective", ""),
    "vb-nu1-effective": ("--prior vb:nu0=1,frames=effective", ""),
    "vb-ml": ("--prior vb:start=ml", ""),
    "vb-nu1-ml": ("--prior vb:nu0=1,start=ml", ""),
    "eb": ("--prior eb", ""),
    "eb-ml": ("--prior eb:start=ml", ""),
    "vb-full": ("--prior vb --cov full", ""),
    "ml-full": ("--prior none --cov full", ""),
    "ppk-sc": ("", "--method ppk-sc --kernel scaled"),
    "kl-sc": ("", "--method kl-sc"),
    "knn-sc": ("", "--method knn-sc"),
}


# ---- the sets --------------------------------------------------------------------------------------------------------

def index_of(path):
    """The rows of the index beside an array."""
    with open(path.with_name(path.stem + "_index.csv"), encoding="utf-8") as f:
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
    folder.mkdir(parents=True, exist_ok=True)
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


# ---- one fit, and the clusters of its models -------------------------------------------------------------------------

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
    child = subprocess.Popen([VHEM, *map(str, args), "--quiet", "--threads", "1"])
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"vhem {' '.join(map(str, args))}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime


def candidates_of(found, truth, scale):
    """The candidates of a file of clusters: bounds in nats per frame and model, modularity, partition."""
    kept = {"init": "kept", "bound": found["bound"][-1] / scale if found.get("bound") else None, "modularity": None,
            "labels": found["labels"], "ari": adjusted_rand(truth, found["labels"])}
    all_of_them = [kept]
    for r in found.get("restarts", []):
        if "labels" in r:
            all_of_them.append({"init": r["init"], "bound": r["bound"] / scale, "modularity": r.get("modularity"),
                                "labels": r["labels"], "ari": adjusted_rand(truth, r["labels"])})
        elif kept["bound"] is not None and r["bound"] / scale == kept["bound"]:
            kept["init"], kept["modularity"] = r["init"], r.get("modularity")
    return all_of_them


def choose(all_of_them):
    """The candidate that each rule keeps."""
    judged = [c for c in all_of_them if c["modularity"] is not None]
    kept = all_of_them[0]
    agree = lambda c: np.mean([adjusted_rand(c["labels"], o["labels"]) for o in all_of_them if o is not c] or [1])
    return {"kept": kept, "bound": max(all_of_them, key=lambda c: c["bound"]),
            "modularity": max(judged, key=lambda c: c["modularity"]) if judged else kept,
            "agreement": max(all_of_them, key=agree), "oracle": max(all_of_them, key=lambda c: c["ari"])}


def job(task):
    """One set, one seed, one way to fit; all ways to cluster.  A list of results."""
    folder, name, seed, fit, ways = task
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        models, clusters = pathlib.Path(scratch) / "models.json", pathlib.Path(scratch) / "clusters.json"
        begin = time.monotonic()
        run("fit", folder / f"{name}.npy", "--label", "label", "--seed", seed, "-o", models, *shlex.split(fit))
        fitted = time.monotonic() - begin
        truth = [h["label"] for h in json.loads(models.read_text())["hmms"]]
        for variant, options in ways:
            seconds = run("cluster", models, "-k", CLUSTERS[name], "--seed", seed, "-o", clusters, *shlex.split(options))
            found = json.loads(clusters.read_text())
            scale = found["options"]["nv"] * len(truth) * found["options"]["tau"]
            all_of_them = candidates_of(found, truth, scale)
            kept = choose(all_of_them) if all_of_them[0]["bound"] is not None else {"kept": all_of_them[0]}
            out.append({"set": name, "seed": seed, "variant": variant, "seconds": seconds, "fit_seconds": fitted,
                        "bound": all_of_them[0]["bound"], "rules": {r: c["ari"] for r, c in kept.items()},
                        "chosen": {r: c["init"] for r, c in kept.items()},
                        "candidates": [{k: v for k, v in c.items() if k != "labels"} for c in all_of_them]})
    return out


# ---- all of them -----------------------------------------------------------------------------------------------------

def show(results, variants, sets):
    """Mean and smallest ARI of every rule, mean bound per frame and seconds, set by set."""
    for variant in variants:
        for rule in RULES:
            rows = [[r["rules"][rule] for r in results if r["variant"] == variant and r["set"] == s
                     and rule in r["rules"]] for s in sets]
            if not all(rows):
                continue
            cells = " ".join(f"{np.mean(v):5.2f}({min(v):.2f})" for v in rows)
            print(f"{variant:12} {rule:10} {np.mean([np.mean(v) for v in rows]):.3f} {cells}")
        for key in ("bound", "seconds", "fit_seconds"):
            rows = [[r[key] for r in results if r["variant"] == variant and r["set"] == s] for s in sets]
            if all(rows) and all(v is not None for row in rows for v in row):
                print(f"{variant:12} {key:10}       " + " ".join(f"{np.mean(v):11.3f}" for v in rows))


def parse_variant(text):
    """A name of VARIANTS, or NAME=FIT OPTIONS/CLUSTER OPTIONS."""
    if "=" not in text.split("/")[0].split(" ")[0]:
        return text, VARIANTS[text]
    name, options = text.split("=", 1)
    fit, _, cluster = options.partition("/")
    return name, (fit, cluster)


def main():
    """Parses the command line and runs the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", type=pathlib.Path, metavar="FOLDER", help="write the sets there and end")
    parser.add_argument("--sets", type=pathlib.Path, default=pathlib.Path("sets"), help="folder of prepared sets")
    parser.add_argument("--only", default=",".join(CLUSTERS), help="some of the sets, by name")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--variants", default="default", help="names with commas between, or NAME=FIT/CLUSTER with semicolons")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="side by side")
    parser.add_argument("--out", type=pathlib.Path, help="file for all results, .json")
    args = parser.parse_args()
    if args.prepare:
        return prepare(pathlib.Path(os.environ["VHEM_DATA"]), args.prepare)
    variants = dict(parse_variant(v) for v in args.variants.split(";" if "=" in args.variants else ","))
    sets, fits = args.only.split(","), {}
    for name, (fit, cluster) in variants.items():
        fits.setdefault(fit, []).append((name, cluster))
    tasks = [(args.sets, s, seed, fit, ways) for seed in map(int, args.seeds.split(",")) for s in sets
             for fit, ways in fits.items()]
    tasks.sort(key=lambda t: t[1] not in ("vicon", "mocap"))     # the slow ones first
    results = []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for done in pool.map(job, tasks):
            results += done
            print(f"\r{len(results)} of {len(tasks) * len(variants) // len(fits)}", end="", file=sys.stderr)
            if args.out:
                args.out.write_text(json.dumps(results))
    print(file=sys.stderr)
    print(f"{'':12} {'rule':10} mean  " + " ".join(f"{s:>11}" for s in sets))
    show(results, variants, sets)
    return None


if __name__ == "__main__":
    main()
