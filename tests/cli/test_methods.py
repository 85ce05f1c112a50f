# SPDX-License-Identifier: BSD-3-Clause
"""The methods of vhem cluster and tree beside vhem: each by its name, what it writes, what it refuses."""
import json
import subprocess
import unittest

from support import SOURCE, VHEM, Case, flock, same_partition
from test_tree import nested

SPECTRAL = ["ppk-sc", "ppk-sc-hybrid", "kl-sc", "kl-sampled-sc"]
AGGLOMERATIVE = ["ppk-ac", "kl-ac", "kl-sampled-ac"]
METHODS = ["hem-gmm"] + SPECTRAL + AGGLOMERATIVE

UNUSED = {"tau": ["em-h3m"], "nv": ["em-h3m", "ppk-sc", "kl-ac"], "states": ["ppk-sc", "knn-sc", "kl-ac"],
          "mix": ["kl-sc", "hem-dtm", "ppk-ac"], "max-iter": ["ppk-ac", "kl-ac"], "restarts": ["kl-ac", "kl-sampled-ac"],
          "tol": ["kl-sc", "ppk-ac"], "cov-floor": ["kl-sc", "vbhem"], "cov-add": ["hem-dtm", "kl-sc"],
          "soft": ["em-h3m", "kl-sc"]}


