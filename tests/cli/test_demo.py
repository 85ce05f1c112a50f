# SPDX-License-Identifier: BSD-3-Clause
"""vhem demo: the same bytes everywhere, and sets whose kinds are found exactly."""
import hashlib
import json
import re
import unittest

from support import Case

SETS = {  # sequences, kinds, MD5 of the table
    "gaze": (60, 2, "70db293fe5a2422983cf37a7bee52aa4"),
    "motions": (60, 6, "4fc7205e130a5c999ae82cbfd8569221"),
    "courses": (60, 3, "fdc0c4a1d4a18abdb88e312ae59dd1bc"),
    "tracks": (36, 3, "886c1ff65eeff8bc111ee7bb605e6eda"),
}


class Demo(Case):
    def test_list(self):
        r = self.ok("demo")
        self.assertEqual([line.split()[0] for line in r.out.splitlines()], list(SETS))
        self.leftovers()

    def test_bytes(self):
        for name, (_, _, digest) in SETS.items():
            self.ok("demo", name, "there")
            self.assertEqual(hashlib.md5(self.path(f"there/{name}.csv").read_bytes()).hexdigest(), digest, name)
        self.leftovers("there")

    def test_seeds(self):
        self.ok("demo", "gaze", "-q")
        self.ok("demo", "gaze", "other", "--seed", 2)
        a, b = self.path("gaze.csv").read_text(), self.path("other/gaze.csv").read_text()
        self.assertNotEqual(a, b)
        self.assertEqual({line.split(",")[0] for line in a.splitlines()}, {line.split(",")[0] for line in b.splitlines()})

    def test_kinds_are_found(self):
        """By the commands that are printed, and with the number given, for every seed tried."""
        for name, (n, k, _) in SETS.items():
            commands = re.findall(r"^  vhem (.*)", self.ok("demo", name).out, re.M)
            self.assertEqual([line.split()[0] for line in commands], ["cluster"] * (2 if name == "gaze" else 1) + ["report"])
            for line in commands:
                r = self.ok(*line.split())
                self.assertNotIn("warning", r.err, line)
                if line.startswith("cluster"):
                    for more in [["--seed", 1], ["--seed", 2, "-k", k], ["--seed", 3]]:
                        r = self.ok(*line.split(), *more)
                        self.assertIn(f" {k} clusters of ", r.err, line)
                        self.assertIn("adjusted 1.000", r.err, line)
            labels = json.loads(self.path("clusters.json").read_text())["labels"]
            self.assertEqual((len(labels), len(set(labels))), (n, k))

    def test_json(self):
        self.assertEqual(self.ok("demo", "tracks", "--json").json()["output"], "tracks.csv")
        self.assertEqual([one["name"] for one in self.ok("demo", "--json").json()["sets"]], list(SETS))

    def test_own_table(self):
        """A table of that name may be somebody's own."""
        self.write("gaze.csv", "id,x\n1,2\n")
        self.fails(1, "gaze.csv is there already; --force replaces it", "demo", "gaze")
        self.assertEqual(self.path("gaze.csv").read_text(), "id,x\n1,2\n")
        self.ok("demo", "gaze", "--force")
        self.assertEqual(hashlib.md5(self.path("gaze.csv").read_bytes()).hexdigest(), SETS["gaze"][2])

    def test_refused(self):
        self.fails(1, "there is no data set 'walks'; there are gaze, motions, courses and tracks", "demo", "walks")
        self.write("file", "")
        self.fails(1, "file/gaze.csv: cannot write", "demo", "gaze", "file")
        self.fails(2, "", "demo", "gaze", "a", "b")


if __name__ == "__main__":
    unittest.main()
