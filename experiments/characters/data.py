"""The Character Trajectories, half for training and half held out."""
import csv

from arrays import read_npy, write_npy

ARRAY = "character_trajectories/characters.npy"
HINT = ("It is data set 175 of the UCI Machine Learning Repository, 'Character Trajectories', as one array of frames "
        "and characters_index.csv with the columns start, length, char, split, nz_first, nz_length.")


def prepare(source, folder, classes=None):
    """train.npy and test.npy in folder, without the zeros around each trajectory; of some of the classes, or all.
    Returns the columns, and the number of sequences and of characters in each half."""
    rows, d = read_npy(source)
    parts = {"train": [], "test": []}
    with open(source.with_name("characters_index.csv")) as f:
        for r in csv.DictReader(f):
            first = int(r["start"]) + int(r["nz_first"])
            if classes is None or r["char"] in classes:
                parts[r["split"]].append((first, int(r["nz_length"]), {"char": r["char"]}))
    for name, sequences in parts.items():
        write_npy(folder / f"{name}.npy", rows, d, sequences)
    return {"columns": d, **{name: [len(part), len({labels["char"] for _, _, labels in part})]
                             for name, part in parts.items()}}
