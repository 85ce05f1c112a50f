#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do two builds of vhem write the same bytes?  For changes that must change nothing but the code.

    same.py OLD NEW [--mpi] [--data] [--only WORD] [--keep DIR]

OLD and NEW are folders with the command vhem (and, for --mpi, vhem-mpi).  Each step of STEPS is run with both, in a folder of its own,
with the same names of files; then every file and all of standard output are compared byte for byte, except the version in
provenance.  --data adds the data sets that VHEM_DATA points to.  Messages on standard error are not compared.
Exit status 0: all the same; 1: a list of what differs.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DEMO = [  # (name, arguments); steps use the files of those before them
    ("info", "info motions.csv"),
    ("fit", "fit motions.csv --states 4 -o motions.json"),
    ("fit-hdf5", "fit motions.csv --states 4 -o motions.h5"),
    ("fit-full", "fit motions.csv -S 3 --emission gaussian-full -o full.json"),
    ("fit-auto", "fit motions.csv --states 2..4 -r 2 -o auto.json"),
    ("fit-group", "fit motions.csv --group label -S 3 -o groups.json"),
    ("fit-mixture", "fit motions.csv --mixture 3 -S 2 -r 2 -o mixture.json"),
    ("fit-symbols", "fit symbols.csv --emission categorical -S 3 -o symbols.json"),
    ("fit-product", "fit steps.csv --emission step:gamma,turn:von-mises -S 2 -o steps.json"),
    ("fit-gaps", "fit gaps.csv -S 3 -r 2 -o gaps.json"),
    ("fit-store", "fit motions.csv --states 4 --store store -o stored.json"),
    ("fit-textures", "fit motions.csv --model dtm --states 3 -o textures.json"),
    ("cluster", "cluster motions.json -k 6 -o clusters.json"),
    ("cluster-fast", "cluster full.json -k 4 --search fast -o fast.json"),
    ("cluster-symbols", "cluster symbols.json -k 3 -o symbols_c.json"),
    ("cluster-product", "cluster steps.json -k 3 -o steps_c.json"),
    ("cluster-gaps", "cluster gaps.json -k 3 -o gaps_c.json"),
    ("cluster-exact", "cluster motions.json -k 3 --init clusters3.json --restarts 1 --tol 0 --cov-floor 0 "
                      "--max-iter 5 -o exact.json"),
    ("cluster-vbhem", "cluster motions.json --method vbhem -k 6 -S 4 -r 3 -o vbhem.json"),
    ("cluster-emhmm", "cluster full.json -k 3 --preset emhmm -r 10 -o emhmm.json"),
    ("cluster-paper", "cluster motions.json -k 3 --preset paper -r 3 -o paper.json"),
    ("cluster-em-h3m", "cluster motions.csv -k 3 --method em-h3m -S 2 -r 2 -o em.json"),
    ("cluster-ppk-sc", "cluster motions.json -k 4 --method ppk-sc -o ppk.json"),
    ("cluster-hybrid", "cluster motions.json -k 4 --method ppk-sc-hybrid -o hybrid.json"),
    ("cluster-shem", "cluster motions.json -k 3 --method shem -o shem.json"),
    ("cluster-hem-gmm", "cluster motions.json -k 3 --method hem-gmm -r 3 -o gmm.json"),
    ("cluster-hem-dtm", "cluster textures.json -k 3 -o dtm.json"),
    ("cluster-refine", "cluster motions.json -k 3 --refine 2 --search fast -o refined.json"),
    ("cluster-shards", "cluster shards -k 4 --search fast -o from_shards.json"),
    ("tree", "tree motions.json -k 6,3 -o tree.json"),
    ("assign", "assign clusters.json new.csv"),
    ("assign-models", "assign clusters.json motions.json --json"),
    ("score", "score clusters.json new.csv"),
    ("decode", "decode clusters.json new.csv --hmm best"),
    ("sample", "sample clusters.json -n 12 -T 100 -o invented.csv"),
    ("compare", "compare motions.json --kind kl --symmetric -o distances.tsv"),
    ("compare-ppk", "compare motions.json --kind ppk -o ppk.npy"),
    ("compare-sampled", "compare groups.json --kind kl-sampled"),
    ("eval", "eval clusters.json --truth motions.csv --models motions.json"),
    ("eval-json", "eval clusters.json --truth motions.csv --models motions.json --json"),
    ("choose", "choose motions.json -k 2..4 --splits 1 --seeds 1 --path 3 -o choice.tsv"),
    ("stats", "stats clusters.json motions.csv"),
    ("leave-out", "stats clusters.json motions.csv -m motions.json --leave-out"),
    ("classify", "classify train motions.csv -S 2 -o classes.json"),
    ("classify-predict", "classify predict classes.json new.csv"),
    ("classify-eval", "classify eval classes.json new.csv"),
    ("classify-cross", "classify cross motions.csv -S 2 --folds 3"),
    ("annotate", "annotate train motions.csv --tags tags.csv --min-examples 1 -S 2 -o tags.json"),
    ("annotate-predict", "annotate predict tags.json new.csv -n 3"),
    ("convert", "convert motions.json again.h5"),
    ("convert-back", "convert again.h5 again.json"),
    ("convert-shards", "convert motions.json --shards 5 -o shards5"),
    ("report", "report tree.json --models motions.json --data motions.csv --choice choice.tsv "
               "--distances distances.tsv --tables numbers --title Drawings -o report.html"),
    ("info-json", "info clusters.json --json"),
]
MPI = [("mpi-fit", "fit motions.csv --states 4 -o m_fit.json"), ("mpi-cluster", "cluster motions.json -k 6 -o m_c.json"),
       ("mpi-shards", "cluster shards -k 4 --search fast -o m_s.json"),
       ("mpi-em", "cluster motions.csv -k 3 --method em-h3m -S 2 -r 2 -o m_e.json"),
       ("mpi-mixture", "fit motions.csv --mixture 3 -S 2 -r 2 -o m_m.json"),
       ("mpi-dtm", "cluster textures.json -k 3 -o m_d.json"),
       ("mpi-many", "cluster many -k 4 -r 2 -o m_many.json"), ("mpi-many-json", "cluster many.json -k 3 -r 1 --checkpoint c -o m_j.json"),
       ("mpi-tree", "tree many -k 5,2 --search restarts -r 2 -o m_t.json"), ("mpi-vbhem", "cluster motions.json --method vbhem -k 5 -r 2 -o m_v.json"),
       ("mpi-compare", "compare motions.json --kind kl -o m_k.npy")]
