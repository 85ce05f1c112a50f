#!/usr/bin/env python3
"""Every clustering method side by side: on the synthetic HMMs of the paper's Section 5.3, and on motion capture
(Section 5.2, Table 2) where the data are at hand.

usage: run.py [--quick] [--trials N] [--only synthetic|mocap]

For each method: Rand index, expected log-likelihood (synthetic) or log-likelihood (MoCap), PPK compactness and
seconds, as means over the trials, and a paired t-test of its Rand index against VHEM's.
"""
import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import VHEM, find_data, mean, save, show, vhem  # noqa: E402

# name in the table, method, options, what it clusters: models, data (the sequences) or textures
METHODS = [
    ("VHEM-H3M", "vhem", [], "models"),
    ("PPK-SC", "ppk-sc", [], "models"),
    ("PPK-SC, raw kernel", "ppk-sc", ["--kernel", "raw"], "models"),
    ("PPK-SC, scaled kernel", "ppk-sc", ["--kernel", "scaled"], "models"),
    ("PPK-SC-hybrid", "ppk-sc-hybrid", [], "models"),
    ("SHEM-H3M (10)", "shem", ["--nv", "10"], "models"),
    ("SHEM-H3M (50)", "shem", ["--nv", "50"], "models"),
    ("EM-H3M", "em-h3m", [], "data"),
    ("HEM-GMM", "hem-gmm", [], "models"),
    ("HEM-DTM", "hem-dtm", [], "textures"),
    ("KL-SC", "kl-sc", [], "models"),
    ("KL-SC, sampled", "kl-sampled-sc", [], "models"),
    ("PPK, average linkage", "ppk-ac", [], "models"),
    ("KL, average linkage", "kl-ac", [], "models"),
]

PI = [1 / 3, 1 / 3, 1 / 3]
A = [[0.8, 0.1, 0.1], [0.2, 0.8, 0], [0, 0.2, 0.8]]
# experiment: (means of the three states, variance) of each of the four original HMMs
ORIGINALS = {
    "a": [([1, 2, 3], 0.5), ([3, 2, 1], 0.5), ([1, 2, 2], 0.5), ([1, 3, 3], 0.5)],
    "b": [([1, 2, 3], 0.5), ([1, 2, 3], 0.1), ([1, 2, 3], 1.0), ([1, 2, 3], 0.05)],
}
T = 100
PAPER_MOCAP = {"VHEM-H3M": (0.937, 0.811, 0.518), "PPK-SC": (0.956, 0.740, 0.393),
               "SHEM-H3M (10)": (0.714, 0.359, 0.234), "SHEM-H3M (50)": (0.782, 0.685, 0.480),
               "EM-H3M": (0.831, 0.430, 0.340), "HEM-DTM": (0.897, 0.661, 0.412)}


def write_originals(experiment, path):
    hmms = [{"name": f"M{c + 1}", "label": f"M{c + 1}", "S": 3, "M": 1, "pi": PI, "A": A, "c": [[1]] * 3,
             "mu": [[[m]] for m in mu], "cov": [[[var]]] * 3} for c, (mu, var) in enumerate(ORIGINALS[experiment])]
    path.write_text(json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1,
                                "omega": [0.25] * 4, "hmms": hmms}))


def write_noisy(experiment, K, noise, seed, path):
    """K sequences from each original HMM, each with Gaussian noise of this variance added."""
    rng = random.Random(f"{experiment} {K} {noise} {seed}")
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["id", "label", "y"])
        for c, (mu, var) in enumerate(ORIGINALS[experiment]):
            for k in range(K):
                state = rng.choices(range(3), PI)[0]
                for _ in range(T):
                    y = rng.gauss(mu[state], var ** 0.5) + rng.gauss(0, noise ** 0.5)
                    out.writerow([f"M{c + 1}_{k}", f"M{c + 1}", repr(y)])
                    state = rng.choices(range(3), A[state])[0]


def available(method):
    """Does this build of the command have it?"""
    done = subprocess.run([VHEM, "cluster", "--help"], stdout=subprocess.PIPE, text=True, check=True)
    return method in done.stdout.replace(",", " ").split()


def run_trial(number, levels, inputs, judged_by, seed, folder):
    """One method once: its seconds, and the measures of each level."""
    _, method, options, source = METHODS[number]
    out = folder / f"{number}-{seed}.json"
    command = "tree" if len(levels) > 1 else "cluster"
    _, seconds = vhem(command, *inputs[source], "-k", ",".join(map(str, levels)), "--method", method, *options, "--seed",
                      seed, "-o", out)
    measured = vhem("eval", out, *judged_by["textures" if source == "textures" else "models"])[0]["levels"]
    result = [{"K": m["K"], **{k: v["mean"] for k, v in m["measures"].items()}} for m in measured]
    if "originals" in judged_by and source != "textures":
        found = vhem("assign", out, judged_by["originals"])[0]["assigned"]
        result[0]["expected_loglik"] = mean([item["score"] for item in found])
    return {"file": out, "seconds": seconds, "levels": result}


def p_values(runs, base, truth):
    """Of a paired t-test of the Rand index against VHEM's, at each level."""
    if runs is base or len(runs) < 2:
        return [None] * len(runs[0]["levels"])
    levels = vhem("eval", *[r["file"] for r in runs], "--truth", truth, "--against", *[r["file"] for r in base])[0]
    return [level["measures"]["rand"]["against"]["p"] for level in levels["levels"]]


