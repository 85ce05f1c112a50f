#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `vhem cluster --first-reduce R` gives away: bound, groups and time against the exact run.

    bench/first_reduce.py [--models 1000000] [--centers 10,50,200] [--seeds 0,1] [FOLDER]
    bench/first_reduce.py --songs cal500_specmfcc.npy [--clusters 20] [--centers 5,10,25] [FOLDER]

Synthetic models are noisy copies of 10 HMMs with S = 3, M = 1, d = 2; songs are one HMM each, S = 3, M = 1.  The set is cut into
--shards files (default: 10).  The bound is that of the centres over all models, in nats for each virtual frame: what an exact run
would begin with if it were started there.  The adjusted Rand index is that to the groups the models were drawn from, and to the
labels of the exact run with the first seed; exact runs with other seeds say how far two runs are apart by chance.  Sets and results are kept
in FOLDER (default: build/first_reduce).
"""
import argparse
import collections
import itertools
import json
import pathlib
import random
import subprocess

S, D, GROUPS, SPREAD = 3, 2, 10, 0.4


def row(rng, near=None, weight=0.0):
    x = [rng.random() + 0.1 + (weight * near[s] if near else 0) for s in range(S)]
    return [v / sum(x) for v in x]


def prototypes():
    rng = random.Random(7)
    return [{"pi": row(rng), "A": [row(rng) for _ in range(S)],
             "mu": [[rng.gauss(0, 2) for _ in range(D)] for _ in range(S)]} for _ in range(GROUPS)]


def noisy(rng, p):
    return {"S": S, "M": 1, "pi": row(rng, p["pi"], 6), "A": [row(rng, a, 6) for a in p["A"]], "c": [[1]] * S,
            "mu": [[[m + rng.gauss(0, SPREAD) for m in mu]] for mu in p["mu"]],
            "cov": [[[rng.uniform(0.5, 2) for _ in range(D)]] for _ in range(S)]}


def draw(vhem, folder, n, shards):
    """A folder of shards with n models, model i of group i % 10."""
    path, files = folder / f"set-{n}-{shards}", []
    if path.exists():
        return path
    known = prototypes()
    for k in range(shards):
        rng, text = random.Random(1000 + k), folder / f"part-{k}.json"
        lo, hi = n * k // shards, n * (k + 1) // shards
        with open(text, "w", encoding="utf-8") as f:
            f.write(f'{{"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": {D}, '
                    f'"omega": {json.dumps([1 / (hi - lo)] * (hi - lo))}, "hmms": [')
            for i in range(lo, hi):
                f.write((",\n" if i > lo else "") + json.dumps(noisy(rng, known[i % GROUPS])))
            f.write("]}\n")
        files.append(folder / f"part-{k}.h5")
        subprocess.run([vhem, "convert", text, "-o", files[-1], "-q", "--force"], check=True)
        text.unlink()
    subprocess.run([vhem, "convert", *files, "-o", path, "-q"], check=True)
    for file in files:
        file.unlink()
    return path


def songs(vhem, folder, data, shards):
    """A folder of shards with an HMM for each song."""
    path, files = folder / f"songs-{shards}", []
    if path.exists():
        return path
    subprocess.run([vhem, "fit", data, "-S", str(S), "-o", folder / "songs.json", "-q", "--force"], check=True)
    whole = json.loads((folder / "songs.json").read_text())
    for k in range(shards):
        hmms = whole["hmms"][len(whole["hmms"]) * k // shards:len(whole["hmms"]) * (k + 1) // shards]
        files.append(folder / f"songs-part-{k}.json")
        files[-1].write_text(json.dumps({**whole, "hmms": hmms, "omega": [1 / len(hmms)] * len(hmms)}))
    subprocess.run([vhem, "convert", *files, "-o", path, "-q"], check=True)
    for file in files:
        file.unlink()
    return path


def adjusted_rand(a, b):
    def pairs(counts):
        return sum(n * (n - 1) / 2 for n in counts.values())
    both, first, second = pairs(collections.Counter(zip(a, b))), pairs(collections.Counter(a)), pairs(collections.Counter(b))
    chance = first * second / (len(a) * (len(a) - 1) / 2)
    most = (first + second) / 2
    return (both - chance) / (most - chance) if most > chance else 1.0


def run(vhem, out, *args):
    """A result and the processor seconds it took."""
    done = subprocess.run(["/usr/bin/time", "-f", "%U %S", vhem, *map(str, args), "-q", "--force", "-o", str(out)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr}")
    user, system = done.stderr.split()[-2:]
    return json.loads(out.read_text()), float(user) + float(system)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--models", type=int, default=10**6)
    parser.add_argument("--songs", help="array with the frames of songs, its index beside it")
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=GROUPS)
    parser.add_argument("--centers", default="10,50,200")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--options", default="", help="more words for vhem cluster")
    parser.add_argument("folder", nargs="?", default="build/first_reduce")
    args = parser.parse_args()
    folder = pathlib.Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    vhem = pathlib.Path(args.build).resolve() / "vhem"
    models = songs(vhem, folder, args.songs, args.shards) if args.songs else draw(vhem, folder, args.models, args.shards)
    most, more = ["cluster", models, "-k", args.clusters], args.options.split()
    print("run\tseed\tprocessor s\tbound\tARI to the groups\tARI to the exact run", flush=True)
    exact = None
    for name, seed in itertools.product(["exact", *args.centers.split(",")], args.seeds.split(",")):
        how = ["--seed", seed, *([] if name == "exact" else ["--first-reduce", name])]
        found, seconds = run(vhem, folder / "out.json", *most, *more, *how)
        again, _ = run(vhem, folder / "bound.json", *most, "--init", folder / "out.json", "--max-iter", 0)
        labels = found["labels"]
        exact = exact or labels
        truth = None if args.songs else [i % GROUPS for i in range(len(labels))]
        frames = len(labels) * again["options"]["nv"] * again["options"]["tau"]
        print(f"{name}\t{seed}\t{seconds:.1f}\t{again['bound'][-1] / frames:.4f}\t"
              f"{f'{adjusted_rand(labels, truth):.3f}' if truth else ''}\t{adjusted_rand(labels, exact):.3f}", flush=True)


if __name__ == "__main__":
    main()
