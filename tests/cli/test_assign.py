# SPDX-License-Identifier: BSD-3-Clause
"""vhem assign: new sequences and new models into clusters, at every level."""
import json
import math
import unittest

from support import Case, flock, forward, model, same_partition
from test_tree import nested
import vhem_in_80_lines as oracle  # noqa: E402, I001: support knows where it is


class Assign(Case):
    def setUp(self):
        super().setUp()
        self.write("m.json", flock())
        self.models = json.loads(self.path("m.json").read_text())
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        self.out = json.loads(self.path("c.json").read_text())
        self.centers = self.out["centers"]

    def test_models_find_their_own_clusters(self):
        r = self.ok("assign", "c.json", "m.json")
        rows = r.rows()
        self.assertEqual(list(rows[0]), ["name", "label", "cluster", "posterior", "score"])
        self.assertEqual([x["name"] for x in rows], self.out["names"])
        self.assertEqual([x["label"] for x in rows], [h["label"] for h in self.models["hmms"]])
        self.assertEqual([int(x["cluster"]) for x in rows], self.out["labels"])
        for row, h, j in zip(rows, self.models["hmms"], self.out["labels"], strict=True):
            L = oracle.pair(h, self.centers["hmms"][j], 10)[0]
            self.assertAlmostEqual(float(row["score"]), L, delta=1e-8 * abs(L))
            self.assertTrue(0.9 < float(row["posterior"]) <= 1)
        self.assertIn("12 HMMs in 3 clusters; agreement with the labels: Rand index 1.000, adjusted 1.000", r.err)

    def test_sequences(self):
        self.ok("sample", "m.json", "-n", "20", "-T", "30", "-o", "d.csv", "-q")
        r = self.ok("assign", "c.json", "d.csv")
        rows = r.rows()
        self.assertEqual(len(rows), 20)
        self.assertIn("20 sequences in 3 clusters; agreement with the labels", r.err)
        lines = [x.split(",") for x in self.path("d.csv").read_text().splitlines()]
        column = {name: k for k, name in enumerate(lines[0])}
        for row in rows:
            frames = [[float(x[-1])] for x in lines[1:] if x[column["id"]] == row["name"]]
            each = [forward(h, frames) for h in self.centers["hmms"]]
            j = each.index(max(each))
            self.assertEqual((int(row["cluster"]), row["label"][1]), (j, self.kind_of(j)))
            self.assertAlmostEqual(float(row["score"]), each[j] / 30, delta=1e-8)

    def test_columns_that_name_a_sequence(self):
        """Several come out again as columns, whatever stands between them in the name."""
        self.ok("sample", "m.json", "-n", "4", "-T", "9", "-o", "d.csv", "-q")
        head, *lines = self.path("d.csv").read_text().splitlines()
        rows = [line.split(",") for line in lines]
        order = list(dict.fromkeys(r[0] for r in rows))
        ids = {name: (f"a/{k // 2}", f"t{k}" + 5000 * "é" * (k == 3)) for k, name in enumerate(order)}
        self.write("two.csv", "\n".join(["subject,trial," + head.partition(",")[2]]
                                        + [",".join([*ids[r[0]], *r[1:]]) for r in rows]) + "\n")
        for command, n in ("assign", 4), ("score", 4), ("decode", 36), ("stats", 4):
            with self.subTest(command):
                more = ["-o", "-"] if command == "stats" else []
                found = self.ok(command, "c.json", "two.csv", "--id", "subject,trial", "-q", *more).rows()
                self.assertEqual(len(found), n)
                self.assertEqual(list(found[0])[-2:], ["subject", "trial"])
                self.assertEqual(list(dict.fromkeys((r["subject"], r["trial"]) for r in found)), list(ids.values()))
                found = self.ok(command, "c.json", "two.csv", "--id", "trial", "-q", *more).rows()
                self.assertNotIn("trial", found[0])
                as_json = self.ok(command, "c.json", "two.csv", "--id", "subject,trial", "-q", "--json").json()
                first = next(v for k, v in as_json.items() if k in ("assigned", "sequences", "persons"))[0]
                self.assertEqual(first["id"], {"subject": "a/0", "trial": "t0"})
        text = self.path("two.csv").read_text()
        self.write("taken.csv", text.replace("subject,trial", "cluster,frame", 1))
        for command in ("assign", "score", "decode"):        # no column name appears twice
            head = self.ok(command, "c.json", "taken.csv", "--id", "cluster,frame", "-q").out.split("\n")[0].split("\t")
            self.assertEqual(head[-2:], ["id_cluster", "id_frame"])
        grouped = self.ok("assign", "c.json", "two.csv", "--id", "subject,trial", "--group", "subject", "-q").rows()
        self.assertEqual(list(grouped[0])[-1], "score")

    def kind_of(self, j):
        return next(n[1] for n, label in zip(self.out["names"], self.out["labels"]) if label == j)

    def test_tree(self):
        self.write("n.json", nested())
        self.ok("tree", "n.json", "-k", "4,2", "-o", "t.json", "-q")
        tree = json.loads(self.path("t.json").read_text())
        r = self.ok("assign", "t.json", "n.json")
        rows = r.rows()
        self.assertEqual(list(rows[0]), ["name", "label", "cluster1", "posterior1", "cluster2", "posterior2", "score"])
        for l, level in enumerate(tree["levels"]):
            self.assertEqual([int(x[f"cluster{l + 1}"]) for x in rows], level["base_labels"])
        for row in rows:
            self.assertGreaterEqual(float(row["posterior2"]) + 1e-12, float(row["posterior1"]))
        self.assertEqual(r.err.count("agreement"), 2)
        self.write("new.json", nested(seed=5))
        labels = [x["cluster1"] for x in self.ok("assign", "t.json", "new.json").rows()]
        self.assertTrue(same_partition(labels, [h["label"] for h in json.loads(nested(seed=5))["hmms"]]))

    def test_json(self):
        got = self.ok("assign", "c.json", "m.json", "--json").json()
        self.assertEqual((got["command"], got["clusters"], got["input"], got["kind"]),
                         ("assign", "c.json", "m.json", "models"))
        self.assertEqual(got["levels"][0]["K"], 3)
        self.assertEqual(got["levels"][0]["agreement"]["rand"], 1)
        for row, label in zip(got["assigned"], self.out["labels"], strict=True):
            self.assertEqual(row["cluster"], [label])
            self.assertAlmostEqual(sum(row["all"]), 1, places=9)
            self.assertAlmostEqual(row["posterior"][0], row["all"][label], places=12)

    def test_files_and_pipes(self):
        table = self.ok("assign", "c.json", "m.json").out
        self.assertEqual(self.ok("assign", "c.json", "m.json", "-o", "a.tsv", "-q").out, "")
        self.assertEqual(self.path("a.tsv").read_text(), table)
        self.assertEqual(self.ok("assign", "c.json", "-", stdin=self.path("m.json").read_text()).out, table)
        self.assertEqual(self.ok("assign", "-", "m.json", stdin=self.path("c.json").read_text()).out, table)
        self.write("d.csv", "id,x\na,1.5\na,0.2\nb,13\nb,12\n")
        data = self.ok("assign", "c.json", "d.csv").out
        self.assertEqual(self.ok("assign", "c.json", "-", stdin=self.path("d.csv").read_text()).out, data)
        self.assertEqual(len({line.split("\t")[2] for line in data.splitlines()[1:]}), 2)

    def test_options_of_data(self):
        self.write("d.csv", "who,run,x,y\n1,1,1,2\n1,2,3,4\n2,1,5,6\n")
        r = self.ok("assign", "c.json", "d.csv", "--id", "who,run", "--columns", "x", "--where", "who=1")
        self.assertEqual(len(r.rows()), 2)

    def test_models_that_were_fitted_one_by_one(self):
        self.ok("sample", "m.json", "-n", "6", "-T", "30", "-o", "d.csv", "-q")
        self.ok("fit", "d.csv", "-S", "1", "-o", "f.json", "-q")
        r = self.ok("assign", "f.json", "d.csv")
        self.assertIn("f.json holds models that were fitted one by one: each counts as a cluster", r.err)
        self.assertEqual([int(x["cluster"]) for x in r.rows()], list(range(6)))
        self.ok("fit", "d.csv", "-S", "1", "--mixture", "2", "-o", "x.json", "-q")
        self.assertNotIn("one by one", self.ok("assign", "x.json", "d.csv").err)

    def test_threads(self):
        one = self.ok("assign", "c.json", "m.json", "--threads", "1").out
        self.assertEqual(one, self.ok("assign", "c.json", "m.json", "--threads", "7").out)

    def test_refused(self):
        self.write("d.csv", "id,x,y\na,1.5,2.5\na,0.2,7\n")
        r = self.fails(1, "dimension", "assign", "c.json", "d.csv")
        self.assertRegex(r.err, r"\b1\b.*\b2\b|\b2\b.*\b1\b")
        self.write("two.json", model([{"S": 1, "M": 1, "pi": [1], "A": [[1]], "c": [[1]], "mu": [[[0, 0]]],
                                       "cov": [[[1, 1]]]}], [1]).replace('"d": 1', '"d": 2'))
        self.fails(1, "dimension", "assign", "c.json", "two.json")
        self.fails(1, "nowhere.json", "assign", "nowhere.json", "m.json")
        self.fails(1, "nowhere.csv", "assign", "c.json", "nowhere.csv")
        self.fails(1, "d.csv", "assign", "d.csv", "m.json")
        self.fails(2, "too few arguments", "assign", "c.json")
        self.fails(2, "only one of the inputs can be standard input", "assign", "-", "-")
        self.write("b.json", self.path("c.json").read_text()[:700])
        self.fails(1, "b.json", "assign", "b.json", "m.json")
        self.fails(1, "no/such/a.tsv: cannot write", "assign", "c.json", "m.json", "-o", "no/such/a.tsv")


if __name__ == "__main__":
    unittest.main()