SETS = [("eyes", "eye_fixations/jov_fixations.csv", "--group SubjectID --id SubjectID,TrialID --columns FixX,FixY", 2),
        ("motions", "basic_motions/BasicMotions_TRAIN.ts", "", 4), ("characters", "character_trajectories/characters.npy", "", 5),
        ("spikes", "classed/spikes.npy", "--emission poisson", 3)]


def make_inputs(vhem, folder):
    """The drawings of the demo, symbols, steps and turns, gaps: small, and the same at every call."""
    for seed in (2, 0):
        subprocess.run([vhem, "demo", "motions", "--seed", str(seed)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        if seed:
            (folder / "motions.csv").rename(folder / "new.csv")
    rows = [line.split(",") for line in (folder / "motions.csv").read_text().split()]
    head, rows = rows[0], rows[1:]
    x, y = head.index("x"), head.index("y")
    with open(folder / "symbols.csv", "w") as f:
        f.write("id,symbol\n" + "".join(f"{r[0]},{'abcde'[int(float(r[x]) * 2) % 5]}\n" for r in rows))
    with open(folder / "steps.csv", "w") as f:
        f.write("id,step,turn\n" + "".join(f"{r[0]},{abs(float(r[x])) + .01:.4f},{float(r[y]) % 6.28 - 3.14:.4f}\n" for r in rows))
    with open(folder / "gaps.csv", "w") as f:
        f.write("id,x,y\n" + "".join(f"{r[0]},{r[x] if n % 7 else ''},{r[y] if n % 5 else ''}\n" for n, r in enumerate(rows)))
    rng = random.Random(7)
    hmms = [{"S": 2, "M": 1, "pi": [.5, .5], "A": [[.7, .3], [.2, .8]], "c": [[1], [1]],
             "mu": [[[3 * (i % 4) + rng.gauss(0, .3)]], [[rng.gauss(5, 1)]]], "cov": [[[rng.uniform(.5, 2)]]] * 2} for i in range(6000)]
    (folder / "many.json").write_text(json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1,
                                                  "omega": [1 / 6000] * 6000, "hmms": hmms}))
    names = sorted({r[0] for r in rows})
    (folder / "tags.csv").write_text("name,tag\n" + "".join(f"{s},tag{n % 5}\n{s},tag{n % 3 + 5}\n" for n, s in enumerate(names)))


