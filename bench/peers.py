#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of README: packages that pip installs, on sequences with known kinds, told the number of kinds.

    pip install vhem-*.whl hmmlearn tslearn aeon
    bench/peers.py                          the data sets of vhem.datasets
    bench/peers.py BasicMotions_TRAIN.ts BasicMotions_TEST.ts

Prints the adjusted Rand index over SEEDS seeds, mean and lowest, and the seconds of processor time of one run, after a first run that
compiles what is to be compiled.  hmmlearn does not cluster: here one model is fitted to each sequence, with the settings of its
documentation, and spectral clustering divides the log-likelihoods that models give to sequences.
"""
import sys
import time

import numpy as np
import vhem
from sklearn.metrics import adjusted_rand_score

SEEDS = 5


def with_vhem(data, k, seed):
    return vhem.cluster(data.with_groups(None), n_clusters=k, random_state=seed).labels_


def with_hmmlearn(data, k, seed):
    import logging

    from hmmlearn.hmm import GaussianHMM
    from sklearn.cluster import SpectralClustering
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    models = [GaussianHMM(3, n_iter=100, random_state=seed).fit(y) for y in data]
    score = np.array([[m.score(y) / len(y) for y in data] for m in models])
    far = score.diagonal() - score
    far = np.maximum(far + far.T, 0) / 2
    near = np.exp(-far / np.median(far))
    return SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(near)


def with_tslearn(data, k, seed):
    from tslearn.clustering import TimeSeriesKMeans
    from tslearn.utils import to_time_series_dataset
    X = to_time_series_dataset(list(data))
    return TimeSeriesKMeans(k, metric="dtw", n_jobs=1, random_state=seed).fit_predict(X)


def with_aeon(data, k, seed):
    from aeon.clustering import KASBA
    if len(set(data.lengths)) > 1:
        raise ValueError("needs sequences of one length")
    return KASBA(k, random_state=seed).fit_predict(np.array([y.T for y in data]))


def rows(name, data):
    k = len(set(data.labels))
    print(f"{name}: {len(data)} sequences, {k} kinds")
    for method in (with_vhem, with_hmmlearn, with_tslearn, with_aeon):
        try:
            method(data, k, 0)
            start = time.process_time()
            found = [adjusted_rand_score(data.labels, method(data, k, seed)) for seed in range(SEEDS)]
            took = (time.process_time() - start) / SEEDS
            print(f"  {method.__name__[5:]:9} ARI {np.mean(found):.2f} ({min(found):.2f})  {took:8.2f} s", flush=True)
        except (ImportError, ValueError) as error:
            print(f"  {method.__name__[5:]:9} {str(error).splitlines()[0][:90]}", flush=True)


def main(paths):
    if paths:
        parts = [vhem.Sequences.load(path) for path in paths]
        rows(paths[0], vhem.Sequences.from_arrays([y for part in parts for y in part],
                                                  labels=[label for part in parts for label in part.labels]))
    else:
        rows("gaze", vhem.datasets.load_gaze())
        rows("motions", vhem.datasets.load_motions())


if __name__ == "__main__":
    main(sys.argv[1:])
