# SPDX-License-Identifier: BSD-3-Clause
"""Every file is reduced by itself, and the centres are clustered."""
import json
import unittest

from support import Case
from test_checkpoint import models


class FirstReduce(Case):
    def setUp(self):
        super().setUp()
        self.write("m.json", models(240, 2))
        self.ok("convert", "m.json", "--shards", 3, "-o", "shards", "-q")

    def test_clusters(self):
        most = ["-k", 4, "--first-reduce", 12, "-q", "--seed", 2, "-r", 10]
        self.ok("cluster", "shards", *most, "-o", "a.json")
        self.ok("cluster", "shards", *most, "-t", 2, "-o", "b.json")
        self.assertEqual(self.path("a.json").read_bytes(), self.path("b.json").read_bytes())
        found = json.loads(self.path("a.json").read_text())
        self.assertEqual((len(found["labels"]), found["Kb"] if "Kb" in found else 240), (240, 240))
        self.assertNotIn("z", {key for key, value in found.items() if value is not None})
        self.assertEqual(found["options"]["first_reduce"], 12)
        # models i and i + 4 come from one of four places, 3 apart
        groups = [max(set(x), key=x.count) for x in (found["labels"][k::4] for k in range(4))]
        self.assertEqual(len(set(groups)), 4, groups)
        right = sum(found["labels"][i] == groups[i % 4] for i in range(240))
        self.assertGreater(right, 200)
        self.assertEqual(self.ok("info", "a.json").code, 0)
        self.ok("tree", "shards", "-k", "4,2", "--first-reduce", 12, "-q", "-r", 4, "-o", "t.json")
        self.ok("cluster", "m.json", *most, "-o", "one.json")  # one file
        self.ok("report", "a.json", "-o", "r.html", "-q")
        self.ok("assign", "a.json", "m.json", "-o", "x.tsv", "-q")

    def test_wrong(self):
        self.fails(1, "9 clusters of 6 centres: --first-reduce 2 must be larger", "cluster", "shards", "-k", 9, "--first-reduce", 2, "-o", "o.json")
        self.fails(2, "first-reduce", "cluster", "shards", "-k", 2, "--first-reduce", 0, "-o", "o.json")
        self.fails(2, "first-reduce", "cluster", "shards", "-k", 2, "--method", "kl-sc", "--first-reduce", 5, "-o", "o.json")


if __name__ == "__main__":
    unittest.main()
