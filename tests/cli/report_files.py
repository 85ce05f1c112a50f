# SPDX-License-Identifier: BSD-3-Clause
"""Result files for the tests of reports, written out by hand: no number in them depends on a computation."""
import json
import math


def center(name, x, y, stay=0.8):
    """Two states in the plane, the second as far above the first as that is to the right of the middle."""
    return {"name": name, "S": 2, "M": 1, "pi": [0.75, 0.25], "A": [[stay, 1 - stay], [0.5, 0.5]], "c": [[1], [1]],
            "mu": [[[x, y]], [[x, y + 2]]], "cov": [[[0.25, 0.09]], [[0.04, 0.16]]]}


def models(hmms, d=2):
    return {"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d,
            "omega": [1 / len(hmms)] * len(hmms), "hmms": hmms}


def clustering(names, labels, K, **more):
    z = [[1.0 if j == label else 0.0 for j in range(K)] for label in labels]
    L = [[-20.0 - i - 10 * abs(j - label) for j in range(K)] for i, label in enumerate(labels)]
    return {"format": "vhem-clustering", "version": 1, "method": "vhem", "options": {"tau": 10, "K": K},
            "names": names, "labels": labels, "z": z, "L_hmm": L, "bound": [-900.0, -650.5, -600.25], "n_iter": 2,
            "converged": True,
            "restarts": [{"seed": 1, "bound": -600.25, "n_iter": 2, "converged": True, "init": "base", "finished": True},
                         {"seed": 2, "bound": -630.0, "n_iter": 4, "converged": True, "init": "far", "finished": True},
                         {"seed": 3, "bound": -700.0, "n_iter": 1, "converged": False, "init": "far", "finished": False}],
            "centers": models([center(f"cluster_{j}", 3.0 * j, j % 2) for j in range(K)]), **more}


NAMES = ["ant", "bee", "cat", "dog", "elk", "fox"]
KINDS = ["insect", "insect", "mammal", "mammal", "mammal", ""]


def tree(names=NAMES):
    """Six models in three clusters, the first two of them in one above."""
    low = clustering(names, [0, 0, 1, 1, 2, 2], 3)
    low["z"][3] = [0.25, 0.75, 0.0]
    high = clustering(["cluster_0", "cluster_1", "cluster_2"], [0, 0, 1], 2)
    low["base_labels"], high["base_labels"] = low["labels"], [0, 0, 0, 0, 1, 1]
    return {"format": "vhem-tree", "version": 1, "levels": [low, high],
            "provenance": {"program": "vhem", "version": "0.1.0", "command": "tree", "input": "m.json",
                           "options": {"clusters": "3,2", "tau": 10, "no-repair": False, "weighted-omega": True},
                           "seed": 7, "backend": "ref"}}


def base_models(names=NAMES, kinds=KINDS):
    return models([{**center(name, 3.0 * (i // 2), 0.1 * i), "label": kind}
                   for i, (name, kind) in enumerate(zip(names, kinds))])


def sequences(names=NAMES, frames=24):
    rows = ["id,x,y"]
    for i, name in enumerate(names):
        for t in range(frames):
            rows.append(f"{name},{3 * (i // 2) + 0.3 * math.sin(t):.3f},{(t // 6 % 2) * 2 + 0.1 * math.cos(3 * t):.3f}")
    return "\n".join(rows) + "\n"


def large(Kb=3000, K=20):
    """Thousands of models, not all of them sure where they belong."""
    labels = [(i * 7) % K for i in range(Kb)]
    low = clustering([f"sequence number {i:05d}" for i in range(Kb)], labels, K)
    for i in range(0, Kb, 3):
        low["z"][i][labels[i]] -= 0.4
        low["z"][i][(labels[i] + 1) % K] += 0.4
    high = clustering([f"cluster_{j}" for j in range(K)], [j % 4 for j in range(K)], 4)
    low["base_labels"], high["base_labels"] = labels, [label % 4 for label in labels]
    return {"format": "vhem-tree", "version": 1, "levels": [low, high]}


def write(case, name, value):
    return case.write(name, value if isinstance(value, str) else json.dumps(value))
