# SPDX-License-Identifier: BSD-3-Clause
"""Classes of sequences by models of HMMs and of dynamic textures, cross-validated:  python3 classify.py motion.csv"""
import sys

import vhem

data = vhem.Sequences.load(sys.argv[1])                         # a column "label" has the classes
for model in ("hmm", "dtm"):
    classifier = vhem.HMMClassifier(model=model, n_components=1, n_states=2, random_state=1)
    judged = classifier.cross_validate(data, folds=3).judge()
    print(f"{model}: {judged.accuracy:.2f} of {judged.n} right")
    for name, row in zip(judged.names, judged.confusion):
        print(f"    {name}: {dict(zip(judged.names, row.tolist()))}")
