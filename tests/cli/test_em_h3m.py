# SPDX-License-Identifier: BSD-3-Clause
"""Sequences clustered by EM-H3M, models by SHEM-H3M, mixtures fitted: files, bytes, refusals."""
import json
import math
import random
import unittest

from support import Case, flock, log_sum, same_partition


def walks(seed=1, groups=12, per_group=2, T=40):
    """Long CSV of sequences that differ in how often they jump between two places alone."""
    rng = random.Random(seed)
    rows = ["id,label,group,x,y"]
    for n in range(groups * per_group):
        g = n // per_group
        jump = (0.05, 0.5, 0.95)[g % 3]
        s = rng.randrange(2)
        for _ in range(T):
            rows.append(f"s{n},c{g % 3},g{g},{rng.gauss((-3, 3)[s], 1):.4f},{rng.gauss(0, 1):.4f}")
            s = 1 - s if rng.random() < jump else s
    return "\n".join(rows) + "\n"


class WithWalks(Case):
    def setUp(self):
        super().setUp()
        self.write("w.csv", walks())
        self.write("m.json", flock())

    def load(self, name):
        return json.loads(self.path(name).read_text())


class Cluster(WithWalks):
    EM = ("--method", "em-h3m", "--states", "2")

    def test_finds_the_classes(self):
        r = self.ok("cluster", "w.csv", "-k", "3", *self.EM, "-o", "c.json")
        self.assertIn("3 clusters of 24 sequences in c.json: bound ", r.err)
        self.assertIn("8 sequences, all c0: s0, s1, s6", r.err)
        self.assertIn("agreement with the labels: Rand index 1.000", r.err)
        out = self.load("c.json")
        self.assertEqual((out["format"], out["method"], len(out["z"])), ("vhem-clustering", "em-h3m", 24))
        self.assertEqual(out["names"], [f"s{n}" for n in range(24)])
        self.assertTrue(same_partition(out["labels"], [n // 2 % 3 for n in range(24)]))
        self.assertEqual(len(out["bound"]), out["n_iter"] + 1)
        self.assertEqual(len(out["restarts"]), 10)
        self.assertEqual({r["init"] for r in out["restarts"]}, {"far", "dealt"})

    def test_the_bound_is_that_of_the_file(self):
        """J = sum_g log sum_j omega_j exp(L_gj), from the numbers in the file alone; groups share one z."""
        self.ok("cluster", "w.csv", "-k", "3", *self.EM, "--group", "group", "-o", "c.json", "-q")
        out = self.load("c.json")
        self.assertEqual(out["names"], [f"g{g}" for g in range(12)])
        omega = [math.log(w) for w in out["centers"]["omega"]]
        J = sum(log_sum([w + x for w, x in zip(omega, row, strict=True)]) for row in out["L_hmm"])
        self.assertAlmostEqual(out["bound"][-1], J, delta=1e-9 * abs(J))

    def test_same_bytes_at_any_threads(self):
        for threads in ("1", "2", "3"):
            self.ok("cluster", "w.csv", "-k", "3", *self.EM, "--threads", threads, "-o", f"c{threads}.json", "-q")
            self.ok("cluster", "m.json", "-k", "3", "--method", "shem", "--threads", threads, "-o",
                    f"s{threads}.json", "-q")
        for kind in "cs":
            first = self.path(f"{kind}1.json").read_bytes()
            self.assertEqual(first, self.path(f"{kind}2.json").read_bytes())
            self.assertEqual(first, self.path(f"{kind}3.json").read_bytes())

    def test_json_and_use(self):
        r = self.ok("cluster", "w.csv", "-k", "3", *self.EM, "--cov", "full", "--json", "-o", "c.json", "-q")
        facts = json.loads(r.out)
        self.assertEqual((facts["method"], facts["Kb"], facts["K"]), ("em-h3m", 24, 3))
        self.assertEqual(facts["options"]["cov"], "full")
        self.assertNotIn("tau", facts["options"])
        self.assertEqual(facts["agreement"]["rand"], 1)
        self.assertEqual(self.load("c.json")["centers"]["emission"], "gaussian-full")
        self.assertIn("24 sequences in 3 clusters", self.ok("info", "c.json").out)
        self.assertIn("agreement with the labels: Rand index 1.000", self.ok("assign", "c.json", "w.csv").err)

    def test_given_start(self):
        """--init FILE --tol 0 --cov-floor 0 --max-iter n continues where n - 1 iterations ended."""
        exact = ("--method", "em-h3m", "--restarts", "1", "--tol", "0", "--cov-floor", "0")
        self.ok("cluster", "w.csv", "-k", "3", *self.EM, "--max-iter", "2", "--restarts", "1", "-o", "a.json", "-q")
        self.ok("cluster", "w.csv", "--init", "a.json", *exact, "--max-iter", "3", "-o", "b.json", "-q")
        self.ok("cluster", "w.csv", "--init", "a.json", *exact, "--max-iter", "2", "-o", "c.json", "-q")
        self.ok("cluster", "w.csv", "--init", "c.json", *exact, "--max-iter", "1", "-o", "d.json", "-q")
        b, d = self.load("b.json"), self.load("d.json")
        self.assertAlmostEqual(b["bound"][-1], d["bound"][-1], delta=1e-9 * abs(b["bound"][-1]))
        for before, after in zip(b["bound"], b["bound"][1:]):
            self.assertGreaterEqual(after, before - 1e-9 * abs(before))

    def test_tree(self):
        r = self.ok("tree", "w.csv", "-k", "6,3", *self.EM, "-g", "group", "-o", "t.json")
        self.assertIn("a tree of 2 levels over 12 groups in t.json", r.err)
        self.assertIn("level 2, 3 clusters of 6 clusters", r.err)
        low, high = self.load("t.json")["levels"]
        self.assertEqual((len(low["labels"]), len(high["base_labels"])), (12, 12))
        self.assertTrue(same_partition(high["base_labels"], [g % 3 for g in range(12)]))
        together = {}
        for a, b in zip(low["base_labels"], high["base_labels"], strict=True):
            self.assertEqual(together.setdefault(a, b), b)
        self.assertIn("12 groups", self.ok("info", "t.json").out)

    def test_refusals(self):
        em = ("--method", "em-h3m")
        for words, args in [
            ("m.json holds models", ("cluster", "m.json", "-k", "2", *em)),
            ("m.json holds models", ("tree", "m.json", "-k", "2", *em)),
            ("w.csv holds 24 sequences, too few for 25 clusters", ("cluster", "w.csv", "-k", "25", "--columns", "x,y", *em)),
            ("w.csv holds 12 groups, too few for 13 clusters", ("cluster", "w.csv", "-k", "13", "-g", "group", *em)),
        ]:
            self.fails(1, words, *args)
        self.fails(2, "method em-h3m does not use --nv", "cluster", "w.csv", "-k", "2", "--nv", "5", *em)
        self.fails(2, "method em-h3m does not use --init base; it knows auto|far|dealt", "cluster", "w.csv", "-k", "2",
                   "--init", "base", *em)
        self.fails(2, "vhem choose compares clusters of models", "choose", "w.csv", "-k", "2", *em)
        self.fails(2, "method kl-sc does not use --states", "choose", "m.json", "-k", "2", "-S", "2", "--method", "kl-sc")
        self.fails(2, "--prior takes settings such as nu=5,scale=2, or a file with a prior, and 'wide' is not a file", "cluster",
                   "m.json", "-k", "2", "--method", "vbhem", "--prior", "wide")
        self.fails(2, "--prior takes none, vb or eb, settings such as nu0=2,count=1, or a file with a prior, and 'wide' "
                   "is not a file", "fit", "w.csv", "--prior", "wide")
        self.fails(2, "--cov full asks for gaussian-full, but --emission for poisson", "fit", "w.csv", "--cov", "full",
                   "--emission", "poisson")
        self.fails(2, "--method is one of ", "cluster", "w.csv", "-k", "2", "--method", "kmeans")
        self.fails(2, "--group is about sequences", "cluster", "m.json", "-k", "2", "--group", "g")
        self.write("empty.csv", "id,x\n")
        self.fails(1, "empty.csv", "cluster", "empty.csv", "-k", "1", *em)
        self.write("hole.csv", "id,x\na,1\na,\nb,2\n")
        self.ok("cluster", "hole.csv", "-k", "1", "--cov", "full", *em)

    def test_shem(self):
        self.ok("cluster", "m.json", "-k", "3", "--method", "shem", "-o", "c.json")
        out = self.load("c.json")
        self.assertEqual(out["method"], "shem")
        self.assertEqual((out["options"]["nv"], out["options"]["tau"]), (10, 10))
        kinds = [h["label"] for h in json.loads(flock())["hmms"]]
        self.assertTrue(same_partition(out["labels"], kinds))
        self.ok("tree", "m.json", "-k", "3,2", "--method", "shem", "-o", "t.json")
        self.fails(2, "method shem does not use --preset", "cluster", "m.json", "-k", "3", "--method", "shem",
                   "--preset", "paper")

    def test_help_lists_the_methods(self):
        listed = self.ok("cluster", "--help-all").out.split("\nMethods:\n")[1]
        self.assertRegex(" ".join(listed.split()), r"em-h3m [^()]*\(sequences, not models\)")
        self.assertIn("\nMethods:\n  vhem, vbhem, auto, em-h3m,", self.ok("cluster", "--help").out)


class Mixture(WithWalks):
    def test_fit(self):
        r = self.ok("fit", "w.csv", "--mixture", "3", "--states", "2", "-o", "x.json")
        self.assertIn("a mixture of 3 HMMs from 24 sequences (960 frames) in x.json", r.err)
        self.assertRegex(r.err, r"\d of 4 restarts reached this likelihood")
        out = self.load("x.json")
        self.assertEqual(len(out["hmms"]), 3)
        self.assertAlmostEqual(sum(out["omega"]), 1, places=12)
        for w in out["omega"]:
            self.assertAlmostEqual(w, 1 / 3, places=3)

    def test_json_groups_and_start(self):
        r = self.ok("fit", "w.csv", "--mixture", "2", "-g", "group", "--json", "-o", "x.json", "-q")
        row = json.loads(r.out)["models"][0]
        self.assertEqual((row["K"], row["frames"], len(row["restarts"])), (2, 960, 4))
        again = self.ok("fit", "w.csv", "--mixture", "2", "-g", "group", "--init", "x.json", "--json", "-o",
                        "y.json", "-q")
        self.assertGreaterEqual(json.loads(again.out)["models"][0]["loglik"], row["loglik"] - 1e-6)

    def test_refusals(self):
        self.fails(1, "K is 25, but there are only 24 sequences", "fit", "w.csv", "--mixture", "25", "--columns", "x,y", "-o",
                   "x.json")
        self.fails(2, "mixture", "fit", "w.csv", "--mixture", "0", "-o", "x.json")
        self.ok("fit", "w.csv", "--mixture", "2", "-o", "x.json", "-q")
        self.fails(1, "K is 3, the start has 2 HMMs", "fit", "w.csv", "--columns", "x,y", "--mixture", "3", "--init",
                   "x.json", "-o", "y.json")


if __name__ == "__main__":
    unittest.main()
