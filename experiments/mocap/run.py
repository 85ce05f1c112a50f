#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchy of 56 motions of 8 kinds: the paper's Table 2 and Figure 2.

One HMM per motion, clustered into 8, 4 and 2 groups by VHEM and every other method.  A trial fits its HMMs anew and
gives all methods these HMMs and its seed.  Then: is what VHEM loses against spectral clustering at the first level lost
by its objective or by its search, and which settings find the kinds best.
"""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Experiment, mean, vhem  # noqa: E402
from hierarchy import (METHODS, averages, centers_of, collect, fit, grow, judge, load, models_of,  # noqa: E402
                       rand_and_adjusted, same_seeds, tables, write_truth)

# Rand index, log-likelihood in 1e6 nats, compactness at 8, 4 and 2 clusters; seconds
PAPER = {
    "VHEM-H3M": {"rand": [0.937, 0.811, 0.518], "loglik": [-5.361, -5.682, -5.866],
                 "compact": [0.0075, 0.0068, 0.0061]},
    "PPK-SC": {"rand": [0.956, 0.740, 0.393], "loglik": [-5.399, -5.845, -6.068], "compact": [0.0082, 0.0021, 0.0008]},
    "SHEM-H3M (10)": {"rand": [0.714, 0.359, 0.234], "loglik": [-13.632, -69.746, -275.65],
                      "compact": [0.0062, 0.0034, 0.0031]},
    "SHEM-H3M (50)": {"rand": [0.782, 0.685, 0.480], "loglik": [-14.645, -30.086, -52.227],
                      "compact": [0.0050, 0.0036, 0.0030]},
    "EM-H3M": {"rand": [0.831, 0.430, 0.340], "loglik": [-5.713, -202.55, -168.9], "compact": [0.0099, 0.0060, 0.0056]},
    "HEM-DTM": {"rand": [0.897, 0.661, 0.412], "loglik": [-7.125, -8.163, -8.532]},
}
SECONDS = {"VHEM-H3M": 30.97, "PPK-SC": 37.69, "SHEM-H3M (10)": 843.89, "SHEM-H3M (50)": 3849.72, "EM-H3M": 667.97,
           "HEM-DTM": 121.32}
EXPECTED = ["VHEM-H3M", "VHEM-H3M, our search", "VHEM-H3M, spectral start", "PPK-SC", "PPK-SC, members as centres"]
# What the models are grouped by before VHEM goes on from there
PARTITIONS = {"the true classes": None, "PPK-SC, scaled kernel": ["ppk-sc", "--kernel", "scaled"], "KL-SC": ["kl-sc"],
              "PPK-SC": ["ppk-sc"], "PPK, average linkage": ["ppk-ac"], "VHEM-H3M": ["vhem", "--preset", "paper"]}


def continue_from(job):
    """A partition, its centres made one by one by VHEM with K = 1, and VHEM from there; measures before and after."""
    task, name, seed = job
    models, K = models_of(task, seed), task["levels"][0]
    out = task["folder"] / f"from-{list(PARTITIONS).index(name)}-{seed}.json"
    labels, before = [h["label"] for h in load(models)["hmms"]], {}
    if PARTITIONS[name]:
        vhem("cluster", models, "-k", K, "--method", *PARTITIONS[name], "--seed", seed, "-o", out)
        labels, before = load(out)["labels"], judge(task, out, seed)[0]
    start = out.with_suffix(".start.json")
    _, bounds = centers_of(models, labels, seed, start)
    vhem("cluster", models, "--init", start, "--seed", seed, "-o", out)
    return {"name": name, "before": before, "after": judge(task, out, seed)[0], "bounds": bounds}


def search(x, task, floor):
    """Does the objective prefer what VHEM finds, or does VHEM not find what the objective prefers?"""
    seeds = range(1, x.config["search_trials"] + 1)
    own = {**task, "folder": task["folder"] / f"floor-{floor}", "fit": {**task["fit"], "cov-floor": floor}, "dtm": {},
           "defaults": False}
    own["folder"].mkdir()
    x.map(fit, [(own, seed) for seed in seeds])
    found = x.map(continue_from, [(own, name, seed) for name in PARTITIONS for seed in seeds])

    def average(name, when, key):
        return mean([f[when].get(key) for f in found if f["name"] == name])
    key = "broad" if floor > 0.01 else "narrow"
    truth = average("the true classes", "after", "expected_loglik")

    def above(name, when):
        found = average(name, when, "expected_loglik")
        return None if found is None else found - truth
    x.table(f"search_{key}", f"The objective from different groups of 8, models with a variance floor of {floor}",
            ["groups by", "Rand index", "ARI", "nats above the true classes, centres as found",
             "the same, centres made one by one, then VHEM", "Rand index then", "ARI then"],
            [[name, *(average(name, "before", m) if PARTITIONS[name] else 1.0 for m in ("rand", "adjusted_rand")),
              above(name, "before"), above(name, "after"),
              *(average(name, "after", m) for m in ("rand", "adjusted_rand"))] for name in PARTITIONS],
            f"Expected log-likelihood of a virtual sequence of 10 frames, {truth:.1f} nats for the true classes; means "
            f"over {len(seeds)} trials.")
    x.table(f"restarts_{key}", "One centre for the models of a true class: bounds of the restarts of VHEM with K = 1",
            ["class", "best", "median", "worst"],
            [[label, max(b), statistics.median(b), min(b)] for label, b in found[0]["bounds"].items()],
            f"Nats per virtual sequence, models of the first trial, variance floor {floor}.")


def setting(job):
    """The tree of a method with other settings, from models of its own."""
    task, (name, options, method, tree), number, seed = job
    folder = task["folder"] / f"setting-{number}-{seed}"
    folder.mkdir()
    own = {**task, "folder": folder, "fit": {**task["fit"], **options}, "dtm": {},
           "defaults": False, "tree": tree}
    fit((own, seed))
    return {**grow((own, method, seed)), "setting": name}


def settings(x, task, runs):
    """Which settings find the kinds best."""
    seeds = range(1, x.config["setting_trials"] + 1)
    found = x.map(setting, [(task, s, n, seed) for n, s in enumerate(x.config["settings"]) for seed in seeds])
    above = [{**r, "setting": "as in the tables above"}
             for name in ("VHEM-H3M", "PPK-SC", "VHEM-H3M, spectral start") for r in runs[name][:len(seeds)]]
    rows, levels = {}, task["levels"]
    for r in [*above, *found]:
        rows.setdefault((r["setting"], r["name"]), []).append(r)
    x.table("settings", "Other settings: Rand index and ARI, compactness and log-likelihood (1e6 nats) at 8 clusters, "
            "seconds",
            ["setting", "method", *[f"{what}, {k}" for k in levels for what in ("Rand", "ARI")], "compactness",
             "log-likelihood", "seconds"],
            [[*key, *rand_and_adjusted(r), averages(r, "compactness")[0], averages(r, "loglik")[0] / 1e6,
              mean([y["seconds"] for y in r])] for key, r in rows.items()], f"Means over {len(seeds)} trials.")


def claims(x, runs, p):
    """What the paper says of Table 2."""
    def against(name, key):
        ours, base = same_seeds(runs, name)
        return averages(base, key), averages(ours, key)

    def compare(text, name, key, levels, scale=1, digits=3):
        v, o = ([y * scale for k, y in enumerate(side) if k in levels] for side in against(name, key))
        x.claim(text, all(a > b for a, b in zip(v, o)),
                ", ".join(f"{a:.{digits}f} against {b:.{digits}f}" for a, b in zip(v, o)))
    compare("VHEM-H3M above PPK-SC in Rand index at levels 3 and 4", "PPK-SC", "rand", (1, 2))
    v, o = against("PPK-SC", "rand")
    x.claim("PPK-SC above VHEM-H3M in Rand index at level 2", o[0] > v[0], f"{o[0]:.3f} against {v[0]:.3f}")
    x.claim("These differences are significant at 95%", all(q is not None and q < 0.05 for q in p["PPK-SC"]),
            "p " + ", ".join(f"{q:.2g}" for q in p["PPK-SC"] if q is not None))
    compare("VHEM-H3M above PPK-SC in log-likelihood at every level", "PPK-SC", "loglik", (0, 1, 2), 1e-6)
    v, o = against("PPK-SC", "compactness")
    x.claim("VHEM-H3M above PPK-SC in compactness at levels 3 and 4", all(a > b for a, b in zip(v[1:], o[1:])),
            ", ".join(f"{a:.2g} against {b:.2g}" for a, b in zip(v[1:], o[1:])))
    for name in ("EM-H3M", "SHEM-H3M (10)", "SHEM-H3M (50)", "HEM-DTM"):
        compare(f"VHEM-H3M above {name} in Rand index at every level", name, "rand", (0, 1, 2))
    compare("VHEM-H3M above HEM-DTM in log-likelihood at every level", "HEM-DTM", "loglik", (0, 1, 2), 1e-6)
    for name in ("EM-H3M", "SHEM-H3M (10)", "SHEM-H3M (50)"):
        ours, base = ([r["seconds"] for r in side] for side in same_seeds(runs, name))
        x.claim(f"VHEM-H3M faster than {name}", mean(base) < mean(ours),
                f"{name} takes {mean(ours) / mean(base):.1f} times its time", timed=True)


def hierarchies(task, runs):
    """Figure 2: for each cluster of each level its motions of each class, and the cluster above."""
    hmms = load(models_of(task, 1))["hmms"]
    classes = list(dict.fromkeys(h["label"] for h in hmms))
    found = {"classes": classes, "motions": [classes.index(h["label"]) for h in hmms]}
    for name in ("VHEM-H3M", "PPK-SC"):
        found[name] = [level["base_labels"] for level in load(runs[name][0]["file"])["levels"]]
    return found


def main():
    x = Experiment("mocap", __doc__)
    data = x.data("cmu_mocap/mocap_xyz_local.npy",
                  "It is made from recordings of the motion capture database of Carnegie Mellon University, "
                  "mocap.cs.cmu.edu: positions of 22 joints, turned to face one way; see docs/reproduction.md.")
    c = x.config
    task = {"data": [data, "--where", "in56=1", "--label", "cls"], "levels": c["levels"], "fit": c["fit"],
            "dtm": c["dtm"], "defaults": True, "tree": c["tree"], "folder": x.scratch, "truth": x.scratch / "truth.csv"}
    seeds = range(1, c["trials"] + 1)
    x.map(fit, [(task, seed) for seed in seeds])
    hmms = write_truth(task, 1)
    x.check("motions, kinds, dimensions", (len(hmms), len({h["label"] for h in hmms}), len(hmms[0]["mu"][0][0])),
            (56, 8, 66))
    names = list(METHODS) if c["methods"] == "all" else c["methods"]
    jobs = [(task, name, seed) for name in names for seed in seeds if seed <= c["slow"].get(name, c["trials"])]
    runs = collect(x.map(grow, sorted(jobs, key=lambda job: job[1] not in c["slow"])))
    p = tables(x, task, runs, PAPER, SECONDS)
    x.table("expected", "Expected log-likelihood of a virtual sequence of 10 frames, each model under its centre, nats",
            ["method", *[f"{k} clusters" for k in c["levels"]]],
            [[name, *averages(runs[name], "expected_loglik")] for name in EXPECTED if name in runs])
    x.must("VHEM-H3M: Rand index above 0.83 at 8 clusters, where equal groups by chance have 0.81",
           averages(runs["VHEM-H3M"], "rand")[0] > 0.83)
    x.must("VHEM-H3M from a spectral start: Rand index above 0.85 at 8 clusters",
           averages(runs["VHEM-H3M, spectral start"], "rand")[0] > 0.85)
    if not x.quick:
        claims(x, runs, p)
        for floor in c["search_floors"]:
            search(x, task, floor)
        settings(x, task, runs)
        x.keep("hierarchies", hierarchies(task, runs))
    x.finish()


if __name__ == "__main__":
    main()
