# SPDX-License-Identifier: BSD-3-Clause
"""One trial of the synthetic experiment: noisy HMMs, clusters of them in several ways, and how good they are."""
import collections
import json
import pathlib
import tempfile

import hmms
from common import mean, vhem


def fit(folder, experiment, options, seed):
    """HMMs of the sequences in folder; from ORIGINAL on, class by class."""
    def one(*more):
        vhem("fit", folder / "data.csv", "-S", 3, "--prior", "none", "--seed", seed, *more, "-o", folder / "part.json")
        return hmms.load(folder / "part.json")

    if "ORIGINAL" not in options:
        return one(*options.split())
    found = []
    for original in hmms.originals(experiment):
        start = hmms.save([original], folder / "start.json")
        found += one("--where", f"label={original['name']}", *options.replace("ORIGINAL", str(start)).split())
    return found


def cluster(source, out, method, options, seed):
    """Four clusters, in a file; seconds of processor time."""
    return vhem("cluster", *source, "-k", 4, "--method", method, *options, "--seed", seed, "-o", out)[1]


def judge(files, models, originals):
    """Measures of each file of clusters; fit: the mean over the noisy HMMs of L_hmm under their centre.  Compactness by
    the normalised kernel, by the raw one, and, single, by the normalised one with 1 for a cluster of one."""
    found = [{} for _ in files]
    for kernel in ("normalised", "raw"):
        measures = vhem("eval", *files, "--models", models, "--kernel", kernel, "--tau", 10)[0]["levels"][0]["measures"]
        for n, one in enumerate(found):
            one.update({"rand": measures["rand"]["runs"][n], "adjusted": measures["adjusted_rand"]["runs"][n],
                        "fit": measures["expected_loglik"]["runs"][n], kernel: measures["compactness"]["runs"][n]})
    for file, one in zip(files, found):
        sizes = collections.Counter(json.loads(file.read_text())["labels"]).values()
        one["single"] = one["normalised"] + sum(n == 1 for n in sizes)
        one["expected"] = mean([item["score"] for item in vhem("assign", file, originals)[0]["assigned"]])
    return found


def true_classes(folder, models, experiment, noise, seed):
    """What the bound makes of the true classes: the best centre of each, and where VHEM goes from there.  And how well
    the sources of the noisy sequences, taken as centres, tell the classes apart: by the bound, by the likelihood of
    samples from the noisy HMMs, which it bounds, and by that of the noisy sequences themselves."""
    sources = hmms.save(hmms.originals(experiment, noise), folder / "sources.json")
    noisy, scores, centers, out = hmms.load(models), [], [], folder / "true-classes.json"
    for name in hmms.CLASSES:
        members = hmms.save([h for h in noisy if h["label"] == name], folder / "class.json")
        vhem("cluster", members, "-k", 1, "--restarts", 20, "--seed", seed, "-o", out)
        one = json.loads(out.read_text())
        scores += [row[0] for row in one["L_hmm"]]
        centers += one["centers"]["hmms"]
    start, found = hmms.save(centers, folder / "centers.json"), {"classes": {"fit": mean(scores)}}
    stay = ["--init", sources, "--max-iter", 0]
    for name, source, method, options in (("from classes", models, "vhem", ["--init", start]),
                                          ("by the bound", models, "vhem", stay),
                                          ("by samples", models, "shem", [*stay, "--nv", 200]),
                                          ("by sequences", folder / "data.csv", "em-h3m", stay)):
        cluster([source], out, method, options, seed)
        judged_by = ["--data", source] if method == "em-h3m" else ["--models", source]
        measures = vhem("eval", out, *judged_by)[0]["levels"][0]["measures"]
        found[name] = {"rand": measures["rand"]["mean"], "adjusted": measures["adjusted_rand"]["mean"],
                       "fit": measures.get("expected_loglik", {}).get("mean")}
    return found


def reading_trial(job):
    """All readings on the same sequences: {run: measures}."""
    config, (experiment, K, noise), seed = job
    with tempfile.TemporaryDirectory(prefix="vhem-synthetic-") as name:
        folder = pathlib.Path(name)
        originals = hmms.save(hmms.originals(experiment), folder / "originals.json")
        hmms.write_noisy(experiment, K, noise, seed, folder / "data.csv")
        result = {}
        for n, (kind, options) in enumerate(config["fits"].items()):
            models = hmms.save(fit(folder, experiment, options, seed), folder / f"models-{n}.json")
            files = {}
            for run, (of, method, how) in config["runs"].items():
                if of == kind:
                    files[run] = folder / f"{run}.json"
                    cluster([models], files[run], method, how.replace("ORIGINALS", str(originals)).split(), seed)
            result.update(zip(files, judge(files.values(), models, originals)))
        if K in config["true_versions"]:
            result.update(true_classes(folder, folder / "models-0.json", experiment, noise, seed))
        return result


def method_trial(job):
    """All methods on the same sequences: {method: measures and seconds}."""
    config, (experiment, K, noise), seed = job
    with tempfile.TemporaryDirectory(prefix="vhem-synthetic-") as name:
        folder = pathlib.Path(name)
        data, textures = folder / "data.csv", folder / "textures.json"
        originals = hmms.save(hmms.originals(experiment), folder / "originals.json")
        hmms.write_noisy(experiment, K, noise, seed, data)
        models = hmms.save(fit(folder, experiment, config["fits"]["best of 4"], seed), folder / "models.json")
        vhem("fit", data, "--model", "dtm", "-S", 2, "--seed", seed, "-o", textures)
        vhem("fit", data, "-S", 3, "--seed", seed, "-o", folder / "defaults.json")
        sources, files, seconds = {"models": [models], "data": [data, "-S", 3], "textures": [textures],
                                   "defaults": [folder / "defaults.json"]}, {}, {}
        for n, (method, (source, way, options)) in enumerate(config["methods"].items()):
            files[method] = folder / f"{n}.json"
            seconds[method] = cluster(sources[source], files[method], way, options.split(), seed)
        of_hmms = [m for m, (source, _, _) in config["methods"].items() if source not in ("textures", "defaults")]
        result = dict(zip(of_hmms, judge([files[m] for m in of_hmms], models, originals)))
        for method in set(files) - set(of_hmms):
            measures = vhem("eval", files[method], "--data", data)[0]["levels"][0]["measures"]
            result[method] = {"rand": measures["rand"]["mean"], "adjusted": measures["adjusted_rand"]["mean"]}
        return {method: {**result[method], "seconds": seconds[method]} for method in files}
