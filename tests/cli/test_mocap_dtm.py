# SPDX-License-Identifier: BSD-3-Clause
"""Motion capture with dynamic textures (paper, Section 5.2): 56 motions of 8 classes, state dimension 7, HEM-DTM in a
tree of 8, 4 and 2 clusters.  The data are not part of this repository; without them: skipped."""
import sys
import unittest

from support import Case
from test_mocap import MOCAP

PAPER = {8: 0.897, 4: 0.661, 2: 0.412}


class MocapTextures(Case):
    def test_tree(self):
        self.ok("fit", MOCAP, "--where", "in56=1", "--label", "cls", "--model", "dtm", "-S", "7", "--seed", "1", "-o",
                "dt.json")
        report = self.ok("tree", "dt.json", "--method", "hem-dtm", "-k", "8,4,2", "-r", "4", "--seed", "1", "-o",
                         "t.json", "--json").json()
        rand = {level["K"]: level["agreement"]["rand"] for level in report["levels"]}
        print("clusters  Rand index  in the paper")
        for K, want in PAPER.items():
            print(f"{K:8}  {rand[K]:10.3f}  {want:12.3f}")
        self.assertEqual(report["levels"][0]["Kb"], 56)
        self.assertGreater(rand[8], 0.85)
        self.assertGreater(rand[4], 0.6)
        self.assertGreater(rand[2], 0.35)


if __name__ == "__main__":
    if not MOCAP.exists():
        print(f"skipped: {MOCAP} is not there")
        sys.exit(77)
    unittest.main()
