#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much the number and the length of the virtual samples matter: Table 6 of the paper, on CAL500 and GTZAN.

Tag models by VHEM as in the experiment `music`, with tau from 2 to the length of a fragment at N_v = 1000, and N_v from
1 to 1000 at tau = 10.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Experiment, mean                                                              # noqa: E402
from music_data import by_tag, chance, fit_shape, fold_models, paired_p, prepare, song_store     # noqa: E402

SHOWN = ["P@5", "P@10", "P@15", "MAP"]
BASE = (10, 1000)                        # tau and N_v of Table 4
PAPER = {                                # P@5 P@10 P@15
    (2, 1000): [0.4656, 0.4437, 0.4236], (5, 1000): [0.4718, 0.4487, 0.4309], (10, 1000): [0.4738, 0.4507, 0.4346],
    (20, 1000): [0.4734, 0.4478, 0.4327], (10, 1): [0.4775, 0.4534, 0.4313], (10, 10): [0.4689, 0.4491, 0.4307],
    (10, 100): [0.4689, 0.4466, 0.4242],
}


def measure(x, files, s):
    """Every setting (tau, N_v) on every fold: measures by tag, and seconds beyond the fits of the songs."""
    train, folds = x.config["train"], x.config["folds"]
    settings = [(tau, BASE[1]) for tau in x.config["tau"]]
    settings += [(BASE[0], nv) for nv in x.config["nv"] if nv != BASE[1]]
    store, fits = song_store((files, s, "vhem", train, "songs"))
    done = x.map(fold_models, [(files, fold, "dense", [*train, *fit_shape(s, "vhem"), "--tau", tau, "--nv", nv], store,
                                ["--top", s["top"]]) for tau, nv in settings for fold in folds])
    parts = {key: done[k * len(folds):(k + 1) * len(folds)] for k, key in enumerate(settings)}
    return {key: {"tags": by_tag(part, files.tags), "seconds": sum(p["seconds"] for p in part)}
            for key, part in parts.items()}, fits


def tell(x, name, files, s, found, fits):
    """The table and the paper's claims."""
    paper = PAPER if name == "cal500" else {}
    whole = {key: [mean(f["tags"][m]) for m in SHOWN] for key, f in found.items()}
    base = found[BASE]["seconds"]
    rows = [[f"tau {tau}, N_v {nv}", *zip(whole[tau, nv], [*paper.get((tau, nv), [None] * 3), None]),
             (fits + f["seconds"]) / (fits + base), f["seconds"] / base] for (tau, nv), f in found.items()]
    low = chance(files, s["top"])
    rows.append(["chance", low[4], low[5], low[6], low[3], None, None])
    x.table(name, f"Virtual samples, {name.upper()}: VHEM-H3M",
            ["", *SHOWN, "time over tau 10, N_v 1000", "the same without the fits of songs"], rows)
    x.keep(name, {"settings": [list(key) for key in found], "measures": list(whole.values()), "songs": fits,
                  "seconds": [f["seconds"] for f in found.values()]})
    x.must(f"{name}: MAP of every setting above chance", all(w[3] > low[3] for w in whole.values()))
    if not x.quick:
        claims(x, name, found, whole, fits)


def claims(x, name, found, whole, fits):
    """What the paper says of Table 6."""
    place, last = name.upper(), max(x.config["tau"])
    for what, keys, paper in (
            ("tau from 2 to 20", [(t, BASE[1]) for t in x.config["tau"] if t <= 20], [0.0082, 0.0070, 0.0110]),
            ("N_v from 1 to 1000", [(BASE[0], n) for n in x.config["nv"]], [0.0086, 0.0068, 0.0104])):
        ranges = [max(whole[k][m] for k in keys) - min(whole[k][m] for k in keys) for m in range(3)]
        p = min(paired_p(found[a]["tags"][m], found[BASE]["tags"][m]) for a in keys if a != BASE for m in SHOWN)
        x.claim(f"{place}: P@5, P@10 and P@15 vary little with {what}, by less than 0.02 (ranges of "
                f"{', '.join(map(str, paper))} in the paper)", max(ranges) < 0.02,
                f"ranges of {', '.join(f'{r:.3f}' for r in ranges)}; smallest p-value of a setting against tau 10, "
                f"N_v 1000: {p:.2g}")
    long, short = whole[last, BASE[1]], whole[BASE]
    more = (fits + found[last, BASE[1]]["seconds"]) / (fits + found[BASE]["seconds"]) - 1
    x.claim(f"{place}: tau = {last} no better than 10 (by 0.01 or more)",
            all(a < b + 0.01 for a, b in zip(long[:3], short[:3])),
            "P@5, P@10, P@15: " + ", ".join(f"{a:.3f} against {b:.3f}" for a, b in zip(long[:3], short[:3])))
    x.claim(f"{place}: tau = {last} takes longer (84% in the paper)", more > 0, f"{100 * more:.0f}%", timed=True)


def main():
    x = Experiment("robustness", __doc__)
    for name, s in x.config["sets"].items():
        files = prepare(x, name, s, x.scratch / name)
        tell(x, name, files, s, *measure(x, files, s))
    x.finish()


if __name__ == "__main__":
    main()
