#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper, which names it as a next step: tags of songs with HMMs that share a background of Gaussians.

The songs, folds and settings of the experiment `music`, VHEM-H3M.  Today's models have Gaussians of their own in every
state; the others have weights of G Gaussians that were fitted once to all frames of the training songs of a fold,
without their tags.  Songs are fitted anew in every fold, since each has its own background; times are of the
background, of the songs and of the tags together, and of giving tags to the songs held out.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Experiment, mean, vhem                                                        # noqa: E402
from music_data import MEASURES, NATS, by_tag, fit_shape, fold_models, paired_p, prepare             # noqa: E402

SHOWN = ["P", "R", "F", "MAP", "P@5", "P@10", "P@15"]


def fold(job):
    """Tag models of one fold.  job: files, their settings, options of the training, Gaussians of the background (0: the
    states have their own), the fold."""
    files, s, train, G, k = job
    shape, own = fit_shape(s, "vhem"), 0.0
    if G:
        background = files.folder / f"background-{G}-{k}.h5"
        _, own = vhem("background", files.data["dense"], "--where", f"fold{k}=train", "-g", G, "-o", background)
        given = dict(zip(shape[::2], shape[1::2]))
        shape = ["--states", given["--states"], "--mixture", given["--mixture"], "--emission",
                 f"gaussian-tied:{background}"]
    done = fold_models((files, k, "dense", [*train, *shape, "--estimator", "vhem", "--nv", 1000], None,
                        ["--top", s["top"]]))
    return {**done, "background": own}


def numbers_of(s, G, d):
    """Numbers that say what the states of one HMM emit."""
    return s["states"] * ((G - 1) if G else s["mix"] * (2 * d + 1) - 1)


def measure(x, name, s):
    files = prepare(x, name, s, x.scratch / name)
    d = 39 if s["derivatives"] else 13
    kinds, folds = [0, *s["gaussians"]], x.config["folds"]
    done = x.map(fold, [(files, s, x.config["train"], G, k) for G in kinds for k in folds])
    found = {}
    for n, G in enumerate(kinds):
        part = done[n * len(folds):(n + 1) * len(folds)]
        found[G] = {"tags": by_tag(part, files.tags), "background": sum(f["background"] for f in part),
                    "seconds": sum(f["seconds"] + f["background"] for f in part), "numbers": numbers_of(s, G, d)}
    return found


def tell(x, name, s, found):
    base = found[0]
    rows = []
    for G, f in found.items():
        title = f"background of {G}" if G else f"Gaussians of their own, {s['mix']} to a state"
        rows.append([title, f["numbers"], *(mean(f["tags"][m]) for m in SHOWN),
                     paired_p(f["tags"]["F"], base["tags"]["F"]) if G else None,
                     paired_p(f["tags"]["MAP"], base["tags"]["MAP"]) if G else None,
                     f["seconds"] / len(x.config["folds"]), f["background"] / f["seconds"] if G else None,
                     mean(f["tags"][NATS])])
    shown = 14 if rows[0][-1] is not None else 13
    x.table(name, f"{name.upper()}, VHEM-H3M with and without a background",
            ["HMMs have", "numbers of emissions", *SHOWN, "p of F", "p of MAP", "seconds a fold",
             "share of it for the background", NATS][:shown], [row[:shown] for row in rows])
    x.keep(name, {str(G): {**{m: mean(f["tags"][m]) for m in MEASURES}, "seconds": f["seconds"],
                           "background": f["background"]} for G, f in found.items()})
    for G, f in found.items():
        x.must(f"{name}: MAP with {G} Gaussians above {s['above']}", mean(f["tags"]["MAP"]) > s["above"])


def main():
    x = Experiment("background", __doc__)
    for name, s in x.config["sets"].items():
        tell(x, name, s, measure(x, name, s))
    x.finish()


if __name__ == "__main__":
    main()
