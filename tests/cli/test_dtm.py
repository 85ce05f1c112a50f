# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic textures at the command line: fit, cluster, tree, assign, score, sample, info, convert, their sentences,
their page and their example."""
import json
import math
import os
import random
import re
import shlex
import subprocess
import unittest

from support import SOURCE, VHEM, Case, same_partition


def swings(n=10, T=50, seed=1):
    """Circles run through slowly and fast, as long CSV."""
    rng = random.Random(seed)
    lines = ["id,label,x,y,z"]
    for s in range(n):
        w, p = (0.3 if s % 2 else 0.9), 6 * rng.random()
        for t in range(T):
            a, b = math.sin(w * t + p), math.cos(w * t + p)
            cells = [a, b, a - b]
            lines.append(f"s{s},{'slow' if s % 2 else 'fast'}," +
                         ",".join(str(c + rng.gauss(0, 0.1)) for c in cells))
    return "\n".join(lines) + "\n"


class Textures(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", swings())

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def fit(self, *more, out="dt.json"):
        return self.ok("fit", "d.csv", "--model", "dtm", "-S", "2", *more, "-o", out)

    def test_fit(self):
        r = self.fit("--json")
        self.assertEqual(len(r.json()["models"]), 10)
        dt = self.load("dt.json")
        self.assertEqual(dt["format"], "vhem-dtm")
        self.assertEqual([t["name"] for t in dt["textures"]], [f"s{i}" for i in range(10)])
        self.assertEqual(dt["textures"][0]["label"], "fast")
        self.assertNotIn("topology", dt["provenance"]["options"])
        angle = [math.acos(max(-1, min(1, (t["A"][0][0] + t["A"][1][1]) / 2))) for t in dt["textures"]]
        for i, w in enumerate(angle):                                        # A turns as fast as the circle
            self.assertAlmostEqual(w, 0.3 if i % 2 else 0.9, delta=0.1)
        svd = r.json()["models"]
        em = self.fit("--learn", "em", "--json").json()["models"]
        for a, b in zip(svd, em, strict=True):
            self.assertGreater(b["loglik"], a["loglik"])

    def test_cluster_and_tree(self):
        self.fit()
        self.ok("cluster", "dt.json", "--method", "hem-dtm", "-k", "2", "-r", "4", "-o", "c.json")
        c = self.load("c.json")
        self.assertEqual((c["method"], c["centers"]["format"]), ("hem-dtm", "vhem-dtm"))
        self.assertTrue(same_partition(c["labels"], [i % 2 for i in range(10)]))
        self.assertTrue(all(b >= a - 1e-9 * abs(a) for a, b in zip(c["bound"], c["bound"][1:])))
        self.ok("tree", "dt.json", "-k", "3,2", "-r", "4", "-o", "t.json", "--threads", "1")
        self.ok("tree", "dt.json", "-k", "3,2", "-r", "4", "-o", "t3.json", "--threads", "3")
        self.assertEqual(self.path("t.json").read_bytes(), self.path("t3.json").read_bytes())
        for what in ("d.csv", "dt.json"):
            rows = self.ok("assign", "t.json", what).rows()
            self.assertTrue(same_partition([r["cluster2"] for r in rows], [r["label"] for r in rows]), what)
        for name in ("c.json", "t.json", "dt.json"):
            self.assertIn("texture", self.ok("info", name).out)
        self.assertIn("Rand index", self.ok("eval", "c.json", "--truth", "d.csv").out)
        self.ok("cluster", "dt.json", "--init", "c.json", "--max-iter", "0", "-o", "again.json")
        self.assertEqual(self.load("again.json")["centers"]["textures"][0]["A"], c["centers"]["textures"][0]["A"])

    def test_files_and_sequences(self):
        self.fit(out="dt.h5")
        self.ok("convert", "dt.h5", "dt.json")
        self.ok("convert", "dt.json", "back.h5")
        self.ok("convert", "back.h5", "back.json")
        self.assertEqual(self.load("dt.json"), self.load("back.json"))
        rows = self.ok("score", "dt.h5", "d.csv", "--all").rows()
        for i, row in enumerate(rows):
            slow = sum(float(row[f"s{k}"]) for k in range(1, 10, 2))
            fast = sum(float(row[f"s{k}"]) for k in range(0, 10, 2))
            self.assertEqual(slow > fast, i % 2 == 1)
        self.ok("sample", "dt.json", "-n", "4", "-T", "30", "-o", "drawn.csv")
        self.assertEqual(len(self.path("drawn.csv").read_text().splitlines()), 121)

    def test_mixture(self):
        r = self.ok("fit", "d.csv", "--model", "dtm", "-S", "2", "--mixture", "2", "--max-iter", "20", "-o", "m.json",
                    "--json").json()
        self.assertEqual(len(r["models"][0]["restarts"]), 4)
        rows = self.ok("score", "m.json", "d.csv").rows()
        self.assertTrue(same_partition([row["best"] for row in rows], [row["label"] for row in rows]))

    def test_page_and_example(self):
        self.write("sequences.csv", swings(6, 30))
        block = re.search(r"```sh\n(.*?)```", (SOURCE / "docs/dtm.md").read_text(), re.S).group(1)
        commands = [shlex.split(line, comments=True)[1:] for line in block.splitlines()]
        self.assertEqual([args[0] for args in commands], ["fit", "cluster", "tree", "assign"])
        for args in commands:
            self.ok(*args)
        done = subprocess.run([SOURCE / "examples/cli/textures.sh", "sequences.csv"], cwd=self.dir, capture_output=True,
                              text=True, env={**os.environ, "VHEM": VHEM})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"textures.json: 6 dynamic textures\n(.*\n)+name\tlabel\tcluster1")

    def test_sentences(self):
        self.fit()
        self.ok("fit", "d.csv", "-S", "2", "-o", "m.json")
        self.fails(1, "does not cluster dynamic textures", "cluster", "dt.json", "-k", "2", "--method", "vhem")
        self.fails(1, "clusters dynamic textures: fit them first", "cluster", "m.json", "-k", "2", "--method",
                   "hem-dtm")
        self.fails(1, "holds dynamic textures", "decode", "dt.json", "d.csv")
        self.fails(1, "holds dynamic textures", "compare", "dt.json")
        self.fails(1, "the source has dynamic textures", "choose", "dt.json", "-k", "2")
        self.fails(1, "10 textures, too few for 11", "cluster", "dt.json", "-k", "11")
        self.fails(2, "model dtm does not use --topology; model hmm does", "fit", "d.csv", "--model", "dtm",
                   "--topology", "linear")
        self.fails(2, "model hmm does not use --learn; model dtm does", "fit", "d.csv", "--learn", "em")
        self.fails(1, "cov_floor is 0", "fit", "d.csv", "--model", "dtm", "--cov-floor", "0")
        self.write("short.csv", "id,x\na,1\na,2\n")
        self.fails(1, "too few frames", "fit", "short.csv", "--model", "dtm", "-S", "3")
        broken = self.load("dt.json")
        broken["textures"][3]["R"][1] = 0
        self.write("broken.json", json.dumps(broken))
        self.fails(1, "texture 3 ('s3'): R[1] is 0, must be above 0", "info", "broken.json")


if __name__ == "__main__":
    unittest.main()
