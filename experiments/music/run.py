#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tags of songs: Table 4 of the paper, on CAL500 with the features there are, and the same on sound features of GTZAN.

A song is many fragments.  HMMs are fitted to every song, those of the songs with a tag are reduced to the model of the
tag, and songs that were held out are given tags and ranked by them.  The time of an estimator is that of all its folds
and of the fits of the songs, once.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Experiment, mean                                                              # noqa: E402
from music_data import (MEASURES, NATS, by_tag, chance, fit_shape, fold_models, has_one, paired_p,  # noqa: E402
                        of_textures, prepare, song_store)

NAMES = {"vhem": "VHEM-H3M", "ppk-sc": "PPK-SC", "ppk-sc-hybrid": "PPK-SC-hybrid", "em-h3m": "EM-H3M",
         "hem-gmm": "HEM-GMM", "hem-dtm": "HEM-DTM", "em-h3m-dense": "EM-H3M, all fragments",
         "vhem-one": "VHEM-H3M, one HMM to a song", "vhem-ours": "VHEM-H3M, our defaults"}
OURS = "vhem-ours"                       # what vhem does when only the sizes are said
PAPER = {                                # P R F MAP P@5 P@10 P@15, and the time over that of VHEM
    "vhem": [0.446, 0.211, 0.260, 0.440, 0.474, 0.451, 0.435, 1],
    "ppk-sc": [0.299, 0.159, 0.151, 0.347, 0.358, 0.340, 0.329, 974.0 / 629.5],
    "ppk-sc-hybrid": [0.407, 0.200, 0.221, 0.415, 0.439, 0.421, 0.407, 991.7 / 629.5],
    "em-h3m": [0.415, 0.214, 0.248, 0.423, 0.440, 0.422, 0.407, 1860.4 / 629.5],
    "hem-gmm": [0.374, 0.205, 0.213, 0.417, 0.441, 0.425, 0.416, None],
    "hem-dtm": [0.431, 0.202, 0.252, 0.439, 0.479, 0.454, 0.428, None],
}
TITLE = {"cal500": "Tags of CAL500, first three seconds of each song read off pictures: ours, and in brackets the "
                   "paper's on whole songs",
         "gtzan": "Genres of GTZAN as tags, MFCCs of 15 seconds of each song"}


def without(options, name):
    """The options, names and values in turn, but one."""
    return [w for k in range(0, len(options), 2) if options[k] != name for w in options[k:k + 2]]


def shares_with(estimator):
    """The estimator whose fits of songs it shares; None: it fits its own, or none."""
    if estimator == OURS or estimator.startswith("em"):
        return None
    return estimator if of_textures(estimator) else "ppk-sc" if has_one(estimator) else "vhem"


def options_of(estimator, s, train):
    """Options of the training.  Ours are the sizes and nothing else; ppk-sc, which climbs no bound, does not use tol,
    and textures have no prior."""
    if estimator == OURS:
        return ["--states", s["states"], "--mix", s["mix"], "--hmms", dict(zip(train[::2], train[1::2]))["--hmms"]]
    kind = estimator.removesuffix("-dense").removesuffix("-one")
    unused = "--tol" if kind == "ppk-sc" else "--fit-prior" if of_textures(kind) else None
    return [*without(train, unused), *fit_shape(s, estimator), "--estimator", kind,
            *(["--nv", 1000] if kind.startswith(("vhem", "hem")) else [])]


def measure(x, files, s):
    """Every estimator on every fold: its measures by tag, seconds, and those of the fits of songs."""
    train, estimators, folds = x.config["train"], [*x.config["estimators"], *s.get("also", [])], x.config["folds"]
    first = [e for e in ("vhem", "ppk-sc", "hem-dtm") if e in estimators]
    made = dict(zip(first, x.map(song_store, [(files, s, e, train, e) for e in first])))
    stores = {e: made.get(shares_with(e), (None, 0.0)) for e in estimators}
    options = {e: options_of(e, s, train) for e in estimators}
    jobs = [(files, fold, "sparse" if e == "em-h3m" else "dense", options[e], stores[e][0], ["--top", s["top"]])
            for e in estimators for fold in folds]
    done = x.map(fold_models, jobs)
    parts = {e: done[k * len(folds):(k + 1) * len(folds)] for k, e in enumerate(estimators)}
    return {e: {"tags": by_tag(part, files.tags), "songs": stores[e][1],
                "seconds": stores[e][1] + sum(p["seconds"] for p in part)} for e, part in parts.items()}


