# SPDX-License-Identifier: BSD-3-Clause
"""vhem tree: levels, where each model ended up, refusals."""
import json
import signal
import subprocess
import time
import unittest

from support import HANGS, VHEM, Case, flock, same_partition
from test_cluster import WithFlock


def nested(seed=1):
    """Four kinds in two pairs: kinds 0 and 1 are near each other, so are 2 and 3."""
    m = json.loads(flock(kinds=4, per_kind=4, seed=seed, apart=0.0))
    for h in m["hmms"]:
        kind = int(h["label"][4:])
        shift = (0, 1.5, 60, 61.5)[kind]
        h["mu"] = [[[v + shift for v in x] for x in state] for state in h["mu"]]
    return json.dumps(m)


class Tree(WithFlock):
    def setUp(self):
        super().setUp()
        self.text = nested()
        self.models = json.loads(self.text)
        self.write("m.json", self.text)
        self.kinds = [int(h["label"][4:]) for h in self.models["hmms"]]

    def check_tree(self, tree, sizes):
        self.assertEqual((tree["format"], tree["version"]), ("vhem-tree", 1))
        self.assertEqual(len(tree["levels"]), len(sizes))
        n, base = 16, None
        for level, K in zip(tree["levels"], sizes, strict=True):
            self.check_clustering(level, n, K, falls=True)
            base = level["labels"] if base is None else [level["labels"][j] for j in base]
            self.assertEqual(level["base_labels"], base)
            n = K

    def test_levels(self):
        r = self.ok("tree", "m.json", "-k", "8,4,2", "-o", "t.json")
        self.assertEqual(r.out, "")
        self.assertIn("a tree of 3 levels over 16 HMMs in t.json", r.err)
        self.assertIn("level 1, 8 clusters of 16 HMMs: bound", r.err)
        self.assertIn("level 3, 2 clusters of 4 centres: bound", r.err)
        self.assertEqual(r.err.count("agreement with the labels: Rand index"), 3)
        self.assertIn("next: 'vhem info t.json'", r.err)
        self.leftovers("m.json", "t.json")
        tree = self.load("t.json")
        self.check_tree(tree, [8, 4, 2])
        self.assertTrue(same_partition(tree["levels"][1]["base_labels"], self.kinds))
        self.assertTrue(same_partition(tree["levels"][2]["base_labels"], [k // 2 for k in self.kinds]))

    def test_the_first_level_is_that_of_cluster(self):
        self.ok("tree", "m.json", "-k", "4,2", "--seed", "3", "-o", "t.json", "-q")
        self.ok("cluster", "m.json", "-k", "4", "--seed", "3", "-o", "c.json", "-q")
        first, alone = self.load("t.json")["levels"][0], self.load("c.json")
        for key in ("z", "labels", "bound", "centers"):
            self.assertEqual(first[key], alone[key], key)

    def test_weights_go_up(self):
        """The models of level 2 are the centres of level 1 with their weights: J of level 2 says so."""
        from support import log, log_sum
        self.ok("tree", "m.json", "-k", "4,2", "--nv", "3", "-o", "t.json", "-q")
        low, high = self.load("t.json")["levels"]
        J = 0.0
        for omega, L in zip(low["centers"]["omega"], high["L_hmm"], strict=True):
            J += log_sum([log(w) + 3 * 4 * omega * x for w, x in zip(high["centers"]["omega"], L, strict=True)])
        self.assertAlmostEqual(high["bound"][-1], J, delta=1e-9 * abs(J))

    def test_same_seed_same_bytes(self):
        args = ["tree", "m.json", "-k", "6,3", "--seed", "9", "--quiet"]
        for threads, name in (("1", "a.json"), ("2", "b.json"), ("7", "c.json")):
            self.ok(*args, "-o", name, "--threads", threads)
        one = self.path("a.json").read_bytes()
        self.assertEqual(one, self.path("b.json").read_bytes())
        self.assertEqual(one, self.path("c.json").read_bytes())
        self.assertEqual(one.decode(), self.ok(*args).out)

    def test_json_and_provenance(self):
        r = self.ok("tree", "m.json", "-k", "4,2", "--seed", "2", "-o", "t.json", "--json")
        report, tree = r.json(), self.load("t.json")
        self.assertEqual((report["command"], report["seed"], [x["K"] for x in report["levels"]]), ("tree", 2, [4, 2]))
        self.assertEqual(report["levels"][0]["agreement"]["rand"], 1)
        self.assertEqual([one["size"] for one in report["levels"][1]["clusters"]], [8, 8])
        self.assertEqual(sorted(m for one in report["levels"][1]["clusters"] for m in one["members"]),
                         sorted(h["name"] for h in self.models["hmms"]))
        made = tree["provenance"]
        self.assertEqual((made["command"], made["seed"], made["options"]["clusters"]), ("tree", 2, "4,2"))

    def test_stdin(self):
        r = self.ok("tree", "-", "-k", "4,2", "-q", stdin=self.text)
        self.check_tree(json.loads(r.out), [4, 2])

    def test_presets(self):
        self.ok("tree", "m.json", "-k", "4,2", "--preset", "paper", "-o", "t.json", "-q")
        self.check_tree(self.load("t.json"), [4, 2])
        self.ok("tree", "m.json", "-k", "4,2", "--preset", "emhmm", "-o", "t.json", "-q")
        tree = self.load("t.json")
        self.check_tree(tree, [4, 2])
        self.assertEqual(tree["levels"][1]["centers"]["emission"], "gaussian-full")

    def test_info(self):
        self.ok("tree", "m.json", "-k", "4,2", "-o", "t.json", "-q")
        r = self.ok("info", "t.json")
        self.assertRegex(r.out, r"made by    vhem [0-9.]+ tree from m.json, seed ")
        self.assertTrue(r.out.startswith("t.json: a tree of 2 levels over 16 HMMs\n"), r.out)
        self.assertIn("level 2: 4 centres in 2 clusters", r.out)
        facts = self.ok("info", "t.json", "--json").json()
        self.assertEqual((facts["kind"], [x["K"] for x in facts["levels"]]), ("tree", [4, 2]))
        self.assertEqual([one["size"] for one in facts["levels"][1]["clusters"]], [8, 8])

    def test_refused(self):
        self.fails(2, "how many clusters at each level?", "tree", "m.json", "-o", "t.json")
        self.fails(2, "each level needs fewer clusters than the one before, but 4 follows 2", "tree", "m.json", "-k",
                   "2,4")
        for text in ("8,0", "8,,2", "a", "8,", "-3", "8.5", "3..1", "8;4", "99999999999"):
            self.fails(2, "--clusters needs whole numbers of at least 1 like 8,4,2", "tree", "m.json", "-k",
                       text)
        self.fails(2, "--clusters takes at most", "tree", "m.json", "-k", "1..5000")
        self.fails(1, "m.json holds 16 HMMs, too few for 20 clusters", "tree", "m.json", "-k", "20,4", "-o", "t.json")
        self.fails(1, "nowhere.json", "tree", "nowhere.json", "-k", "4,2", "-o", "t.json")
        self.fails(2, "t.csv: clusters are written as .json", "tree", "m.json", "-k", "4,2", "-o", "t.csv")
        self.leftovers("m.json")

    def test_a_given_start(self):
        self.ok("cluster", "m.json", "-k", "4", "-o", "c.json", "-q")
        self.ok("tree", "m.json", "-k", "4,2", "--init", "c.json", "-o", "t.json", "-q")
        self.check_tree(self.load("t.json"), [4, 2])
        self.fails(1, "c.json holds 4 HMMs, but 3 clusters are asked for", "tree", "m.json", "-k", "3,2", "--init",
                   "c.json", "-o", "t.json")


class Signals(Case):
    def test_interrupt_saves_what_is_there(self):
        self.write("m.json", flock(kinds=8, per_kind=40, apart=2.0))
        p = subprocess.Popen([VHEM, "tree", "m.json", "-k", "20,10,5", "-S", "4", "--tol", "0", "--max-iter",
                              "1000000", "-o", "t.json", "--threads", "2"], cwd=self.dir, stderr=subprocess.PIPE,
                             text=True)
        time.sleep(1.5)
        self.assertIsNone(p.poll(), "it was not long enough")
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=HANGS)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("vhem tree: interrupted; the first level of 3 is saved in t.json; level 1 was stopped with ", err)
        self.assertNotIn("reached this bound", err)
        if self.path("t.json").exists():
            self.assertEqual(self.ok("info", "t.json", "--json").json()["levels"][0]["K"], 20)


if __name__ == "__main__":
    unittest.main()
