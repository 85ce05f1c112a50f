#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Beyond Table 4 of the paper: which features and which models suit the tags, and what the states of an HMM are worth
to VHEM and to EM.

One HMM to a song, three of the five folds of the experiment `music`.  The last table keeps the number of Gaussians of
an HMM and deals them to more and more states: what an estimator gains by that, it gains from the order of frames.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Experiment, mean                                                              # noqa: E402
from music_data import NATS, by_tag, fit_shape, fold_models, paired_p, prepare, song_store             # noqa: E402

SHOWN = ["F", "MAP", "P@5", "P@10", "P@15"]


def variant(job):
    """One way to do it, on all folds: the measures by tag, and seconds.  job: files, their settings, options of the
    training, estimator, folds, a name."""
    files, s, train, estimator, folds, name = job
    takes_models = estimator != "em-h3m"
    store, fits = song_store((files, s, estimator, train, name)) if takes_models else (None, 0)
    options = [*train, *fit_shape(s, estimator), "--estimator", estimator, *(["--nv", 1000] if takes_models else [])]
    done = [fold_models((files, fold, "dense" if takes_models else "sparse", options, store, ["--top", s["top"]]))
            for fold in folds]
    if store:
        store.unlink()
    return by_tag(done, files.tags), fits + sum(f["seconds"] for f in done)


def run(x, name, ways):
    """variant of every way: a change of the settings, options, an estimator.  The same features share files."""
    files, jobs = {}, []
    for n, (change, options, estimator) in enumerate(ways):
        s = {**x.config["sets"][name], **change}
        kind = f"{name}-{s['derivatives']}-{s.get('normalise')}"
        if kind not in files:
            files[kind] = prepare(x, name, s, x.scratch / f"{kind}-{len(ways)}")
        train = [*x.config["train"], *options]
        train = [word for pair in dict(zip(train[::2], train[1::2])).items() for word in pair]   # the last one counts
        jobs.append((files[kind], s, train, estimator, x.config["folds"], f"way{n}"))
    return x.map(variant, jobs)


def features(x, name):
    """Each variant beside the first."""
    rows = x.config["variants"][name]
    found = run(x, name, [(change, options, "vhem") for _, change, options in rows])
    base = found[0]
    against = [None, *(paired_p(tags["MAP"], base[0]["MAP"]) for tags, _ in found[1:])]
    x.table(name, f"Ways to do it, {name.upper()}, VHEM-H3M", ["", *SHOWN, "p-value of MAP against the first", "time"],
            [[title, *(mean(tags[m]) for m in SHOWN), p, seconds / base[1]]
             for (title, _, _), (tags, seconds), p in zip(rows, found, against)])
    x.must(f"{name}: MAP of the first way above 0.3", mean(base[0]["MAP"]) > 0.3)


def states(x, name="gtzan"):
    """VHEM and EM-H3M with as many Gaussians in fewer and in more states."""
    shapes = x.config["shapes"]
    keys = [(S, M, e) for S, M in shapes for e in ("vhem", "em-h3m")]
    found = run(x, name, [({"states": S, "mix": M}, [], e) for S, M, e in keys])
    value = {(S, e): tags for (S, _, e), (tags, _) in zip(keys, found)}
    both = [(m, e) for m in ("MAP", "F", NATS) for e in ("vhem", "em-h3m")]
    x.table("states", f"{shapes[0][0] * shapes[0][1]} Gaussians in so many states, {name.upper()}: VHEM-H3M and EM-H3M",
            ["states", *(f"{m}, {'VHEM' if e == 'vhem' else 'EM'}" for m, e in both), "p-value of the MAPs"],
            [[S, *(mean(value[S, e][m]) for m, e in both),
              paired_p(value[S, "vhem"]["MAP"], value[S, "em-h3m"]["MAP"])] for S, _ in shapes])


def main():
    x = Experiment("music_settings", __doc__)
    for name in x.config["sets"]:
        features(x, name)
    states(x)
    x.finish()


if __name__ == "__main__":
    main()
