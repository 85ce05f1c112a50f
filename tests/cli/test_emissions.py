# SPDX-License-Identifier: BSD-3-Clause
"""Emission families and missing values, from data to clusters and back."""
import csv
import json
import math
import random
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET

from support import SOURCE, Case


def counts(rng, k, s):
    return [sum(rng.random() < 0.05 + 0.2 * s for _ in range(20)), sum(rng.random() < 0.2 + 0.5 * s * k for _ in range(20))]


DRAW = {
    "poisson": counts,
    "bernoulli": lambda rng, k, s: [int(rng.random() < (0.9 if s else 0.1)), int(rng.random() < (0.9 if s == k else 0.2))],
    "gamma": lambda rng, k, s: [0 if rng.random() < 0.1 else rng.gammavariate(2 + 8 * s * (1 + k), 0.5)],
    "von-mises": lambda rng, k, s: [rng.vonmisesvariate(0.3, 8) if s else rng.vonmisesvariate(3, 1 + 6 * k)],
    "gaussian-diag": lambda rng, k, s: [rng.gauss(6 * s, 1), rng.gauss(6 * s * k, 1)],
}


class Emissions(Case):
    def data(self, name, emission, gaps=0.0, frames=40, n=12):
        rng, rows = random.Random(4), []
        for i in range(n):
            s = 0
            for _ in range(frames):
                s = 1 - s if rng.random() < 0.2 else s
                y = DRAW[emission](rng, i % 2, s)
                rows.append(f"s{i},c{i % 2}," + ",".join("" if rng.random() < gaps else f"{v:.6g}" for v in y))
        self.write(name, "\n".join(["id,label," + ",".join(f"x{k}" for k in range(len(y)))] + rows) + "\n")

    def read(self, name):
        with open(self.path(name)) as f:
            return json.load(f)

    def test_from_data_to_clusters(self):
        for emission in DRAW:
            for gaps in (0, 0.2):
                self.data("d.csv", emission, gaps)
                r = self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "-o", "m.json")
                self.assertEqual("integrated out" in r.err, gaps > 0)
                self.assertEqual(self.read("m.json")["emission"], emission)
                self.ok("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json")
                labels = self.read("c.json")["labels"]
                wrong = sum(label != i % 2 for i, label in enumerate(labels))
                self.assertLessEqual(min(wrong, len(labels) - wrong), 1, (emission, gaps, labels))
                self.ok("score", "m.json", "d.csv")
                self.ok("decode", "m.json", "d.csv", "--hmm", "0", "-o", "p.csv")
                self.ok("convert", "m.json", "m.h5")
                self.ok("convert", "m.h5", "back.json")
                self.assertEqual(self.read("m.json")["hmms"], self.read("back.json")["hmms"])
        self.ok("assign", "c.json", "d.csv")
        self.ok("report", "c.json", "-o", "r.html")

    def test_other_methods(self):
        for emission in ("poisson", "von-mises"):
            self.data("d.csv", emission)
            self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "-o", "m.json")
            for method in ("ppk-sc", "kl-sc", "kl-ac", "hem-gmm", "shem"):
                self.ok("cluster", "m.json", "-k", "2", "--method", method, "-o", "c.json")
            self.ok("report", "c.json", "-o", "r.html")
            self.ok("cluster", "d.csv", "-k", "2", "--states", "2", "--method", "em-h3m", "--emission", emission,
                    "--restarts", "2", "-o", "c.json")
            self.assertEqual(self.read("c.json")["centers"]["emission"], emission)
            self.ok("choose", "m.json", "-k", "1..2", "--restarts", "2")
            self.ok("sample", "m.json", "-n", "4", "-T", "10", "-o", "s.csv")
            self.ok("fit", "s.csv", "--emission", emission, "-o", "again.json")
        self.fails(1, "refine cuts Gaussians and symbols, and these are von-mises models", "cluster", "m.json", "-k", "2", "--refine",
                   "2", "-o", "c.json")

    def test_same_at_any_number_of_threads(self):
        self.data("d.csv", "gamma", 0.2)
        for threads in ("1", "2"):
            self.ok("fit", "d.csv", "--states", "2", "--emission", "gamma", "--threads", threads, "-o", f"{threads}.json")
        self.assertEqual(self.read("1.json")["hmms"], self.read("2.json")["hmms"])

    def test_gamma_without_positive_values(self):
        rng = random.Random(4)
        some = [f"s{i},{rng.gammavariate(2, 1):.5f},{rng.gammavariate(2, 1):.5f}" for i in range(3)
                for _ in range(20)]
        zeros, without = ([f"{x},1.{t},{y}" for t in range(20)] for x, y in (("z", "0"), ("w", "")))
        for rows in (some + zeros, some + without, [row.replace(",1.", ",0.") for row in zeros],
                     [f"{x},0,0" for x in "ab" for _ in range(20)]):
            lacks = 1 if rows[-1].startswith("w") else 2  # from which column on
            for prior in ("none", "vb"):
                self.write("d.csv", "\n".join(["id,x,y"] + rows) + "\n")
                self.ok("fit", "d.csv", "--states", "2", "--emission", "gamma", "--prior", prior,
                        "-o", "m.json")
                self.ok("score", "m.json", "d.csv")
                last = self.read("m.json")["hmms"][-1]
                states = last["shape"] + last["rate"]
                self.assertTrue(all(y > 0 for state in states for part in state for y in part[:lacks]))
                self.assertTrue(all(y is None for state in states for part in state for y in part[lacks:]))
                if rows[-1].endswith(",0") and prior == "none":
                    self.assertEqual([state[0][1] for state in last["zero"]], [1, 1])

    def test_zeros_without_zero_mass(self):
        rng = random.Random(3)
        self.write("d.csv", "id,x\n" + "".join(f"s{i},{rng.gammavariate(2, 1):.4f}\n" for i in range(2) for _ in range(30)))
        self.ok("fit", "d.csv", "--emission", "gamma", "--prior", "none", "--cov-floor", "0", "-o", "m.json")
        self.write("e.csv", "id,x\na,1\na,0\n")
        self.fails(1, "sequence 'a': frame 1 (counted from 0), column 'x' is 0, must be more than 0: no state of the models can "
                   "give exactly 0", "score", "m.json", "e.csv")

    def test_wrong_values(self):
        self.write("d.csv", "id,n,b\na,1,0\na,2,1\na,-3,1\n")
        self.fails(1, "sequence 'a': frame 2 (counted from 0), column 'n' is -3, must be a whole number of 0 or more", "fit",
                   "d.csv", "--emission", "poisson", "-o", "m.json")
        self.fails(1, "frame 1 (counted from 0), column 'n' is 2, must be 0 or 1", "fit", "d.csv", "--emission", "bernoulli",
                   "-o", "m.json")
        self.fails(1, "column 'n' is -3, must be 0 or a positive number", "fit", "d.csv", "--emission", "gamma", "-o",
                   "m.json")
        self.write("e.csv", "id,x,y\na,1,\na,2,\n")
        r = self.run_vhem("fit", "e.csv", "--states", "1", "-o", "m.json")
        self.assertEqual(r.code, 1)
        self.assertIn("column 'y' is missing throughout; leave it out with --columns 'x'", r.err)
        self.fails(2, "--cov full asks for gaussian-full, but --emission for poisson", "fit", "d.csv", "--cov", "full",
                   "--emission", "poisson", "-o", "m.json")
        self.fails(1, "a prior is estimated (eb) for Gaussian emissions alone; for bernoulli it is --prior vb, none or a file", "fit", "d.csv", "--columns", "b", "--emission",
                   "bernoulli", "--prior", "eb", "-o", "m.json")

    def test_one_missing_cell(self):
        """A cell that is missing in one sequence changes the HMM of no other."""
        self.data("d.csv", "gaussian-diag")
        with open(self.path("d.csv")) as f:
            rows = f.read().splitlines()
        first = rows[5].split(",")
        rows[5] = ",".join(first[:2] + [""] + first[3:])
        self.write("e.csv", "\n".join(rows) + "\n")
        for cov in ("diag", "full"):
            self.ok("fit", "d.csv", "--states", "2", "--cov", cov, "-o", "d.json")
            self.ok("fit", "e.csv", "--states", "2", "--cov", cov, "--prior", "d.json", "-o", "e.json")
            d, e = self.read("d.json"), self.read("e.json")
            self.assertNotEqual(d["hmms"][0], e["hmms"][0])
            self.assertEqual(d["hmms"][1:], e["hmms"][1:])
            self.ok("fit", "e.csv", "--states", "2", "--cov", cov, "-o", "own.json")
            self.assertAlmostEqual(self.read("own.json")["prior"]["nu"], d["prior"]["nu"], delta=0.02 * d["prior"]["nu"])

    def test_one_prior_for_all(self):
        """With a store every sequence is fitted by itself, and yet with the prior of all of them."""
        for emission in ("gaussian-diag", "poisson"):
            self.data("d.csv", emission, gaps=0.1)
            self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "-o", "m.json")
            self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "--store", "s-" + emission, "-o", "s.json")
            self.assertEqual(self.read("m.json")["prior"], self.read("s.json")["prior"])
            self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "--prior", "m.json", "-o", "p.json")
            self.assertEqual(self.read("m.json")["hmms"], self.read("p.json")["hmms"])
            self.ok("convert", "m.json", "m.h5")
            self.ok("fit", "d.csv", "--states", "2", "--emission", emission, "--prior", "m.h5", "-o", "p.json")
            self.assertEqual(self.read("m.json")["hmms"], self.read("p.json")["hmms"])
        self.fails(1, "the prior is for poisson models, not for gamma", "fit", "d.csv", "--emission", "gamma", "--prior",
                   "m.json", "-o", "p.json")
        self.ok("fit", "d.csv", "--emission", "gaussian-diag", "-o", "g.json")
        self.fails(1, "prior: it is a prior for gaussian-diag models and has no made-up frames", "fit", "d.csv", "--emission",
                   "poisson", "--prior", "g.json", "-o", "p.json")
        for setting in ("lambda=2", "nu0=2,start=ml", "frames=all"):
            self.fails(1, "is a setting for Gaussians alone; for poisson models there are nu0 and count", "fit", "d.csv",
                       "--emission", "poisson", "--prior", setting, "-o", "p.json")
        self.assertIn("states chosen by variational Bayes", self.ok("fit", "d.csv", "--states", "1..2", "--emission",
                                                                    "poisson", "-o", "p.json").err)

    def check_intervals_by_column(self, v):
        """Columns that some HMMs lack have seen fewer frames, and their means are less certain."""
        self.ok("report", "v.json", "--models", "m.json", "--tables", "t", "-o", "r.html")
        rows = [line.split("\t") for line in self.path("t/intervals.tsv").read_text().splitlines()]
        at = {name: k for k, name in enumerate(rows[0])}
        means = [r for r in rows[1:] if r[at["parameter"]] == "mu"]
        self.assertTrue(means)
        for n, r in enumerate(means):
            s, m, k = (int(r[at["state"]]), int(r[at["component"]] or 0), n % v["centers"]["d"])
            h = v["posterior"]["hmms"][int(r[at["cluster"]])]
            self.assertIsInstance(h["lambda"][s][m], float)
            f, weight = h["nu_columns"][s][m][k], h["lambda_columns"][s][m][k]
            student = 1.959964 + (1.959964 + 1.959964**3) / (4 * f)
            reach = student / math.sqrt(h["W"][s][m][k] * weight * f)
            self.assertAlmostEqual(float(r[at["high"]]) - float(r[at["mean"]]), reach, delta=3e-3 * reach)

    def test_column_that_a_sequence_lacks(self):
        """It is null in the model, and the clusters stay where they are."""
        for emission in ("gaussian-diag", "poisson"):
            self.data("d.csv", emission)
            with open(self.path("d.csv")) as f:
                rows = [line.split(",") for line in f.read().splitlines()]
            for row in rows:
                if row[0] in ("s4", "s5"):
                    row[2] = "NA"
            self.write("e.csv", "\n".join(",".join(row) for row in rows) + "\n")
            for more in ((), ("--prior", "none"), ("--store", "lack-" + emission)):
                self.ok("fit", "e.csv", "--states", "2", "--emission", emission, *more, "-o", "m.json")
                m = self.read("m.json")
                first = "mu" if emission == "gaussian-diag" else "rate"
                nulls = [[c[0] is None for s in hmm[first] for c in s] for hmm in m["hmms"]]
                self.assertEqual([all(n) for n in nulls], [any(n) for n in nulls])
                self.assertEqual([i for i, n in enumerate(nulls) if any(n)], [4, 5])
            self.ok("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json")
            c = self.read("c.json")
            self.assertEqual(len(set(zip(c["labels"], [i % 2 for i in range(12)]))), 2, c["labels"])
            self.assertNotIn("null", json.dumps(c["centers"]["hmms"]))
            self.ok("cluster", "m.json", "-k", "2", "--method", "ppk-sc", "-o", "p.json")
            self.ok("cluster", "m.json", "-k", "4", "--method", "vbhem", "-o", "v.json")
            v = self.read("v.json")
            self.assertEqual(len(set(zip(v["labels"], [i % 2 for i in range(12)]))), len(set(v["labels"])), v["labels"])
            self.assertNotIn("null", json.dumps(v["centers"]["hmms"]))
            self.ok("cluster", "m.json", "--method", "vbhem", "--init", "v.json", "-o", "again.json")
            self.assertAlmostEqual(self.read("again.json")["bound"][0], v["bound"][-1], delta=1e-9 * abs(v["bound"][-1]))
            if emission == "gaussian-diag":
                self.check_intervals_by_column(v)
            self.ok("compare", "m.json", "-o", "k.csv")
            self.ok("assign", "c.json", "m.json")
            self.ok("score", "m.json", "e.csv")
            self.ok("convert", "m.json", "m.h5")
            self.ok("convert", "m.h5", "back.json")
            self.assertEqual(m["hmms"], self.read("back.json")["hmms"])
        self.fails(1, "which a full covariance needs; --cov diag does not", "fit", "e.csv", "--cov", "full", "-o", "f.json")

    def test_larger_backgrounds_fit_better(self):
        """Also where they have more Gaussians than a sequence has frames."""
        rng = random.Random(4)
        place = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(40)]
        rows = ["id,a,b,c,d"]
        for i in range(2000):
            rows.append(f"{i // 20}," + ",".join(f"{x + 0.2 * rng.gauss(0, 1):.4f}" for x in rng.choice(place)))
        self.write("short.csv", "\n".join(rows) + "\n")
        last = -math.inf
        for g in (5, 20, 80):
            self.ok("background", "short.csv", "-g", g, "-o", "b.json")
            now = float(re.search(r"log-likelihood (\S+) per frame", self.ok("score", "b.json", "short.csv").err)[1])
            self.assertGreater(now, last + 0.3)
            last = now
            mu = self.read("b.json")["hmms"][0]["mu"][0]
            self.assertEqual(len(set(map(tuple, mu))), g)

    def test_shared_background(self):
        self.data("d.csv", "gaussian-diag")
        self.assertIn("next: vhem fit d.csv --emission gaussian-tied:b.json", self.ok("background", "d.csv", "-g", "6", "-o", "b.json").err)
        self.ok("background", "d.csv", "-g", "6", "-o", "b.h5")
        for b in ("b.json", "b.h5"):
            r = self.ok("fit", "d.csv", "--states", "2", "--emission", f"gaussian-tied:{b}", "-o", "m.json")
            self.assertNotIn("fell", r.err)
        m, mix = self.read("m.json"), self.read("b.json")["hmms"][0]
        self.assertEqual((m["emission"], m["background"]["mu"], m["background"]["cov"]), ("gaussian-tied", mix["mu"][0], mix["cov"][0]))
        self.assertEqual(sorted(m["hmms"][0]), ["A", "M", "S", "c", "fingerprint", "label", "name", "pi"])
        self.assertEqual((m["hmms"][0]["M"], len(m["hmms"][0]["c"]), len(m["hmms"][0]["c"][1])), (6, 2, 6))
        self.ok("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json")
        c = self.read("c.json")
        self.assertEqual(len(set(zip(c["labels"], [i % 2 for i in range(12)]))), 2, c["labels"])
        self.assertEqual(c["centers"]["background"], m["background"])
        for method in ("ppk-sc", "kl-sc", "shem", "hem-gmm"):
            self.ok("cluster", "m.json", "-k", "2", "--method", method, "-o", "p.json")
        self.ok("cluster", "d.csv", "-k", "2", "--states", "2", "--method", "em-h3m", "--emission", "gaussian-tied:b.json",
                "--restarts", "2", "-o", "p.json")
        self.assertIn("mixture    6", self.ok("info", "m.json").out)
        self.ok("tree", "m.json", "-k", "4,2", "-o", "t.json")
        self.ok("compare", "m.json", "-o", "k.csv")
        self.ok("assign", "c.json", "d.csv")
        self.ok("score", "m.json", "d.csv")
        self.ok("decode", "m.json", "d.csv", "--hmm", "0", "-o", "p.csv")
        self.ok("sample", "m.json", "-n", "3", "-T", "20", "-o", "s.csv")
        self.ok("report", "c.json", "-o", "r.html")
        self.ok("classify", "train", "d.csv", "--emission", "gaussian-tied:b.json", "--states", "2", "-o", "y.json")
        self.assertIn("accuracy 1", self.ok("classify", "eval", "y.json", "d.csv").err.replace("1.000", "1"))
        self.ok("convert", "m.json", "m.h5")
        self.ok("convert", "m.h5", "back.json")
        back = self.read("back.json")
        self.assertEqual((m["hmms"], m["background"]), (back["hmms"], back["background"]))
        self.data("e.csv", "gaussian-diag", gaps=0.2)
        self.ok("fit", "e.csv", "--states", "2", "--emission", "gaussian-tied:m.json", "-o", "e.json")
        self.ok("background", "d.csv", "-g", "4", "-o", "b4.json")
        self.ok("fit", "d.csv", "--states", "2", "--emission", "gaussian-tied:b4.json", "-o", "m4.json")
        self.fails(1, "their backgrounds, of 4 and 6 Gaussians, are not the same", "assign", "c.json", "m4.json")
        self.fails(1, "d.csv: ", "fit", "d.csv", "--emission", "gaussian-tied:d.csv", "-o", "x.json")
        self.ok("fit", "d.csv", "-o", "g.json")
        self.fails(1, "g.json holds no background: it has 12 gaussian-diag HMMs", "fit", "d.csv", "--emission",
                   "gaussian-tied:g.json", "-o", "x.json")
        del m["background"]
        self.write("n.json", json.dumps(m))
        self.fails(1, "n.json: background is missing", "info", "n.json")

    def test_classes_and_tags(self):
        """Every family learns classes and tags, and finds them again."""
        for emission in DRAW:
            self.data("d.csv", emission, 0.1)
            train = ["d.csv", "--emission", emission, "--states", "2", "--no-store"]
            self.ok("classify", "train", *train, "-o", "y.json")
            found = re.search(r"accuracy ([0-9.]+)", self.ok("classify", "eval", "y.json", "d.csv").err)
            self.assertGreaterEqual(float(found[1]), 0.9, emission)
        self.write("tags.csv", "id,tag\n" + "".join(f"s{i},{'even' if i % 2 == 0 else 'odd'}\n" for i in range(12)))
        for emission in ("poisson", "von-mises"):
            self.data("d.csv", emission, 0.1)
            self.ok("annotate", "train", "d.csv", "--emission", emission, "--states", "2", "--no-store", "--tags", "tags.csv",
                    "-o", "t.json")
            said = self.ok("annotate", "eval", "t.json", "d.csv", "--tags", "tags.csv", "--top", "1").err
            self.assertGreaterEqual(float(re.search(r"precision ([0-9.]+)", said)[1]), 0.9, said)

    def test_figures_of_a_report(self):
        """Bars of symbols, counts and bits, a rose of angles, densities of the rest; examples with gaps."""
        rng, rows = random.Random(2), []
        for i in range(8):
            for t in range(30):
                s = (t // 8 + i) % 2
                y = [rng.gammavariate(2 + 6 * s, 1 + i % 2) if rng.random() < 0.9 else 0, rng.vonmisesvariate(3 * s, 2),
                     int(rng.gammavariate(2 + 9 * s, 1)), rng.choice(["rest & eat", "<walk>", "fly"][s:s + 2]),
                     int(rng.random() < 0.2 + 0.6 * s), rng.gauss(5 * s, 1)]
                rows.append(f"s{i}," + ",".join("" if rng.random() < 0.2 or (i == 1 and k == 5) else f"{v}"
                                                for k, v in enumerate(y)))
        self.write("d.csv", "id,step,turn,count,what,bit,x\n" + "\n".join(rows) + "\n")
        self.ok("fit", "d.csv", "--states", "2", "-o", "m.json", "--emission",
                "x:gaussian-diag,step:gamma,turn:von-mises,count:poisson,what:categorical,bit:bernoulli")
        self.ok("cluster", "m.json", "-k", "2", "-o", "c.json")
        self.ok("report", "c.json", "--models", "m.json", "--data", "d.csv", "-o", "r.html")
        with open(self.path("r.html"), encoding="utf-8") as f:
            text = f.read()
        figures = re.findall(r'<figure id="fig-([^"]*)".*?<div class="scroll">(<svg class="fig".*?)</div>\n<figcaption>', text, re.S)
        for _, figure in figures:
            ET.fromstring(figure)
            self.assertNotRegex(figure, r'[">, ]-?(nan|inf)')
        drawn = dict(figures)
        self.assertTrue([name for name in drawn if name.startswith("example-")])
        for j in (0, 1):
            tips = re.findall(r"<title>(State [^<]*)</title>", drawn[f"center-1-{j}-emissions"])
            for what in ("exactly 0 with probability", "turn around", "x around", "step around", "State 1, 3: ",
                         "State 0, rest &amp; eat: ", "State 1, &lt;walk&gt;: ", "State 0, bit: "):
                self.assertTrue([tip for tip in tips if what in tip], (what, tips))
            shares = [float(tip.split(": ")[1]) for tip in tips
                      if tip.startswith(("State 0, rest", "State 0, &lt;", "State 0, fly"))]
            self.assertAlmostEqual(sum(shares), 1, delta=0.01)
        for emission in DRAW:                 # every family alone
            self.data("e.csv", emission, 0.1)
            self.ok("fit", "e.csv", "--states", "2", "--emission", emission, "-o", "m.json")
            self.ok("cluster", "m.json", "-k", "2", "-o", "c.json")
            self.ok("report", "c.json", "--data", "e.csv", "-o", "r.html")
            with open(self.path("r.html"), encoding="utf-8") as f:
                self.assertIn('id="fig-center-1-1-emissions"', f.read())

    def test_life_courses(self):
        """The log-likelihood and BIC of the page, by a forward recursion that shares nothing with the library."""
        subprocess.run([sys.executable, str(SOURCE / "examples" / "data" / "kinds_of_data.py"), self.path(".")], check=True)
        self.ok("cluster", "courses.csv", "-k", "2", "--method", "em-h3m", "--emission", "categorical", "--states", "3",
                "--seed", "1", "-o", "c.json")
        c, people = self.read("c.json"), {}
        mixture = c["centers"]
        with open(self.path("courses.csv"), encoding="utf-8") as f:
            for row in csv.DictReader(f):
                (word,) = [row[k] for k in row if k not in ("id", "label")]
                people.setdefault(row["id"], []).append(mixture["symbols"].index(word))

        def likelihood(h, y):
            p = [a * b[0][y[0]] for a, b in zip(h["pi"], h["p"])]
            for v in y[1:]:
                p = [sum(q * row[s] for q, row in zip(p, h["A"])) * h["p"][s][0][v] for s in range(h["S"])]
            return sum(p)
        loglik = sum(math.log(sum(w * likelihood(h, y) for w, h in zip(mixture["omega"], mixture["hmms"])))
                     for y in people.values())
        self.assertAlmostEqual(c["bound"][-1] / loglik, 1, delta=1e-10)
        S, V = 3, len(mixture["symbols"])
        free = 1 + 2 * (S - 1 + S * (S - 1) + S * (V - 1))
        bic = -2 * loglik + free * math.log(sum(map(len, people.values())))
        page = (SOURCE / "docs" / "tutorial-data.md").read_text(encoding="utf-8")
        self.assertIn(f"{free} free probabilities", page)
        self.assertIn(f"= {bic:.1f}", page)
        self.assertIn(f"{loglik:.2f} nats", page)

    def test_background_by_what_it_is(self):
        """A store and the random numbers of classes go by what a background is, not by where its file lies."""
        self.data("d.csv", "gaussian-diag")
        self.ok("background", "d.csv", "-g", "4", "-o", "b.json")
        self.ok("background", "d.csv", "-g", "4", "--seed", "3", "-o", "other.json")
        self.write("copy.json", json.dumps(self.read("b.json")))
        fit = ["fit", "d.csv", "--states", "2", "--group", "id", "--store", "s.db", "-o", "m.json", "--emission"]
        self.ok(*fit, "gaussian-tied:b.json")
        old = self.read("m.json")["hmms"]
        self.write("b.json", json.dumps(self.read("other.json")))
        self.ok(*fit, "gaussian-tied:b.json")
        self.assertEqual(self.read("m.json")["background"]["mu"], self.read("other.json")["hmms"][0]["mu"][0])
        self.assertNotEqual(old, self.read("m.json")["hmms"])
        classes = {}
        for b in ("copy.json", "same.json"):
            self.write(b, json.dumps(self.read("copy.json")))
            self.ok("classify", "train", "d.csv", "--states", "2", "--no-store", "--emission",
                    f"gaussian-tied:{b}", "-o", "y.json")
            classes[b] = [c["model"]["hmms"] for c in self.read("y.json")["classes"]]
        self.assertEqual(classes["copy.json"], classes["same.json"])

    def test_prior_of_models(self):
        """A prior serves the columns and symbols it was made for: the fit takes them by name, or refuses."""
        rng = random.Random(8)
        rows = [(f"s{i}", rng.choice("uvw"), rng.randrange(9), rng.randrange(3)) for i in range(6) for _ in range(30)]
        table = lambda head, pick, some: self.write("t.csv", head + "\n" + "".join(  # noqa: E731
            ",".join(map(str, pick(r))) + "\n" for r in rows if some(r)))
        table("id,w", lambda r: r[:2], lambda r: True)
        self.ok("fit", "t.csv", "--emission", "categorical", "--states", "2", "-o", "all.json")
        table("id,w", lambda r: r[:2], lambda r: r[1] != "v")
        self.ok("fit", "t.csv", "--emission", "categorical", "--states", "2", "--prior", "all.json", "-o", "some.json")
        some = self.read("some.json")
        self.assertEqual(some["symbols"], ["u", "v", "w"])
        for h in some["hmms"]:
            for row in h["p"]:
                self.assertAlmostEqual(sum(row[0]), 1, places=9)
        self.ok("convert", "all.json", "some.json", "-o", "both.json")   # the same symbols: one set
        table("id,w", lambda r: (r[0], r[1].replace("v", "z")), lambda r: True)
        self.fails(1, "is 'z', which the models have no symbol for; theirs are u|v|w",
                   "fit", "t.csv", "--emission", "categorical", "--states", "2", "--prior", "all.json", "-o", "x.json")
        table("id,n,m", lambda r: (r[0], r[2], r[3]), lambda r: True)
        for suffix in (".json", ".h5"):
            self.ok("fit", "t.csv", "--emission", "poisson", "--states", "2", "-o", "nm" + suffix)
        self.ok("fit", "t.csv", "--states", "2", "-o", "g.json")
        table("id,m,n", lambda r: (r[0], r[3], r[2]), lambda r: True)
        for more in (("--emission", "poisson", "--prior", "nm.json"), ("--emission", "poisson", "--prior", "nm.h5"),
                     ("--prior", "g.json")):
            self.fails(1, "column 1 of the prior is 'n', but that of the data is 'm'", "fit", "t.csv", "--states", "2", *more,
                       "-o", "x.json")
            self.ok("fit", "t.csv", "--states", "2", *more, "--columns", "n,m", "-o", "x.json")
        self.write("t.csv", "id,w,n\n" + "".join(f"{r[0]},{r[1]},{r[2]}\n" for r in rows))
        self.ok("fit", "t.csv", "--emission", "w:categorical,n:poisson", "--states", "2", "-o", "wn.json")
        self.fails(1, "column 1 of the prior is 'w', but that of the data is 'n'", "fit", "t.csv",
                   "--emission", "n:poisson,w:categorical", "--states", "2", "--prior", "wn.json", "-o", "x.json")

    def test_nothing_observed(self):
        """A sequence without any value has no HMM, whatever the family."""
        for emission in ("categorical", "poisson", "gaussian-full", "x:gamma"):
            self.write("t.csv", "id,x\n" + "".join(f"s{i},{'' if i == 2 else 1 + (t + i) % 3}\n" for i in range(4) for t in range(20)))
            self.fails(1, "HMM 2 ('s2'): none of its frames has a value, so there is nothing to fit; delete its rows",
                       "fit", "t.csv", "--emission", emission, "--states", "1", "-o", "m.json")

    def test_impossible(self):
        """What no state can give is infinitely unlikely, in tables as in JSON."""
        hmm = {"S": 1, "M": 1, "pi": [1], "A": [[1]], "c": [[1]]}
        self.write("m.json", json.dumps({"format": "vhem-h3m", "version": 1, "emission": "bernoulli", "d": 1, "omega": [0.5, 0.5],
                                         "hmms": [{**hmm, "name": "never", "p": [[[0.0]]]}, {**hmm, "name": "half", "p": [[[0.5]]]}]}))
        self.write("t.csv", "id,x\na,0\na,1\nb,0\nb,\n")
        rows = list(csv.DictReader(self.ok("score", "m.json", "t.csv", "--all").out.splitlines(), delimiter="\t"))
        self.assertEqual([r["never"] for r in rows], ["-inf", "0"])
        self.assertAlmostEqual(float(rows[1]["per_value"]), float(rows[1]["loglik"]))   # one value, two frames
        self.assertAlmostEqual(float(rows[1]["per_frame"]), float(rows[1]["loglik"]) / 2)
        pairs = list(csv.DictReader(self.ok("compare", "m.json").out.splitlines(), delimiter="\t"))
        self.assertEqual([p["kl"] for p in pairs if p["a"] == "half"], ["inf"])
        self.assertLess(float(next(p["kl"] for p in pairs if p["a"] == "never")), 100)
        self.assertIsNone(json.loads(self.ok("compare", "m.json", "--json").out)["kl"][1][0])

    def test_background_too_large(self):
        self.data("d.csv", "poisson")
        self.fails(2, "--gaussians is 10000, must be at most 4096", "background", "d.csv", "-g", "10000", "-o", "b.json")

    def test_hints(self):
        self.data("d.csv", "poisson")
        self.assertIn("all columns look like counts, whole numbers of 0 or more: --emission poisson", self.ok("fit", "d.csv", "-o", "m.json").err)
        self.assertNotIn("--emission", self.ok("fit", "d.csv", "--cov", "diag", "-o", "m.json").err)
        rows = "".join(f"a,{random.Random(t).gauss(0, 1):.3f},{(t * 37 % 63) / 10 - 3.1:.2f}\n" for t in range(60))
        self.write("b.csv", "id,x,turn\n" + rows)
        self.assertIn("some columns look like angles: --emission 'x:gaussian-diag,turn:von-mises'",
                      self.ok("fit", "b.csv", "-o", "m.json").err)
        said = "vhem cluster: some columns look like angles: --emission 'x:gaussian-diag,turn:von-mises'"
        self.write("c.csv", "id,x,turn\n" + "".join(f"s{n},{rows.splitlines()[t].split(',', 1)[1]}\n"
                                                    for n in range(4) for t in range(60)))
        self.assertIn(said, self.ok("cluster", "c.csv", "-k", 1, "-o", "c.json").err)
        self.assertNotIn(said, self.ok("cluster", "c.csv", "-k", 1, "--cov", "full", "-o", "c.json").err)
        self.write("p.csv", "id,pressure\n" + "".join(f"a,{110 + t * 37 % 51}\n" for t in range(60)))
        self.assertNotIn("look like", self.ok("fit", "p.csv", "-o", "m.json").err)      # measurements that were rounded
        self.write("t.csv", "id,n,x,place\n" + "".join(f"a,{t * t % 7},{t * 37 % 51 / 7:.3f},{'in' if t % 3 else 'out'}\n"
                                                       for t in range(60)))
        self.assertIn("some columns look like counts, whole numbers of 0 or more: --emission "
                      "'n:poisson,x:gaussian-diag,place:categorical' may suit them better than Gaussians, and takes text "
                      "columns as symbols\n", self.ok("fit", "t.csv", "-o", "m.json").err)
        self.ok("fit", "t.csv", "--emission", "n:poisson,x:gaussian-diag,place:categorical", "-o", "m.json")
        self.write("t.csv", "id,x,place\n" + "".join(f"a,{t * 37 % 51 / 7:.3f},{'in' if t % 3 else 'out'}\n" for t in range(60)))
        self.assertIn("if the text column holds symbols, --emission 'x:gaussian-diag,place:categorical' takes them\n",
                      self.ok("fit", "t.csv", "-o", "m.json").err)
        self.write("t.csv", self.path("t.csv").read_text().replace("place", "group"))
        self.assertNotIn("--emission", self.ok("fit", "t.csv", "-o", "m.json").err)      # it says whose the sequences are
        self.write("a.csv", "id,turn\n" + "".join(f"a,{30 * t % 360}\n" for t in range(40)))
        r = self.ok("fit", "a.csv", "--emission", "von-mises", "--states", "1", "-o", "m.json")
        said = (r"warning: a.csv: line 13: sequence 'a': frame 11 \(counted from 0\), column 'turn' is 330: angles must be in "
                r"radians, not degrees")
        self.assertEqual(len(re.findall(said, r.err)), 1)
        self.write("r.csv", "id,turn\n" + "".join(f"a,{t % 6}\n" for t in range(40)))
        self.assertNotIn("degrees", self.ok("fit", "r.csv", "--emission", "von-mises", "--states", "1", "-o", "m.json").err)
        self.ok("cluster", "m.json", "-k", "1", "-o", "c.json")
        for args in (("score", "m.json"), ("decode", "m.json"), ("assign", "c.json")):
            self.assertEqual(len(re.findall(said, self.ok(*args, "a.csv").err)), 1, args)
            self.assertNotIn("degrees", self.ok(*args, "r.csv").err)

    def test_wholly_missing_frames(self):
        self.write("m.json", json.dumps({
            "format": "vhem-h3m", "version": 1, "emission": "poisson", "d": 1, "omega": [1.0],
            "hmms": [{"S": 2, "M": 1, "pi": [1, 0], "A": [[0, 1], [1, 0]], "c": [[1], [1]], "rate": [[[1.0]], [[9.0]]]}]}))
        self.write("d.csv", "id,n\na,1\na,\na,\na,9\n")
        self.write("e.csv", "id,n\na,1\na,\na,9\n")
        paths = [self.ok("decode", "m.json", f, "--json").json() for f in ("d.csv", "e.csv")]
        text = json.dumps(paths[0])
        self.assertIn("[0, 1, 0, 1]", text)
        self.assertIn("[0, 1, 0]", json.dumps(paths[1]))


if __name__ == "__main__":
    unittest.main()
