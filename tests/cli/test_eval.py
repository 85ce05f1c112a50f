# SPDX-License-Identifier: BSD-3-Clause
"""vhem eval: measures by hand and by scikit-learn, classes from everywhere, repeated runs, refusals."""
import json
import math
import random
import statistics
import unittest

from support import Case, flock, forward, model


def hmm(name, mean, label=None):
    one = {"name": name, "S": 1, "M": 1, "pi": [1], "A": [[1]], "c": [[1]], "mu": [[[mean]]], "cov": [[[1]]]}
    return {**one, "label": label} if label else one


def clustering(labels, K, names=None, **more):
    """A file of clusters, without centres unless they are given."""
    names = names or [f"m{i}" for i in range(len(labels))]
    z = [[float(j == label) for j in range(K)] for label in labels]
    return json.dumps({"format": "vhem-clustering", "version": 1, "method": "vhem", "options": {"tau": 2},
                       "names": names, "labels": labels, "z": z, "n_iter": 0, "converged": True, **more})


class Eval(Case):
    def measures(self, *args, level=0):
        found = self.ok("eval", *args, "--json").json()["levels"][level]["measures"]
        return {key: value["mean"] for key, value in found.items()}

    def test_by_hand(self):
        # Classes a a a b b, clusters 0 0 1 1 1: pairs together in both {01}, {34} of 10; apart in both 02.. 4.
        self.write("c.json", clustering([0, 0, 1, 1, 1], 2))
        self.write("truth.csv", "name,label\nm0,a\nm1,a\nm2,a\nm3,b\nm4,b\n")
        r = self.ok("eval", "c.json", "--truth", "truth.csv")
        self.assertIn("Rand index                          0.6", r.out)
        self.assertIn("cluster  a  b\n      0  2  0\n      1  1  2\n", r.out)
        m = self.measures("c.json", "--truth", "truth.csv")
        self.assertEqual(set(m), {"rand", "adjusted_rand", "nmi", "purity"})
        self.assertAlmostEqual(m["rand"], 0.6)
        self.assertAlmostEqual(m["adjusted_rand"], (2 - 1.6) / (4 - 1.6))
        self.assertAlmostEqual(m["purity"], 0.8)
        h = -0.4 * math.log(0.4) - 0.6 * math.log(0.6)
        together = -2 * 0.4 * math.log(0.4) - 0.2 * math.log(0.2)
        self.assertAlmostEqual(m["nmi"], (2 * h - together) / h)
        tables = self.ok("eval", "c.json", "--truth", "truth.csv", "--json").json()["levels"][0]["confusion"]
        self.assertEqual(tables, [{"a": 2}, {"a": 1, "b": 2}])

    def test_by_scikit_learn(self):
        try:
            from sklearn import metrics
        except ImportError:
            self.skipTest("no scikit-learn")
        rng = random.Random(4)
        for n, K, C in ((30, 3, 4), (50, 8, 2), (20, 20, 3)):
            labels = [rng.randrange(K) for _ in range(n)]
            classes = [rng.randrange(C) for _ in range(n)]
            self.write("c.json", clustering(labels, K))
            self.write("t.csv", "".join(f"m{i},c{k}\n" for i, k in enumerate(classes)))
            m = self.measures("c.json", "--truth", "t.csv")
            table = metrics.cluster.contingency_matrix(classes, labels)
            self.assertAlmostEqual(m["rand"], metrics.rand_score(classes, labels))
            self.assertAlmostEqual(m["adjusted_rand"], metrics.adjusted_rand_score(classes, labels))
            self.assertAlmostEqual(m["nmi"], metrics.normalized_mutual_info_score(classes, labels))
            self.assertAlmostEqual(m["purity"], table.max(axis=0).sum() / n)

    def test_other_models_than_were_clustered(self):
        self.write("c.json", clustering([0, 0, 1], 2))
        self.write("few.json", model([hmm("m0", 0, "a"), hmm("m1", 1, "b")], [0.5] * 2))
        self.write("turned.json", model([hmm("m2", 0, "a"), hmm("m1", 1, "a"), hmm("m0", 9, "b")], [1 / 3] * 3))
        for command in ("eval",), ("report", "-o", "r.html"):
            self.fails(1, "few.json holds 2 HMMs, but the clusters of c.json were made of 3", command[0], "c.json",
                       *command[1:], "--models", "few.json")
            self.fails(1, "HMM 0 of turned.json is 'm2', but 'm0' in c.json", command[0], "c.json", *command[1:],
                       "--models", "turned.json")

    def test_models_and_data(self):
        hmms = [hmm("m0", 0, "a"), hmm("m1", 1, "a"), hmm("m2", 9, "b")]
        centers = json.loads(model([hmm("", 0), hmm("", 9), hmm("", 1)], [0.5, 0.25, 0.25]))
        self.write("m.json", model(hmms, [1 / 3] * 3))
        self.write("c.json", clustering([0, 0, 1], 3, centers=centers))
        self.write("d.csv", "id,x\np,0.5\np,-1\nq,8\n")
        m = self.measures("c.json", "--models", "m.json", "--data", "d.csv")
        self.assertAlmostEqual(m["rand"], 1)
        self.assertAlmostEqual(m["expected_loglik"], -(math.log(2 * math.pi) + 1 + 1 / 3))
        self.assertAlmostEqual(m["compactness"], math.exp(-2 / 8))
        want = forward(hmms[0], [[0.5], [-1]]) + forward(hmms[2], [[8]])
        self.assertAlmostEqual(m["loglik"], want)
        self.write("d.csv", "id,x\nm2,0.5\nm2,-1\nq,8\n")                  # m2 is in the cluster of the centre at 9
        want = forward(hmms[2], [[0.5], [-1]]) + forward(hmms[2], [[8]])
        self.assertAlmostEqual(self.measures("c.json", "--data", "d.csv")["loglik"], want)
        m = self.measures("c.json", "-m", "m.json", "--tau", "4", "--lambda", "1", "--kernel", "raw")
        self.assertAlmostEqual(m["expected_loglik"], -2 * (math.log(2 * math.pi) + 1 + 1 / 3))
        self.assertAlmostEqual(m["compactness"], (4 * math.pi) ** -2 * math.exp(-1))
        self.assertNotIn("loglik", m)

    def test_modularity(self):
        """Two groups of six far apart: every edge is inside, and half of them would be by chance."""
        self.write("m.json", model([hmm(f"m{i}", 100 * (i % 2) + i, "ab"[i % 2]) for i in range(12)], [1 / 12] * 12))
        self.write("c.json", clustering([i % 2 for i in range(12)], 2))
        self.assertAlmostEqual(self.measures("c.json", "-m", "m.json")["modularity"], 0.5)
        self.write("c.json", clustering([0] * 12, 2))
        self.assertAlmostEqual(self.measures("c.json", "-m", "m.json")["modularity"], 0)

    def test_classes_from_everywhere(self):
        self.write("c.json", clustering([0, 0, 1], 2))
        ways = {"semi.csv": "class;name\na;m0\na;m1\nb;m2\n", "tab.tsv": "m0\ta\nm1\ta\nm2\tb\n",
                "quoted.csv": '\ufeff"id","other","label"\r\n"m0","x,y","a"\r\nm1,"say ""hi""",a\r\nm2,,b\r\n',
                "twice.csv": "seq,t,label\nm0,1,a\nm0,2,a\nm1,1,a\nm2,1,b\n"}
        for name, text in ways.items():
            self.write(name, text)
            self.assertEqual(self.measures("c.json", "--truth", f"./{name}")["rand"], 1, name)
        self.write("d.csv", "id,kind,x\nm0,a,1\nm1,a,2\nm2,b,3\n")
        self.assertEqual(self.measures("c.json", "--data", "d.csv", "--truth", "kind")["rand"], 1)
        self.write("some.csv", "name,label\nm0,a\nm2,b\n")
        r = self.ok("eval", "c.json", "--truth", "some.csv")
        self.assertIn("1 of 3 models have no class in some.csv", r.err)
        self.write("one.csv", "name,label\nm0,a\n")
        self.assertIn("fewer than two models have a class in one.csv", self.ok("eval", "c.json", "--truth", "one.csv").err)
        self.write("nameless.json", clustering([0, 0, 1], 2, names=[""] * 3))
        self.write("numbers.csv", "0,a\n1,a\n2,b\n")
        self.assertEqual(self.measures("nameless.json", "--truth", "numbers.csv")["rand"], 1)

    def test_runs(self):
        self.write("m.json", flock())
        for seed in (1, 2, 3):
            self.ok("tree", "m.json", "-k", "3,2", "--seed", seed, "-o", f"a{seed}.json", "--restarts", "2",
                    "--search", "restarts")
            self.ok("tree", "m.json", "-k", "3,2", "--seed", seed, "-o", f"b{seed}.json", "--method", "ppk-sc",
                    "--restarts", "1")
        a, b = [f"a{s}.json" for s in (1, 2, 3)], [f"b{s}.json" for s in (1, 2, 3)]
        one = [[self.measures(f, "-m", "m.json", level=l) for f in a] for l in (0, 1)]
        r = self.ok("eval", *a, "-m", "m.json", "--against", *b, "-o", "out.tsv")
        self.assertIn("against", r.out)
        lines = [line.split("\t") for line in self.path("out.tsv").read_text().splitlines()]
        self.assertEqual(lines[0], ["level", "clusters", "measure", "runs", "mean", "sd", "against_mean", "against_sd",
                                    "t", "p"])
        self.assertEqual(len(lines), 1 + 2 * 7)
        for row in lines[1:]:
            values = [x[row[2]] for x in one[int(row[0]) - 1]]
            self.assertAlmostEqual(float(row[4]), statistics.mean(values))
            self.assertAlmostEqual(float(row[5]), statistics.stdev(values))
        level = self.ok("eval", *a, "-m", "m.json", "--json", "--against", *b).json()["levels"][1]
        first = level["measures"]["expected_loglik"]
        x = [p - q for p, q in zip(first["runs"], first["against"]["runs"], strict=True)]
        if statistics.stdev(x) > 0:
            t = statistics.mean(x) / statistics.stdev(x) * math.sqrt(3)
            self.assertAlmostEqual(first["against"]["t"], t, places=6)
            self.assertAlmostEqual(first["against"]["p"], 1 - abs(t) / math.sqrt(2 + t * t), places=6)   # 2 degrees
        self.assertEqual(self.ok("eval", *a, "-m", "m.json", "-o", "-").out.splitlines()[0].split("\t")[-1], "sd")

    def test_refuses(self):
        self.write("c.json", clustering([0, 0, 1], 2))
        self.write("m.json", flock())
        self.write("few.json", model([hmm("m0", 1), hmm("m1", 1), hmm("other", 2)], [1 / 3] * 3))
        self.write("t.csv", "name,label\nx,a\n")
        self.write("two.csv", "name,label\nm0,a\nm0,b\n")
        self.write("short.csv", "name,label\nm0\n")
        self.ok("tree", "m.json", "-k", "3,2", "-o", "tree.json", "--restarts", "1")
        self.fails(2, "nothing to judge the clusters by", "eval", "c.json")
        self.fails(2, "--truth kind names a column, but no --data was given", "eval", "c.json", "--truth", "kind")
        self.fails(1, "m.json holds 12 HMMs, but the clusters of c.json were made of 3", "eval", "c.json", "-m", "m.json")
        self.fails(1, "HMM 2 of few.json is 'other', but 'm2' in c.json", "eval", "c.json", "-m", "few.json")
        self.fails(1, "none of its 1 names is that of a model, 'm0' for instance", "eval", "c.json", "--truth", "t.csv")
        self.fails(1, "line 3: 'm0' is of class 'b', but 'a' before", "eval", "c.json", "--truth", "two.csv")
        self.fails(2, "--lambda needs a number above 0, not '0'", "eval", "tree.json", "-m", "m.json", "--lambda", "0")
        self.fails(1, "short.csv: line 2 has 1 column, must have 2 like the first", "eval", "c.json", "--truth", "short.csv")
        self.fails(1, "nowhere.csv: cannot read", "eval", "c.json", "--truth", "nowhere.csv")
        self.fails(2, "--truth m.json: that is a file of models or clusters; --truth takes a table of names and classes",
                   "eval", "c.json", "--truth", "m.json")
        self.fails(1, "m.json holds models, not clusters", "eval", "m.json", "--truth", "t.csv")
        self.fails(1, "tree.json has 2 levels, but c.json has 1", "eval", "c.json", "tree.json", "--truth", "t.csv")
        self.fails(2, "1 file --against 2: runs are compared in pairs", "eval", "c.json", "--truth", "t.csv",
                   "--against", "c.json", "c.json")


if __name__ == "__main__":
    unittest.main()
