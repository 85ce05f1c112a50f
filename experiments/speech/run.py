#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of the paper's Table 4 on spoken digits: 3000 recordings of 10 digits by 6 speakers, 13 MFCCs.

A recording stands for a song.  It has two tags, the digit and the speaker: 16 tags in all.  An HMM is fitted to each
recording, and those of a tag are reduced to K = 3 HMMs; EM-H3M learns the 3 HMMs from the recordings.  Precision,
recall and F of the two tags that a recording is given, MAP and P@k of the recordings ranked by tag, 5-fold
cross-validation.  And a harder question: the digit, spoken by somebody who was not among the speakers of the training.
"""
import csv
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from arrays import read_npy, write_npy
from common import Experiment, mean, paired, vhem, words
from estimators import DEFAULTS, average, over, run_trials, settings, shown

ARRAY = "fsdd/fsdd_mfcc.npy"
HINT = ("It is the Free Spoken Digit Dataset (Zenodo, CC BY-SA 4.0), as one array of 13 MFCCs a frame and "
        "fsdd_mfcc_index.csv with the columns start, length, digit, speaker, take.")
SUMMARY = ("precision", "recall", "F", "MAP", "P@5", "P@10", "P@15")
VHEM = ("table", "vhem")


def prepare(source, folder, takes):
    """all.npy and tags.csv; without-NAME.npy and only-NAME.npy for each speaker.  Returns what there is."""
    rows, d = read_npy(source)
    with open(source.with_name(source.stem + "_index.csv")) as f:
        found = [(int(r["start"]), int(r["length"]), {"digit": r["digit"], "speaker": r["speaker"]})
                 for r in csv.DictReader(f) if int(r["take"]) < takes]
    speakers = sorted({labels["speaker"] for _, _, labels in found})
    write_npy(folder / "all.npy", rows, d, found)
    for name in speakers:
        write_npy(folder / f"without-{name}.npy", rows, d, [r for r in found if r[2]["speaker"] != name])
        write_npy(folder / f"only-{name}.npy", rows, d, [r for r in found if r[2]["speaker"] == name])
    with open(folder / "tags.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["seq", "tag"])
        for n, (_, _, labels) in enumerate(found):
            out.writerows([[f"s{n}", f"digit {labels['digit']}"], [f"s{n}", labels["speaker"]]])
    digits = {labels["digit"] for _, _, labels in found}
    return speakers, {"columns": d, "recordings": len(found), "digits": len(digits), "speakers": len(speakers)}


def trial(job):
    """Cross-validation of the tags, the time of a training with everything, digits of each speaker held out."""
    folder, folds, speakers, seed, options = job
    how = [*words(options), "--seed", seed]
    tags = ["--tags", folder / "tags.csv", "--id", "seq"]
    model = folder / f"{os.getpid()}.json"
    found, _ = vhem("annotate", "cross", folder / "all.npy", *tags, *how, "--folds", folds, "--top", 2)
    _, seconds = vhem("annotate", "train", folder / "all.npy", *tags, *how, "--no-store", "-o", model)
    accuracy = []
    for name in speakers:
        vhem("classify", "train", folder / f"without-{name}.npy", "--label", "digit", *how, "--no-store", "-o", model)
        judged, _ = vhem("classify", "eval", model, folder / f"only-{name}.npy", "--label", "digit")
        accuracy.append(judged["summary"]["accuracy"])
    model.unlink()
    of = {kind: mean(t["F"] for t in found["tags"] if t["name"].startswith("digit") == (kind == "digit"))
          for kind in ("digit", "speaker")}
    return {**{m: found["summary"][m] for m in SUMMARY}, "seconds": seconds, "AP": [t["AP"] for t in found["tags"]],
            "new": mean(accuracy), "each": accuracy, **of}


def jobs_of(config):
    jobs = {("table", e): settings(config, e) for e in config["estimators"]}
    jobs["table", DEFAULTS] = {"estimator": "vhem", **config["defaults"]}
    for name, runs in config["beyond"].items():
        jobs.update({("beyond", name, e): settings(config, e, **changes) for e, changes in runs})
    return jobs


def show(x, found):
    estimators = [key[1] for key in found if key[0] == "table"]
    rows = [[shown(e), *(average(found, ("table", e), m) for m in SUMMARY), over(found, ("table", e), VHEM)]
            for e in estimators]
    x.table("tags", f"Tags of spoken digits, {x.config['folds']}-fold cross-validation",
            ["estimator", "P", "R", "F", "MAP", "P@5", "P@10", "P@15", "time over VHEM"], rows)
    rows = []
    for e in estimators:
        mine, other = found[VHEM], found["table", e]
        tests = [paired([mean(v) for v in zip(*(r[m] for r in mine))], [mean(v) for v in zip(*(r[m] for r in other))])
                 if e != "vhem" else (None, None) for m in ("AP", "each")]
        rows.append([shown(e), *(average(found, ("table", e), m) for m in ("digit", "speaker")), tests[0][1],
                     average(found, ("table", e), "new"), tests[1][1]])
    x.table("held", "F of the tags by kind, and accuracy of the digit when the speaker is new (6 held out in turn)",
            ["estimator", "F, digits", "F, speakers", "p of AP", "accuracy, new speaker", "p"], rows,
            "p of paired t-tests against VHEM: over the 16 tags, and over the 6 speakers.")
    rows = [[name, f"`{e}`", *(average(found, (kind, name, e), m) for m in ("F", "MAP", "digit", "speaker", "new")),
             over(found, (kind, name, e), VHEM)] for kind, name, e in (k for k in found if k[0] == "beyond")]
    if rows:
        x.table("beyond", "Other settings", ["setting", "estimator", "F", "MAP", "F, digits", "F, speakers",
                                             "accuracy, new speaker", "time over VHEM in the first table"], rows)


def show_claims(x, found):
    def at(e, m):
        return average(found, ("table", e), m)

    def each(a, b):
        return "; ".join(f"{m} {at(a, m):.3f} against {at(b, m):.3f}" for m in ("F", "MAP", "P@5"))

    names = {"ppk-sc": "PPK-SC", "ppk-sc-hybrid": "PPK-SC-hybrid", "em-h3m": "EM-H3M", "hem-gmm": "HEM-GMM"}
    for e, name in names.items():
        x.claim(f"VHEM is above {name} in F, MAP and P@5", all(at("vhem", m) > at(e, m) for m in ("F", "MAP", "P@5")),
                each("vhem", e))
    x.claim("PPK-SC-hybrid is above PPK-SC", at("ppk-sc-hybrid", "F") > at("ppk-sc", "F"),
            each("ppk-sc-hybrid", "ppk-sc"))
    times = {e: over(found, ("table", e), VHEM) for e in ("em-h3m", "ppk-sc", "ppk-sc-hybrid")}
    x.claim("VHEM takes less time than EM-H3M and PPK-SC", min(times.values()) > 1,
            ", ".join(f"{names[e]} {t:.1f}" for e, t in times.items()) + " times as long", timed=True)


def main():
    x = Experiment("speech", __doc__)
    speakers, there = prepare(x.data(ARRAY, HINT), x.scratch, x.config.get("takes", 50))
    x.check("the data", there, x.config["data"])
    found = run_trials(x, trial, jobs_of(x.config), x.scratch, x.config["folds"], speakers)
    show(x, found)
    x.must("VHEM finds digit and speaker", average(found, VHEM, "F") > x.config["must"])
    if not x.quick:
        show_claims(x, found)
    x.finish()


if __name__ == "__main__":
    main()