def steps_of(args):
    steps = [(name, words.split(), 0) for name, words in DEMO]
    at = [s[0] for s in steps].index("cluster-exact")
    steps.insert(at, ("cluster3", "cluster motions.json -k 3 --search fast -o clusters3.json".split(), 0))
    at = [s[0] for s in steps].index("cluster-shards")
    steps.insert(at, ("shards", "convert motions.json --shards 7 -o shards".split(), 0))
    if args.mpi:
        steps.insert(0, ("many", "convert many.json --shards 5 -o many".split(), 0))
        steps += [(f"{name}-{n}", words.split(), n) for name, words in MPI for n in (1, 2, 3, 4)]
    data = pathlib.Path(os.environ.get("VHEM_DATA", SOURCE.parent / "shared/data")).resolve()
    for name, path, words, k in SETS if args.data else []:
        if (data / path).exists():
            steps += [(f"{name}-fit", ["fit", str(data / path), *words.split(), "-r", "3", "-o", f"{name}.json"], 0),
                      (f"{name}-cluster", ["cluster", f"{name}.json", "-k", str(k), "-o", f"{name}_c.json"], 0),
                      (f"{name}-assign", ["assign", f"{name}_c.json", f"{name}.json"], 0)]
    return steps


def run(build, folder, words, ranks):
    """The exit status and standard output of one step."""
    command = [str(build / "vhem")]
    if ranks:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), str(build / "vhem-mpi")]
    seed = ["--seed", "1"] if words[0] in ("fit", "cluster", "tree", "choose", "sample") or words[:2] == ["classify", "train"] else []
    done = subprocess.run(command + words + seed + ["-q"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"})
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def contents(path):
    """The bytes of a file, without the version of the program that made it.  Threads add to a store as they finish: its lines are
    sorted."""
    data = path.read_bytes()
    if data.startswith(b'{"format": "vhem-store"'):
        return b"".join(sorted(data.splitlines(keepends=True)))
    if data[:8] == b"\x89HDF\r\n\x1a\n":
        return re.sub(rb'"version": ?"[0-9.]+[^"]*"', b'"version":""', data)
    return re.sub(rb'(vhem |"version": ?")[0-9]+\.[0-9]+\.[0-9]+', rb"\1", data)


def snapshot(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(contents(p)).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("old", type=pathlib.Path)
    ask.add_argument("new", type=pathlib.Path)
    ask.add_argument("--mpi", action="store_true", help="also vhem-mpi with 1 to 4 ranks")
    ask.add_argument("--data", action="store_true", help="also the sets that VHEM_DATA points to")
    ask.add_argument("--only", metavar="WORD", help="steps with this word in their name, and fit and cluster")
    ask.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="where the files stay")
    args = ask.parse_args()
    root = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="vhem-same-"))
    folders = {"old": root / "old", "new": root / "new"}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make_inputs(args.new.resolve() / "vhem", folder)
    wrong, count = [], 0
    for name, words, ranks in steps_of(args):
        if args.only and args.only not in name and name not in ("fit", "cluster"):
            continue
        count += 1
        old, new = (run(getattr(args, which).resolve(), folder, words, ranks) for which, folder in folders.items())
        if old[0] != new[0]:
            wrong.append(f"{name}: exit status {old[0]} and {new[0]}: {(new[2] or old[2]).strip()[:200]}")
        elif old[0] not in (0, 1):
            wrong.append(f"{name}: exit status {old[0]} with both: {old[2].strip()[:200]}")
        elif old[0]:
            print(f"{name}: refused by both: {old[2].strip()[:150]}", file=sys.stderr)
        if old[1] != new[1]:
            wrong.append(f"{name}: standard output differs")
    old, new = (snapshot(folder) for folder in folders.values())
    wrong += [f"{name}: {'differs' if name in old and name in new else 'is not written by both'}"
              for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    print("\n".join(wrong + [f"{count} steps, {len(old)} files: {'the same' if not wrong else f'{len(wrong)} differences'}"]))
    if not args.keep:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