def tell(x, name, files, s, found):
    """The table, the t-tests, and the paper's claims."""
    whole = {e: [mean(f["tags"][m]) for m in MEASURES] for e, f in found.items()}
    paper = PAPER if name == "cal500" else {}
    base = found["vhem"]["seconds"]
    rows = [[NAMES[e], *zip([*whole[e], f["seconds"] / base], paper.get(e, [None] * 8)),
             f["songs"] / f["seconds"] if f["songs"] else None, mean(f["tags"][NATS])] for e, f in found.items()]
    if paper and "hem-dtm" not in found:
        rows.append([NAMES["hem-dtm"], *zip([None] * 8, paper["hem-dtm"]), None, None])
    rows.append(["chance", *chance(files, s["top"]), None, None, None])
    shown = 11 if rows[0][-1] is not None else 10
    x.table(name, TITLE[name], ["", *MEASURES, "time over VHEM", "share of it for songs", NATS][:shown],
            [row[:shown] for row in rows])
    others = [e for e in found if e != "vhem"]
    tests = {e: [paired_p(found["vhem"]["tags"][m], found[e]["tags"][m]) for m in MEASURES] for e in others}
    x.table(f"{name}_tests", "VHEM-H3M less the other, and the p-value of a paired t-test over the tags",
            ["", *MEASURES], [[NAMES[e], *(f"{v - o:+.3f} ({p:.2g})" for v, o, p in
                                          zip(whole["vhem"], whole[e], tests[e]))] for e in others])
    if not x.quick:
        claims(x, name, found, whole, tests)
    x.keep(name, {e: {**dict(zip(MEASURES, whole[e])), "seconds": f["seconds"], "songs": f["songs"]}
                  for e, f in found.items()})
    x.keep(f"{name}_tags", {"names": files.tags, **{e: f["tags"]["MAP"] for e, f in found.items()}})
    low = chance(files, s["top"])[list(MEASURES).index("MAP")]
    vhem_map = whole["vhem"][list(MEASURES).index("MAP")]
    x.must(f"{name}: MAP of VHEM, {vhem_map:.3f}, above {s['above']} times chance, {low:.3f}",
           vhem_map > s["above"] * low)


def claims(x, name, found, whole, tests):
    """What the paper says of Table 4."""
    place = name.upper()
    keys = list(MEASURES)
    for e, where in (("ppk-sc", keys), ("ppk-sc-hybrid", keys), ("em-h3m", ["P", "F", "MAP", "P@5", "P@10", "P@15"]),
                     ("hem-gmm", keys)):
        better = [m for m in where if whole["vhem"][keys.index(m)] > whole[e][keys.index(m)]]
        sure = [m for m in better if tests[e][keys.index(m)] < 0.05]
        worse = [m for m in where if m not in better and tests[e][keys.index(m)] < 0.05]
        x.claim(f"{place}: VHEM-H3M above {NAMES[e]} in {', '.join(where)}", len(better) == len(where),
                f"in {len(better)} of {len(where)}, {len(sure)} of them with 95% confidence; below with that "
                f"confidence in {len(worse)}")
    hybrid, plain = (whole[e][keys.index("MAP")] for e in ("ppk-sc-hybrid", "ppk-sc"))
    x.claim(f"{place}: PPK-SC-hybrid above PPK-SC", hybrid > plain, f"MAP {hybrid:.3f} against {plain:.3f}")
    for e, paper in (("em-h3m", 34), ("ppk-sc", 65)):
        share = 100 * found["vhem"]["seconds"] / found[e]["seconds"]
        x.claim(f"{place}: VHEM-H3M takes less time than {NAMES[e]} ({paper}% of it in the paper)", share < 100,
                f"{share:.0f}%", timed=True)
    share = found["vhem"]["songs"] / found["vhem"]["seconds"]
    x.claim(f"{place}: fits of songs are about a third of the time of VHEM-H3M", 0.2 < share < 0.5,
            f"{100 * share:.0f}%", timed=True)


def main():
    x = Experiment("music", __doc__)
    for name, s in x.config["sets"].items():
        files = prepare(x, name, s, x.scratch / name)
        tell(x, name, files, s, measure(x, files, s))
    x.finish()


if __name__ == "__main__":
    main()
