# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic HMMs of the paper's Section 5.3: four originals, and sequences of their noisy versions."""
import csv
import json
import random

PI = [1 / 3, 1 / 3, 1 / 3]
A = [[0.8, 0.1, 0.1], [0.2, 0.8, 0], [0, 0.2, 0.8]]
T = 100
# experiment: (means of the three states, variance) of each of the four original HMMs
ORIGINALS = {
    "a": [([1, 2, 3], 0.5), ([3, 2, 1], 0.5), ([1, 2, 2], 0.5), ([1, 3, 3], 0.5)],
    "b": [([1, 2, 3], 0.5), ([1, 2, 3], 0.1), ([1, 2, 3], 1.0), ([1, 2, 3], 0.05)],
}
CLASSES = ["M1", "M2", "M3", "M4"]


def save(hmms, path):
    """A model file, all HMMs of equal weight; returns its path."""
    path.write_text(json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1,
                                "omega": [1 / len(hmms)] * len(hmms), "hmms": hmms}))
    return path


def load(path):
    return json.loads(path.read_text())["hmms"]


def originals(experiment, noise=0.0):
    """The four HMMs; with noise, those that the noisy sequences come from."""
    return [{"name": name, "label": name, "S": 3, "M": 1, "pi": PI, "A": A, "c": [[1]] * 3, "mu": [[[m]] for m in mu],
             "cov": [[[var + noise]]] * 3} for name, (mu, var) in zip(CLASSES, ORIGINALS[experiment])]


def write_noisy(experiment, K, noise, seed, path):
    """K sequences from each original HMM, each with Gaussian noise of this variance added."""
    rng = random.Random(f"{experiment} {K} {noise} {seed}")
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["id", "label", "y"])
        for name, (mu, var) in zip(CLASSES, ORIGINALS[experiment]):
            for k in range(K):
                state = rng.choices(range(3), PI)[0]
                for _ in range(T):
                    y = rng.gauss(mu[state], var ** 0.5) + rng.gauss(0, noise ** 0.5)
                    out.writerow([f"{name}_{k}", name, repr(y)])
                    state = rng.choices(range(3), A[state])[0]
