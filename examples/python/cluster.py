# SPDX-License-Identifier: BSD-3-Clause
"""From a table of sequences to models, clusters, a file and a report:  python3 cluster.py motion.csv"""
import pathlib
import sys

import vhem

data = vhem.Sequences.load(sys.argv[1])
models = vhem.fit_each(data, n_states=2, random_state=1)        # one HMM per sequence
found = vhem.VHEM(n_clusters=2, random_state=1).fit(models)     # clusters of HMMs, and their centres

for cluster in range(2):
    print(f"cluster {cluster}:", *[name for name, label in zip(data.names, found.labels_) if label == cluster])
if data.labels:
    print(f"agreement with the labels: {vhem.metrics.agreement(found.labels_, data.labels)['adjusted_rand']:.2f}")

out = pathlib.Path("example-cluster")                           # a folder of its own: no file of yours is replaced
out.mkdir(exist_ok=True)
found.result_.save(out / "clusters.json")                       # vhem info reads it too
found.report(out / "report.html", X=data)
