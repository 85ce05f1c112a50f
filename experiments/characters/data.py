# SPDX-License-Identifier: BSD-3-Clause
"""The Character Trajectories, half for training and half held out."""
import array
import csv

from arrays import read_npy, write_npy

ARRAY = "character_trajectories/characters.npy"
HINT = ("It is data set 175 of the UCI Machine Learning Repository, 'Character Trajectories', as one array of frames "
        "and characters_index.csv with the columns start, length, char, split, nz_first, nz_length.")


def summed(rows, d, sequences):
    """The path of the pen: velocities x and y added up from the start of each trajectory; its force as it is."""
    path = array.array("d", rows)
    for first, length, _ in sequences:
        for at in range(d * (first + 1), d * (first + length), d):
            path[at] += path[at - d]
            path[at + 1] += path[at - d + 1]
    return path


def prepare(source, folder, classes=None, other_forms=False):
    """train.npy and test.npy in folder, without the zeros around each trajectory; of some of the classes, or all.
    Other forms: padded-train.npy with the zeros, path-train.npy with places instead of velocities, and so for test.
    Returns the columns, and the number of sequences and of characters in each half."""
    rows, d = read_npy(source)
    parts, padded = {"train": [], "test": []}, {"train": [], "test": []}
    with open(source.with_name("characters_index.csv")) as f:
        for r in csv.DictReader(f):
            if classes is None or r["char"] in classes:
                start, label = int(r["start"]), {"char": r["char"]}
                parts[r["split"]].append((start + int(r["nz_first"]), int(r["nz_length"]), label))
                padded[r["split"]].append((start, int(r["length"]), label))
    for name, sequences in parts.items():
        write_npy(folder / f"{name}.npy", rows, d, sequences)
        if other_forms:
            write_npy(folder / f"padded-{name}.npy", rows, d, padded[name])
            write_npy(folder / f"path-{name}.npy", summed(rows, d, sequences), d, sequences)
    return {"columns": d, **{name: [len(part), len({labels["char"] for _, _, labels in part})]
                             for name, part in parts.items()}}
