# SPDX-License-Identifier: BSD-3-Clause
"""Motion capture, the first experiment of the paper (Section 5.2): 56 motions of 8 classes, a tree of 8, 4 and 2
clusters.  The data are not part of this repository; VHEM_DATA names the folder they are in.  Without them: skipped."""
import os
import pathlib
import sys
import unittest

from support import SOURCE, Case

DATA = pathlib.Path(os.environ.get("VHEM_DATA", SOURCE / ".." / "shared" / "data")).resolve()
MOCAP = DATA / "cmu_mocap" / "mocap_xyz_local.npy"
PAPER = {8: 0.937, 4: 0.811, 2: 0.518}


class Mocap(Case):
    def test_tree(self):
        self.ok("fit", MOCAP, "--where", "in56=1", "--label", "cls", "-S", "4", "-M", "2", "--seed", "1", "-o",
                "m.json")
        report = self.ok("tree", "m.json", "-k", "8,4,2", "--seed", "1", "-o", "t.json", "--json").json()
        rand = {level["K"]: level["agreement"]["rand"] for level in report["levels"]}
        print("clusters  Rand index  in the paper")
        for K, want in PAPER.items():
            print(f"{K:8}  {rand[K]:10.3f}  {want:12.3f}")
        self.assertEqual(len(report["levels"][0]["clusters"]), 8)
        self.assertEqual(report["levels"][0]["Kb"], 56)
        self.assertGreater(rand[8], 0.85)
        self.assertGreater(rand[4], 0.65)
        self.assertGreater(rand[2], 0.35)


if __name__ == "__main__":
    if not MOCAP.exists():
        print(f"skipped: {MOCAP} is not there")
        sys.exit(77)
    unittest.main()
