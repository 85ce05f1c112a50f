# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchies of motions, the paper's Section 5.2: the methods, their trees judged at every level, starts for VHEM from
a partition, and the tables both data sets share.

A task is a dict that every job carries: data (path and options that say what to read), levels, fit and dtm (options of
fit, by name), tree (further options of VHEM, by name), folder, truth.  Files are named by seed, so that jobs find what
others made.
"""
import json
import pathlib

from common import mean, vhem, with_spread, words

# name: method, options, what it clusters
METHODS = {
    "VHEM-H3M": ("vhem", ["--preset", "paper"], "models"),
    "VHEM-H3M, our defaults": ("vhem", [], "defaults"),
    "VHEM-H3M, our search": ("vhem", [], "models"),
    "VHEM-H3M, spectral start": ("vhem", [], "models"),
    "PPK-SC": ("ppk-sc-hybrid", [], "models"),
    "PPK-SC, raw kernel": ("ppk-sc-hybrid", ["--kernel", "raw"], "models"),
    "PPK-SC, scaled kernel": ("ppk-sc-hybrid", ["--kernel", "scaled"], "models"),
    "PPK-SC, members as centres": ("ppk-sc", [], "models"),
    "SHEM-H3M (10)": ("shem", ["--nv", 10], "models"),
    "SHEM-H3M (50)": ("shem", ["--nv", 50], "models"),
    "EM-H3M": ("em-h3m", [], "data"),
    "HEM-DTM": ("hem-dtm", [], "textures"),
    "HEM-GMM": ("hem-gmm", [], "models"),
    "KL-SC": ("kl-sc", [], "models"),
    "KL-SC, sampled": ("kl-sampled-sc", [], "models"),
    "PPK, average linkage": ("ppk-ac", [], "models"),
    "KL, average linkage": ("kl-ac", [], "models"),
}


def load(path):
    """A JSON file."""
    return json.loads(pathlib.Path(path).read_text())


def models_of(task, seed):
    """The file with the HMMs of this trial."""
    return task["folder"] / f"models-{seed}.json"


def fit(job):
    """The models of a trial: HMMs by highest likelihood, as in the paper, HMMs as vhem fits them when nothing is said,
    and dynamic textures where some method wants them.  Returns the processor time of the first."""
    task, seed = job
    if task.get("defaults"):
        vhem("fit", *task["data"], "--seed", seed, "-o", task["folder"] / f"defaults-{seed}.json")
    _, seconds = vhem("fit", *task["data"], *words({"prior": "none", **task["fit"]}), "--seed", seed, "-o",
                      models_of(task, seed))
    if task.get("dtm"):
        vhem("fit", *task["data"], *words(task["dtm"]), "--seed", seed, "-o", task["folder"] / f"textures-{seed}.json")
    return seconds


def write_truth(task, seed):
    """The classes by name, for methods that see no models; returns the models of the trial."""
    hmms = load(models_of(task, seed))["hmms"]
    task["truth"].write_text("name,label\n" + "".join(f"{h['name']},{h['label']}\n" for h in hmms))
    return hmms


def centers_of(models, labels, seed, out):
    """A centre for each part of the models by VHEM with K = 1, as a file to start from.  Returns the processor time,
    and the bounds of all restarts for each part, in nats per virtual sequence and model."""
    whole = load(models)
    head = {k: whole[k] for k in ("format", "version", "emission", "d")}
    hmms, omega, bounds, seconds = [], [], {}, 0
    part, one = out.with_suffix(".part.json"), out.with_suffix(".one.json")
    for label in dict.fromkeys(labels):
        members = [h for h, l in zip(whole["hmms"], labels) if l == label]
        part.write_text(json.dumps({**head, "omega": [1 / len(members)] * len(members), "hmms": members}))
        seconds += vhem("cluster", part, "-k", 1, "--seed", seed, "-o", one)[1]
        found = load(one)
        hmms.append({**found["centers"]["hmms"][0], "name": str(label)})
        omega.append(len(members) / len(labels))
        scale = found["options"]["nv"] * len(members)
        bounds[label] = [r["bound"] / scale for r in found["restarts"] if r["finished"]]
    out.write_text(json.dumps({**head, "omega": omega, "hmms": hmms}))
    return seconds, bounds


def judge(task, out, seed, alone=False):
    """What eval says of a tree, level by level; alone: of other models, which are not the ones to measure by."""
    by = [] if alone else ["--models", models_of(task, seed), "--kernel", "normalised"]
    levels = vhem("eval", out, *by, "--data", *task["data"], "--truth", task["truth"])[0]["levels"]
    return [{k: v["mean"] for k, v in level["measures"].items()} for level in levels]


def grow(job):
    """One tree of one method: its processor time, and its measures at every level."""
    task, name, seed = job
    method, options, source = METHODS[name]
    out = task["folder"] / f"{list(METHODS).index(name)}-{seed}.json"
    options, seconds = [*options, *(words(task["tree"]) if name == "VHEM-H3M" else [])], 0
    if name == "VHEM-H3M, spectral start":
        groups, start = out.with_suffix(".groups.json"), out.with_suffix(".start.json")
        _, seconds = vhem("cluster", models_of(task, seed), "-k", task["levels"][0], "--method", "ppk-sc", "--kernel",
                          "scaled", "--seed", seed, "-o", groups)
        seconds += centers_of(models_of(task, seed), load(groups)["labels"], seed, start)[0]
        options += ["--init", start]
    inputs = {"models": [models_of(task, seed)], "textures": [task["folder"] / f"textures-{seed}.json"],
              "defaults": [task["folder"] / f"defaults-{seed}.json"],
              "data": [*task["data"], *words(task["fit"])]}[source]
    _, used = vhem("tree", *inputs, "-k", ",".join(map(str, task["levels"])), "--method", method, *options,
                   "--seed", seed, "-o", out)
    return {"name": name, "seed": seed, "file": str(out), "seconds": seconds + used,
            "levels": judge(task, out, seed, source in ("textures", "defaults"))}


def averages(runs, key):
    """The mean of a measure at every level."""
    return [mean([r["levels"][l].get(key) for r in runs]) for l in range(len(runs[0]["levels"]))]


def rand_and_adjusted(runs):
    """Rand index and adjusted Rand index, level by level, each with its spread over the seeds."""
    return [with_spread([r["levels"][l].get(key) for r in runs])
            for l in range(len(runs[0]["levels"])) for key in ("rand", "adjusted_rand")]


def collect(found):
    """Runs by method, in the order of METHODS, trials in order."""
    runs = {name: sorted((r for r in found if r["name"] == name), key=lambda r: r["seed"]) for name in METHODS}
    return {name: r for name, r in runs.items() if r}


def same_seeds(runs, name, base="VHEM-H3M"):
    """The runs of a method and those of VHEM from the same models."""
    seeds = {r["seed"] for r in runs[name]}
    return runs[name], [r for r in runs[base] if r["seed"] in seeds]


def p_values(task, runs, name):
    """Of the paired t-test of the Rand index against VHEM, at every level."""
    ours, base = same_seeds(runs, name)
    if name == "VHEM-H3M" or len(ours) < 2:
        return [None] * len(task["levels"])
    found, _ = vhem("eval", *[r["file"] for r in ours], "--truth", task["truth"],
                    "--against", *[r["file"] for r in base])
    return [level["measures"]["rand"]["against"]["p"] for level in found["levels"]]


def tables(x, task, runs, paper, paper_seconds):
    """Rand index and adjusted Rand index with t-tests and time, log-likelihood, compactness.  paper[name]: three lists;
    returns p by method."""
    levels, p = task["levels"], {name: p_values(task, runs, name) for name in runs}
    seconds = {name: mean([r["seconds"] for r in runs[name]]) for name in runs}
    head = ["method", "trials", *[f"{k} clusters" for k in levels]]

    def rows(key, which, scale=1):
        for name in runs:
            ours = averages(runs[name], key)
            theirs = paper.get(name, {}).get(which, [None] * len(levels))
            if ours[0] is not None:
                yield name, [name, len(runs[name]), *[(v * scale, t) for v, t in zip(ours, theirs)]]

    def ratio(name):
        base = same_seeds(runs, name)[1]
        theirs = paper_seconds.get(name)
        return (seconds[name] / mean([r["seconds"] for r in base]), theirs and theirs / paper_seconds["VHEM-H3M"])

    def groups(name):
        theirs = paper.get(name, {}).get("rand", [None] * len(levels))
        cells = rand_and_adjusted(runs[name])
        return [c if k % 2 else (c, theirs[k // 2]) for k, c in enumerate(cells)]

    x.table("rand", "Rand index and adjusted Rand index (ARI), mean ± standard deviation over the trials; p of paired "
            "t-tests of the Rand index against VHEM-H3M, level by level; time over that of VHEM-H3M",
            ["method", "trials", *[f"{what}, {k}" for k in levels for what in ("Rand", "ARI")], "p", "time"],
            [[name, len(runs[name]), *groups(name), ", ".join("-" if v is None else f"{v:.2g}" for v in p[name]),
              ratio(name)] for name in runs])
    x.table("loglik", "Log-likelihood of the sequences, each under its centre, 1e6 nats", head,
            [row for _, row in rows("loglik", "loglik", 1e-6)])
    x.table("compactness", "PPK compactness, normalised kernel", head,
            [row for _, row in rows("compactness", "compact")])
    x.keep("seconds", seconds)
    x.keep("rand", {name: [[level["rand"] for level in r["levels"]] for r in runs[name]] for name in runs})
    return p