class Methods(Case):
    def setUp(self):
        super().setUp()
        self.write("m.json", flock())
        self.models = json.loads(self.path("m.json").read_text())
        self.kinds = [h["label"] for h in self.models["hmms"]]

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def test_no_option_is_passed_over_in_silence(self):
        ppk = "methods ppk-sc ppk-sc-hybrid ppk-ac do"
        for method, option, value, rest in (
                ("kl-sc", "lambda", "1", f"; {ppk}"), ("vhem", "lambda", "1", f"; {ppk}"),
                ("ppk-sc", "refine", "2", "; method vhem does"), ("shem", "candidate", "2", "; method vhem does"),
                ("ppk-sc", "neighbours", "3", "; method knn-sc does"),
                ("kl-sc", "search", "fast", "; methods vhem vbhem hem-gmm do"),
                ("ppk-ac", "kernel", "raw", "; methods ppk-sc ppk-sc-hybrid do"), ("shem", "soft", "3", ""),
                ("shem", "preset", "paper", ""), *((m, o, "3", "") for o, methods in UNUSED.items() for m in methods)):
            how = ["--method", method] if method != "vhem" else []
            self.fails(2, f"method {method} does not use --{option}{rest}", "cluster", "m.json", "-k", "2", *how,
                       f"--{option}", value, "-o", "x.json")

    def test_hem_gmm_searches_as_vhem_does(self):
        """The classes of vhem classify ask for restarts alone, which must reach it."""
        def runs(*how):
            self.ok("cluster", "m.json", "-k", "3", "--method", "hem-gmm", *how, "-o", "c.json")
            return [r["init"] for r in self.load("c.json")["restarts"]]

        self.assertIn("kl-sc", runs())
        self.assertEqual(len(runs("--search", "restarts", "-r", "3")), 3)

    def test_each_finds_the_kinds(self):
        for method in METHODS:
            r = self.ok("cluster", "m.json", "-k", "3", "--method", method, "-o", "c.json")
            c = self.load("c.json")
            self.assertTrue(same_partition(c["labels"], self.kinds), method)
            self.assertEqual(c["method"], method)
            self.assertEqual("bound" in c, method == "hem-gmm")
            self.assertEqual(len(c["L_hmm"]), 12)
            self.assertEqual([round(12 * x) for x in c["centers"]["omega"]], [4, 4, 4])
            if method in SPECTRAL + AGGLOMERATIVE:
                self.assertIn(f"3 clusters of 12 HMMs in c.json, by {method}", r.err)
                self.assertEqual(sorted({z for row in c["z"] for z in row}), [0, 1])
                self.assertEqual(c["provenance"]["options"].get("linkage"),
                                 "average" if method in AGGLOMERATIVE else None)
            where = self.ok("assign", "c.json", "m.json").rows()
            self.assertEqual([int(w["cluster"]) for w in where], c["labels"], method)
            self.assertNotIn("nan", self.ok("info", "c.json").out)
            facts = self.ok("cluster", "m.json", "-k", "3", "--method", method, "-o", "c.json", "--json").json()
            self.assertEqual(facts["bound"] is None, method != "hem-gmm")

    def test_same_bytes_with_any_threads(self):
        for method in METHODS:
            for threads in (1, 2):
                self.ok("tree", "m.json", "-k", "4,2", "--method", method, "-t", threads, "-o", f"{threads}.json")
            self.assertEqual(self.path("1.json").read_text(), self.path("2.json").read_text(), method)

    def test_trees(self):
        self.write("n.json", nested())
        kinds = [int(h["label"][4:]) for h in json.loads(self.path("n.json").read_text())["hmms"]]
        for method in METHODS:
            self.ok("tree", "n.json", "-k", "4,2", "--method", method, "-o", "t.json")
            levels = self.load("t.json")["levels"]
            if method not in ("kl-sc", "kl-sampled-sc"):         # whose one scale is that of the far pairs
                self.assertTrue(same_partition(levels[0]["base_labels"], kinds), method)
            self.assertEqual(len(set(levels[1]["base_labels"])), 2)
            if method not in SPECTRAL:           # in an embedding of 4 directions 4 clusters are equally far apart
                self.assertTrue(same_partition(levels[1]["base_labels"], [k // 2 for k in kinds]), method)

    def test_diagonal(self):
        for method in SPECTRAL:
            for diagonal in ("zero", "keep"):
                self.ok("cluster", "m.json", "-k", "3", "--method", method, "--diagonal", diagonal, "-o", "c.json")
                self.assertEqual(self.load("c.json")["options"]["diagonal"], diagonal)
                self.assertTrue(same_partition(self.load("c.json")["labels"], self.kinds), method)

    def test_choose(self):
        rows = self.ok("choose", "m.json", "-k", "2,3", "--method", "ppk-ac", "--json").json()["choices"]
        self.assertEqual([r["K"] for r in rows], [2, 3])
        self.assertIsNone(rows[0]["bound"])

    def test_refuses(self):
        self.fails(2, "--method is one of vhem, vbhem, auto, em-h3m, ", "cluster", "m.json", "-k", "2", "--method", "ppk")
        self.fails(2, "--linkage is one of average, complete, single, not 'ward'", "cluster", "m.json", "-k", "2",
                   "--linkage", "ward")
        self.fails(2, "--kernel is one of", "tree", "m.json", "-k", "2", "--kernel", "rbf")
        self.fails(2, "--diagonal is one of zero, keep, not 'one'", "tree", "m.json", "-k", "2", "--diagonal", "one")
        self.fails(2, "--lambda needs a number above 0, not '0'", "cluster", "m.json", "-k", "2", "--method",
                   "ppk-sc", "--lambda", "0")
        self.fails(1, "too few for 13 clusters", "cluster", "m.json", "-k", "13", "--method", "ppk-sc")
        self.fails(2, "method kl-ac does not use --init", "cluster", "m.json", "--method", "kl-ac", "--init", "m.json")
        self.fails(2, "method hem-gmm does not use --states", "cluster", "m.json", "-k", "2",
                   "--method", "hem-gmm", "-S", "3")

    def test_clusters_without_centres(self):
        """They are not models: whatever takes models says so."""
        self.ok("cluster", "m.json", "-k", "3", "--method", "kl-sc", "-o", "c.json")
        c = json.loads(self.path("c.json").read_text())
        c.pop("centers", None)
        self.write("c.json", json.dumps(c))
        told = "c.json has clusters without centres; give the file of the models that were clustered"
        self.fails(1, told, "convert", "c.json", "d.json")
        self.ok("cluster", "m.json", "-k", "3", "--restarts", "1", "-o", "v.json")
        self.fails(1, told, "assign", "v.json", "c.json")
        self.fails(1, told, "convert", "c.json", "-o", "d.h5")
        self.check_without_centres("c.json", "12 models in 3 clusters")
        c.pop("method")
        self.write("c.json", json.dumps(c))
        self.fails(1, told, "convert", "c.json", "d.json")
        self.assertNotIn("  method ", self.check_without_centres("c.json", "12 models in 3 clusters"))
        self.ok("tree", "m.json", "-k", "4,2", "--restarts", "1", "-o", "t.json")
        t = json.loads(self.path("t.json").read_text())
        t["levels"][0].pop("centers")
        self.write("t.json", json.dumps(t))
        out = self.check_without_centres("t.json", "a tree of 2 levels over 12 models")
        self.assertRegex(out, r"cluster   size  members\n(.|\n)*cluster   size   weight   S   M  members\n")

    def check_without_centres(self, path, first):
        """Its groups are shown; nothing can be put into them."""
        self.write("s.csv", "id,x\na,1\na,2\n")
        told = f"{path} has clusters without centres, so nothing can be assigned to them; make the file again"
        self.fails(1, told, "assign", path, "s.csv")
        self.fails(1, told, "assign", path, "m.json")
        self.fails(1, "the clusters have no centres to score sequences under", "stats", path, "s.csv")
        self.assertNotIn("omega", self.ok("info", path, "--json").json()["levels"][0]["clusters"][0])
        out = self.ok("info", path, "--all").out
        self.assertIn(first, out)
        self.assertRegex(out, r"cluster   size  members\n +0 +\d+  \w")
        return out

    def test_the_page_knows_every_method(self):
        known = self.run_vhem("cluster", "m.json", "-k", "2", "--method", "?").err.split(" one of ")[1].split(", not ")[0]
        page = (SOURCE / "docs/methods.md").read_text()
        for method in known.split(", "):
            self.assertIn(f"`{method}`", page)
        self.assertLessEqual(set(METHODS), set(known.split(", ")))

    def test_the_example_of_the_page(self):
        self.path("m.json").rename(self.path("models.json"))
        block = (SOURCE / "docs/methods.md").read_text().split("```sh\n")[1].split("```")[0]
        done = subprocess.run(["sh", "-ec", f'vhem() {{ "{VHEM}" "$@"; }}\n{block}'], cwd=self.dir, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Rand index", done.stdout)

    def test_models_all_alike(self):
        one = self.models["hmms"][0]
        self.models["hmms"] = [{**one, "name": f"m{i}"} for i in range(12)]
        self.write("same.json", json.dumps(self.models))
        for method in METHODS:
            self.ok("tree", "same.json", "-k", "3,2", "--method", method, "-o", "t.json")
            levels = self.load("t.json")["levels"]
            self.assertAlmostEqual(sum(levels[0]["centers"]["omega"]), 1)


if __name__ == "__main__":
    unittest.main()
