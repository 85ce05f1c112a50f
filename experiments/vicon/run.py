#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchy of 200 recordings of 20 activities by 10 people: the paper's Table 3.

One HMM per recording, clustered into 20, 8, 4 and 2 groups by VHEM, PPK-SC and others.  A trial fits its HMMs anew.
Then: what do 20 groups follow, the activity or the person, and which form of the data shows the activity.
"""
import array
import collections
import csv
import math
import operator
import pathlib
import statistics
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from arrays import parse_npy, write_rows  # noqa: E402
from common import Experiment, vhem  # noqa: E402
from hierarchy import (averages, collect, fit, grow, rand_and_adjusted, same_seeds, tables,  # noqa: E402
                       write_truth)

# at 20, 8, 4 and 2 clusters
PAPER = {
    "VHEM-H3M": {"rand": [0.909, 0.805, 0.610, 0.244], "loglik": [-1.494, -3.820, -5.087, -6.172],
                 "compact": [0.224, 0.059, 0.020, 0.005]},
    "PPK-SC": {"rand": [0.900, 0.807, 0.452, 0.092], "loglik": [-3.857, -5.594, -6.163, -6.643],
               "compact": [0.324, 0.081, 0.026, 0.008]},
}
D = 27                                   # nine markers, x y z


def read_frames(source):
    """All numbers of the array X in an .npz, row after row."""
    with zipfile.ZipFile(source) as archive:
        return parse_npy(archive.read("X.npy"), source)[0]


def fill(column, gone):
    """Puts straight lines where nothing was seen, and holds the first and the last that was."""
    seen = [t for t in range(len(column)) if t not in gone]
    for a, b in zip([None, *seen], [*seen, None]):
        for t in range(0 if a is None else a + 1, len(column) if b is None else b):
            known = column[b] if a is None else column[a]
            column[t] = known if a is None or b is None else known + (column[b] - known) * (t - a) / (b - a)


def columns_of(frames, row):
    """The D columns of a recording.  A marker out of sight is written 0 0 0, which is filled."""
    first, last = int(row["start"]) * D, (int(row["start"]) + int(row["length"])) * D
    columns = [frames[first + k:last:D] for k in range(D)]
    for k in range(0, D, 3):
        gone = {t for t, point in enumerate(zip(*columns[k:k + 3])) if not any(point)} if 0 in columns[k] else set()
        for column in columns[k:k + 3] if 0 < len(gone) < len(columns[k]) else []:
            fill(column, gone)
    return columns


FORMS = {
    "positions": lambda column: column,
    "positions less their mean": lambda column: map((-statistics.fmean(column)).__add__, column),
    "velocities": lambda column: map(operator.sub, column[1:], column),
}


def prepare(x, frames, rows, form, stride):
    """The recordings in this form, as an array with its index, in the folder of the run."""
    values, index = array.array("f"), []
    for row in rows:
        columns = [array.array("f", FORMS[form](column[::stride])) for column in columns_of(frames, row)]
        part = array.array("f", bytes(4 * D * len(columns[0])))
        for k, column in enumerate(columns):
            part[k::D] = column
        index.append({**row, "start": len(values) // D, "length": len(columns[0])})
        values.extend(part)
    out = x.scratch / f"{form.replace(' ', '-')}-{stride}.npy"
    write_rows(out, values, D)
    with open(out.with_name(out.stem + "_index.csv"), "w", newline="", encoding="utf-8") as f:
        table = csv.DictWriter(f, index[0].keys())
        table.writeheader()
        table.writerows(index)
    return out


def run_task(x, data, folder, options, methods, trials):
    """All methods on one form of the data."""
    folder.mkdir()
    task = {"data": [data, "--label", "activity"], "levels": x.config["levels"], "fit": {**x.config["fit"], **options},
            "defaults": "VHEM-H3M, our defaults" in methods, "tree": x.config["tree"], "folder": folder, "truth": folder / "truth.csv"}
    seeds = range(1, trials + 1)
    x.map(fit, [(task, seed) for seed in seeds])
    hmms = write_truth(task, 1)
    x.check("recordings, activities, dimensions",
            (len(hmms), len({h["label"] for h in hmms}), len(hmms[0]["mu"][0][0])), (200, 20, D))
    return task, collect(x.map(grow, [(task, name, seed) for name in methods for seed in seeds]))


def by_chance(K, sizes):
    """The Rand index to expect of K equal groups dealt at random, for classes of these sizes."""
    n = sum(sizes)
    pairs, within = math.comb(n, 2), sum(math.comb(s, 2) for s in sizes)
    group = K * (n / K) * (n / K - 1) / 2
    return 1 - (within + group) / pairs + 2 * within * group / pairs ** 2


def forms(x, frames, rows):
    """What the groups of the first level follow, activity or person, by form of the data and width of the models."""
    subject, table, c = x.scratch / "subject.csv", [], x.config
    subject.write_text("name,label\n" + "".join(f"{r['seq']},{r['subject']}\n" for r in rows))
    for number, (form, floor) in enumerate(c["forms"]):
        data = prepare(x, frames, rows, form, c["form_stride"])
        _, runs = run_task(x, data, x.scratch / f"form-{number}", {"cov-floor": floor}, c["form_methods"],
                           c["form_trials"])
        for name, found in runs.items():
            people = vhem("eval", *[r["file"] for r in found], "--truth", subject)[0]["levels"][0]["measures"]
            own = name == "VHEM-H3M, our defaults"
            if own and any(row[0] == form and row[2] == name for row in table):
                continue                 # they know no floor of ours
            table.append([form, "-" if own else str(floor), name, *rand_and_adjusted(found),
                          averages(found, "compactness")[0], people["adjusted_rand"]["mean"]])
    first = c["levels"][0]
    x.table("forms", f"Forms of the data and floors of the variances, every {c['form_stride']}th frame",
            ["data", "floor", "method", *[f"{what}, {k}" for k in c["levels"] for what in ("Rand", "ARI")],
             f"compactness, {first}", f"ARI with persons, {first}"], table, f"Means over {c['form_trials']} trials.")
    return table


def claims(x, runs, p):
    """What the paper says of Table 3."""
    ppk, base = same_seeds(runs, "PPK-SC")

    def both(key):
        return list(zip(averages(base, key), averages(ppk, key)))

    def say(pairs, digits=3):
        return ", ".join(f"{v:.{digits}g} against {o:.{digits}g}" for v, o in pairs)
    rand, loglik, compact = both("rand"), [(v / 1e6, o / 1e6) for v, o in both("loglik")], both("compactness")
    x.claim("VHEM-H3M and PPK-SC alike in Rand index at levels 2 and 3 (within 0.02)",
            all(abs(v - o) < 0.02 for v, o in rand[:2]), say(rand[:2]))
    x.claim("VHEM-H3M above PPK-SC in Rand index at levels 4 and 5", all(v > o for v, o in rand[2:]), say(rand[2:]))
    x.claim("Differences significant at 95% at levels 2, 4 and 5",
            all(p["PPK-SC"][k] is not None and p["PPK-SC"][k] < 0.05 for k in (0, 2, 3)),
            "p " + ", ".join("-" if v is None else f"{v:.2g}" for v in p["PPK-SC"]))
    x.claim("VHEM-H3M above PPK-SC in log-likelihood at every level", all(v > o for v, o in loglik), say(loglik, 4))
    x.claim("PPK-SC above VHEM-H3M in compactness at every level", all(v < o for v, o in compact), say(compact))


def main():
    x = Experiment("vicon", __doc__)
    hint = ("It is the Vicon Physical Action Data Set of the UCI repository, archive.ics.uci.edu, its 200 text files "
            "in one array with an index; see docs/reproduction.md.")
    frames = read_frames(x.data("vicon_physical_action/vicon.npz", hint))
    with open(x.data("vicon_physical_action/vicon_index.csv", hint), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    x.check("frames, numbers", (sum(int(r["length"]) for r in rows), len(frames)), (605381, 605381 * D))
    c = x.config
    data = prepare(x, frames, rows, "positions", c["stride"])
    task, runs = run_task(x, data, x.scratch / "main", {}, c["methods"], c["trials"])
    p = tables(x, task, runs, PAPER, {})
    sizes = collections.Counter(r["activity"] for r in rows).values()
    chance = [by_chance(K, sizes) for K in c["levels"]]
    x.table("chance", "Rand index of K equal groups dealt at random", ["groups", *map(str, c["levels"])],
            [["by chance", *chance], ["VHEM-H3M here", *averages(runs["VHEM-H3M"], "rand")],
             ["VHEM-H3M in the paper", *PAPER["VHEM-H3M"]["rand"]]])
    table = forms(x, frames, rows)
    scaled = [float(str(row[4]).split()[0]) for row in table
              if row[:3] == ["velocities", "0.0001", "PPK-SC, scaled kernel"]]
    x.must("VHEM-H3M: log-likelihood above that of PPK-SC with members as centres at the first level",
           averages(runs["VHEM-H3M"], "loglik")[0] > averages(runs["PPK-SC, members as centres"], "loglik")[0])
    x.must("velocities: adjusted Rand index of the scaled kernel above 0.1", scaled and min(scaled) > 0.1)
    if not x.quick:
        claims(x, runs, p)
    x.finish()


if __name__ == "__main__":
    main()