def table(title, trials, truth, paper):
    """trials: name -> its runs.  Prints a row for each method and level, and returns them."""
    result = []
    for name, runs in trials.items():
        p = p_values(runs, trials["VHEM-H3M"], truth)
        for l, level in enumerate(runs[0]["levels"]):
            def average(key, at=l, of=runs):
                return mean([r["levels"][at].get(key) for r in of])
            result.append({"method": name, "K": level["K"], "rand": average("rand"),
                           "paper": paper.get(name, {}).get(level["K"]), "p": p[l],
                           "expected_loglik": average("expected_loglik"), "loglik": average("loglik"),
                           "compactness": average("compactness"), "trials": len(runs),
                           "seconds": mean([r["seconds"] for r in runs]) if l == 0 else None})
    print(f"\n{title}")
    columns = ["rand", "paper", "p", "expected_loglik", "loglik", "compactness", "seconds"]
    shown = [c for c in columns if any(row[c] is not None for row in result)]
    show([[row["method"], str(row["K"]), *[row[c] for c in shown]] for row in result], ["method", "K", *shown])
    return result


def synthetic(trials, settings, folder):
    """Clusters of noisy versions of four HMMs; the expected log-likelihood is that of the originals."""
    tables = []
    for experiment, K, noise in settings:
        originals, truth = folder / f"originals-{experiment}.json", folder / f"truth-{K}.csv"
        write_originals(experiment, originals)
        truth.write_text("name,label\n" + "".join(f"M{c}_{k},M{c}\n" for c in range(1, 5) for k in range(K)))
        runs = {m[0]: [] for m in METHODS if available(m[1])}
        for seed in range(1, trials + 1):
            data, models, textures = (folder / f"{n}-{experiment}-{K}-{noise}-{seed}.{e}"
                                      for n, e in (("data", "csv"), ("models", "json"), ("textures", "json")))
            write_noisy(experiment, K, noise, seed, data)
            vhem("fit", data, "-S", 3, "--seed", seed, "-o", models)
            if "HEM-DTM" in runs:
                vhem("fit", data, "--model", "dtm", "-S", 2, "--seed", seed, "-o", textures)
            inputs = {"models": [models], "data": [data, "-S", 3], "textures": [textures]}
            judged = {"models": ["--models", models, "--truth", truth], "textures": ["--truth", truth],
                      "originals": originals}
            sub = folder / f"{experiment}-{K}-{noise}"
            sub.mkdir(exist_ok=True)
            for number, method in enumerate(METHODS):
                if method[0] in runs:
                    runs[method[0]].append(run_trial(number, [4], inputs, judged, seed, sub))
        title = f"Synthetic HMMs ({experiment}): K = {K} versions of each, noise variance {noise}, {trials} trials"
        tables.append({"experiment": experiment, "K": K, "noise": noise, "rows": table(title, runs, truth, {})})
    return tables


def mocap(trials, folder):
    """The hierarchy of 56 motions; models are fitted anew in every trial."""
    data = find_data("cmu_mocap/mocap_xyz_local.npy",
                     "It is made from the motion capture database of Carnegie Mellon University (mocap.cs.cmu.edu).")
    if not data:
        return None
    where, levels = [data, "--where", "in56=1", "--label", "cls"], [8, 4, 2]
    runs = {m[0]: [] for m in METHODS if available(m[1])}
    truth = folder / "truth-mocap.csv"
    for seed in range(1, trials + 1):
        models, textures = folder / f"mocap-{seed}.json", folder / f"mocap-dtm-{seed}.json"
        vhem("fit", *where, "-S", 4, "-M", 2, "--seed", seed, "-o", models)
        hmms = json.loads(models.read_text())["hmms"]
        if len(hmms) != 56 or len({h["label"] for h in hmms}) != 8:
            sys.exit(f"{data}: {len(hmms)} sequences of {len({h['label'] for h in hmms})} classes, must be 56 of 8")
        truth.write_text("name,label\n" + "".join(f"{h['name']},{h['label']}\n" for h in hmms))
        if "HEM-DTM" in runs:
            vhem("fit", *where, "--model", "dtm", "-S", 7, "--seed", seed, "-o", textures)
        inputs = {"models": [models], "data": [*where, "-S", 4, "-M", 2], "textures": [textures]}
        judged = {"models": ["--models", models, "--data", *where, "--truth", truth],
                  "textures": ["--data", *where, "--truth", truth]}
        for number, method in enumerate(METHODS):
            if method[0] in runs:
                runs[method[0]].append(run_trial(number, levels, inputs, judged, seed, folder))
    paper = {name: dict(zip(levels, rand)) for name, rand in PAPER_MOCAP.items()}
    return table(f"Motion capture: 56 motions of 8 classes, {trials} trials; paper: its Rand index", runs, truth, paper)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two trials of one synthetic setting, no motion capture")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--only", choices=["synthetic", "mocap"])
    args = parser.parse_args()
    trials = 2 if args.quick else args.trials
    settings = [("a", 4, 0.1)] if args.quick else [(e, K, v) for e in "ab" for K, v in ((4, 0.1), (16, 0.1), (16, 1))]
    with tempfile.TemporaryDirectory() as name:
        results = {}
        if args.only != "mocap":
            results["synthetic"] = synthetic(trials, settings, pathlib.Path(name))
        if args.only != "synthetic" and not args.quick:
            results["mocap"] = mocap(trials, pathlib.Path(name))
        save("methods", results)


if __name__ == "__main__":
    main()
