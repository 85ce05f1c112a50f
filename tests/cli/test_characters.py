# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten characters, as in the paper's Section 6: skipped without the data."""
import sys
import unittest

from support import SOURCE, Case

sys.path[:0] = [str(SOURCE / "experiments"), str(SOURCE / "experiments" / "characters")]

import data
from common import DATA, SKIPPED


class Characters(Case):
    def setUp(self):
        super().setUp()
        data.prepare(DATA / data.ARRAY, self.dir)

    def judge(self, *more):
        self.ok("classify", "train", "train.npy", "--label", "char", "--states", 4, "--chunk", 3, "--fit-restarts", 1,
                "--fit-prior", "none", "--fit-tol", 1e-3, "--restarts", 1, "--seed", 1, *more, "--store", "s", "-o", "m.json")
        return self.ok("classify", "eval", "m.json", "test.npy", "--label", "char", "--fast", 3,
                       "--json").json()["summary"]

    def test_estimators(self):
        found = {name: self.judge("--estimator", name, *more)
                 for name, *more in (["vhem", "--nv", 10], ["em-h3m", "--tol", 1e-3], ["ppk-sc"], ["hem-gmm"])}
        self.assertEqual({s["judged"] for s in found.values()}, {1429})
        self.assertGreater(found["vhem"]["accuracy"], 0.82)          # the paper has 0.65, 0.71, 0.65
        self.assertGreater(found["em-h3m"]["accuracy"], 0.82)
        self.assertGreater(found["ppk-sc"]["accuracy"], 0.75)
        self.assertGreater(found["vhem"]["accuracy"], found["hem-gmm"]["accuracy"])      # time matters
        self.assertGreater(found["vhem"]["P@3"], 0.9)
        self.assertLess(found["vhem"]["fast_scored"], 0.6)
        self.assertGreater(found["vhem"]["fast_accuracy"], found["vhem"]["accuracy"] - 0.05)


if __name__ == "__main__":
    if not (DATA / data.ARRAY).exists():
        print("skipped: no character trajectories", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
