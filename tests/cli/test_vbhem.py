# SPDX-License-Identifier: BSD-3-Clause
"""vhem cluster --method vbhem: the golden runs through files, how many clusters and states it finds, what it
writes, and what it refuses."""
import json
import random
import signal
import subprocess
import time
import unittest

from support import HANGS, SOURCE, VHEM, Case, flock, same_partition, worked

GOLDEN = SOURCE / "tests" / "golden" / "data" / "vbhem"


def near(got, want, tol=1e-9):
    """Every number of want is in got."""
    if isinstance(want, dict):
        return all(near(got[k], want[k], tol) for k in want)
    if isinstance(want, list):
        return len(got) == len(want) and all(near(g, w, tol) for g, w in zip(got, want))
    if isinstance(want, (int, float)):
        return abs(got - want) <= tol * max(1, abs(want))
    return got == want


class Bayes(Case):
    def load(self, name):
        return json.loads(self.path(name).read_text())

    def golden(self, name, n_iter=None):
        """The files of a golden run, and its command line."""
        g = json.loads((GOLDEN / name).read_text())
        for key in ("base", "prior", "init"):
            self.write(f"{key}.json", json.dumps(g[key]))
        return g, ["cluster", "base.json", "--method", "vbhem", "--prior", "prior.json", "--tau", g["tau"], "--nv",
                   repr(g["N"] / len(g["base"]["omega"])), "--restarts", 1, "--tol", 0, "--max-iter",
                   g["n_iter"] if n_iter is None else n_iter,
                   "--no-prune", "-o", "out.json"]

    def test_exact_runs(self):
        for name in ("vbhem01_one_gaussian.json", "vbhem02_full.json", "vbhem03_diag_mix.json"):
            g, command = self.golden(name)
            self.ok(*command, "--init", "init.json", "-k", len(g["init"]["alpha"]))
            out = self.load("out.json")
            self.assertTrue(near(out["bound"], g["bound"]), name)
            self.assertTrue(near(out, g["after"][str(g["n_iter"])]), name)
            self.assertEqual(len(out["prior"]["W"]), g["base"]["d"])
            # the result is a start itself: it goes on where it stands
            self.ok(*self.golden(name, 0)[1][:-1], "more.json", "--init", "out.json")
            self.assertTrue(near(self.load("more.json")["bound"], g["bound"][-1:]), name)

    def test_toolbox(self):
        g, command = self.golden("vbhem_emhmm_t1.json")
        self.ok(*command, "--init", "init.json", "--preset", "emhmm")
        self.assertTrue(near(self.load("out.json")["bound"], g["bound"]))
        self.ok(*self.golden("vbhem_emhmm_t1.json", 13)[1], "--init", "init.json", "--preset", "emhmm")
        self.assertTrue(near(self.load("out.json"), g["after"]["13"]))

    def test_learned_priors_raise_the_bound(self):
        _, command = self.golden("vbhem03_diag_mix.json")
        self.ok(*command, "--init", "init.json", "--learn-prior", 2)
        out, bound = self.load("out.json"), self.load("out.json")["bound"]
        self.assertTrue(all(b >= a - 1e-9 for a, b in zip(bound, bound[1:])))
        self.assertNotEqual(out["prior"]["nu"], 1.5)

    def test_finds_what_is_there(self):
        self.write("m.json", flock())
        kinds = [h["label"] for h in self.load("m.json")["hmms"]]
        r = self.ok("cluster", "m.json", "--method", "vbhem", "-k", 6, "-S", 4, "--nv", 10, "-o", "c.json")
        c = self.load("c.json")
        self.assertTrue(same_partition(c["labels"], kinds))
        self.assertIn("3 of at most 6 clusters are needed, with 2 of at most 4 states", r.err)
        self.assertEqual((len(c["centers"]["hmms"]), c["K_max"]), (3, 6))
        self.assertEqual(len(c["posterior"]["hmms"]), 3)
        self.assertTrue(near(sum(c["posterior"]["alpha"]), 12 + 3))
        bound = c["bound"]
        self.assertEqual(c["repairs"]["bound_fell"], 0)
        self.assertTrue(all(len(row) == 3 for row in c["z"] + c["L_hmm"]))
        self.assertEqual(len(bound), c["n_iter"] + 1)
        where = self.ok("assign", "c.json", "m.json").rows()
        self.assertEqual([int(w["cluster"]) for w in where], c["labels"])
        self.ok("report", "c.json", "--models", "m.json", "-o", "r.html")
        self.assertNotIn("nan", self.ok("info", "c.json").out)
        self.ok("cluster", "m.json", "--method", "vbhem", "-k", 6, "-S", 4, "--nv", 10, "-t", 2, "-o", "2.json")
        self.assertEqual(self.load("2.json")["posterior"], c["posterior"])
        self.ok("tree", "m.json", "--method", "vbhem", "-k", "6,2", "--nv", 10, "-o", "t.json")
        self.assertEqual(len(self.load("t.json")["levels"]), 2)

    def test_tree_looks_as_closely_at_every_level(self):
        m = json.loads(flock())
        m["lengths"] = {"min": 40, "median": 70, "max": 90}
        self.write("m.json", json.dumps(m))
        r = self.ok("tree", "m.json", "--method", "vbhem", "-k", "6,2", "-o", "t.json")
        self.assertEqual([c["options"]["nv"] for c in self.load("t.json")["levels"]], [7, 7])
        self.assertEqual(r.err.count("for 70 virtual frames"), 2)

    def test_more_clusters_than_models(self):
        self.write("m.json", flock())
        r = self.ok("cluster", "m.json", "--method", "vbhem", "-k", 40, "--nv", 10, "-o", "c.json")
        self.assertIn("at most 12 clusters are tried, not 40: there are 12 models", r.err)
        self.assertEqual((self.load("c.json")["K_max"], len(self.load("c.json")["centers"]["hmms"])), (12, 3))
        self.ok("tree", "m.json", "--method", "vbhem", "-k", "40,2", "--nv", 10, "-o", "t.json")

    def test_words_where_nothing_could_be_spared(self):
        self.write("m.json", flock())
        r = self.ok("cluster", "m.json", "--method", "vbhem", "-k", 3, "--nv", 10, "-o", "c.json")
        self.assertIn("all the clusters are needed: there may be more than -k allows; they have 2 of at most 2 states",
                      r.err)
        self.assertIn("best runs agree on these groups", r.err)
        r = self.ok("cluster", "m.json", "--method", "vbhem", "-k", 3, "--nv", 10, "--no-prune", "-o", "c.json")
        self.assertIn("nothing was pruned: the clusters have 2 states", r.err)
        self.assertNotIn("that is the answer", r.err)

    def test_bounds_are_those_of_the_last_sizes(self):
        self.write("m.json", flock(kinds=4, per_kind=6, apart=4.0))
        for more in ([], ["--max-iter", 3], ["--tol", "1e-9"]):
            self.ok("cluster", "m.json", "--method", "vbhem", "-k", 8, "-S", 4, "--nv", 8, *more, "-o", "c.json")
            c = self.load("c.json")
            bound, last = c["bound"], c["options"]["max_iter"]
            self.assertLessEqual(c["n_iter"], last)
            self.assertEqual(len(bound), c["n_iter"] + 1)
            self.assertTrue(all(b >= a - 1e-9 * abs(a) for a, b in zip(bound, bound[1:])), bound)
            if c["converged"] and c["n_iter"]:
                self.assertLess(abs(bound[-1] - bound[-2]), max(c["options"]["tol"], 1e-12) * abs(bound[-2]))

    def test_models_of_weight_zero_have_no_say(self):
        m = json.loads(flock())
        m["omega"] = [0.0] + [1 / 11] * 11
        self.write("m.json", json.dumps(m))
        self.ok("cluster", "m.json", "--method", "vbhem", "-k", 6, "--nv", 10, "-o", "c.json")
        self.assertEqual(len(self.load("c.json")["centers"]["hmms"]), 3)

    def test_report_has_intervals(self):
        self.write("m.json", flock())
        self.ok("cluster", "m.json", "--method", "vbhem", "-k", 5, "--nv", 10, "-o", "c.json")
        self.ok("report", "c.json", "--models", "m.json", "--tables", "t", "-o", "r.html")
        rows = [line.split("\t") for line in self.path("t/intervals.tsv").read_text().splitlines()]
        self.assertEqual(rows[0], "level cluster parameter state to component dimension symbol mean low high".split())
        # for each of 3 clusters omega, pi, pi_once, A, c, mu
        self.assertEqual([r[2] for r in rows[1:]].count("A"), 3 * 4)
        self.assertEqual(len(rows) - 1, 3 * (1 + 2 + 2 + 4 + 2 + 2))
        c = self.load("c.json")
        for _, j, name, s, to, _, _, _, mean, low, high in rows[1:]:
            self.assertTrue(float(low) <= float(mean) <= float(high), name)
            if name == "A":
                self.assertAlmostEqual(c["centers"]["hmms"][int(j)]["A"][int(s)][int(to)], float(mean), delta=1e-9)
        # a cluster of 4 models has seen 4 starts, not the 40 of the posterior
        for j, h in enumerate(c["posterior"]["hmms"]):
            wide = {r[2]: [float(x) for x in r[8:]] for r in rows[1:] if r[1] == str(j) and r[3] == "0"}
            n = [(x - 1) / 10 for x in h["eta"]]
            self.assertAlmostEqual(sum(n), 4, delta=1e-6)
            self.assertAlmostEqual(wide["pi_once"][0], (1 + n[0]) / (2 + sum(n)), delta=1e-9)
            self.assertGreater(wide["pi_once"][2] - wide["pi_once"][1], 2 * (wide["pi"][2] - wide["pi"][1]))
        page = self.path("r.html").read_text()
        self.assertIn("with a probability of 95 %, had 10 samples of 10 frames been seen of each model", page)
        self.assertIn("3 of at most 5 clusters are needed, the largest first; 2 were pruned", page)
        self.assertRegex(page, r"Of at most \d states their centres need \d, \d and \d\.")
        for figure in ("center-1-0-known", "center-1-2-means"):
            self.assertIn(figure, page)
        self.ok("cluster", "m.json", "-k", 3, "-o", "v.json")
        self.ok("report", "v.json", "--tables", "u", "-o", "r.html")
        self.assertFalse(self.path("u/intervals.tsv").exists())

    def test_groups_stand_for_all_their_frames(self):
        rng = random.Random(2)
        rows = [f"p{n % 6}_{n},p{n % 6},{rng.gauss(9 * (n % 2), 1):.4f}" for n in range(60) for _ in range(4)]
        self.write("d.csv", "id,who,x\n" + "\n".join(rows) + "\n")
        self.ok("fit", "d.csv", "--group", "who", "-S", 1, "-o", "m.json")
        self.assertEqual(self.load("m.json")["lengths"], {"min": 4, "median": 4, "max": 4, "frames": 40})
        r = self.ok("cluster", "m.json", "--method", "vbhem", "-k", 4, "-o", "c.json")
        self.assertIn("2 of at most 4 clusters are needed", r.err)
        self.assertIn("for 40 virtual frames", r.err)
        self.ok("fit", "d.csv", "-S", 1, "-o", "each.json")
        self.assertNotIn("frames", self.load("each.json")["lengths"])

    def test_interrupt_keeps_the_best_so_far(self):
        self.write("big.json", flock(kinds=8, per_kind=60, apart=2.0))
        p = subprocess.Popen([VHEM, "cluster", "big.json", "--method", "vbhem", "-k", "60", "-S", "4", "-t", "1", "-o",
                              "c.json"], cwd=self.dir, stderr=subprocess.PIPE, text=True)
        while p.poll() is None and worked(p.pid) < 8:  # the first of the runs takes half of it
            time.sleep(0.1)
        self.assertIsNone(p.poll(), "it was not long enough")
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=HANGS)[1]
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("interrupted; the best so far", err)
        self.assertIn("stopped before the numbers of clusters and states were settled", err)
        self.assertEqual(len(self.load("c.json")["labels"]), 480)

    def test_settings_of_the_prior(self):
        self.write("m.json", flock())
        self.ok("cluster", "m.json", "--method", "vbhem", "-k", 3, "--nv", 1, "--prior", "alpha=0.5,nu=7,lambda=0.1",
                "-o", "c.json")
        prior = self.load("c.json")["prior"]
        self.assertEqual((prior["alpha"], prior["nu"], prior["lambda"]), (0.5, 7, 0.1))
        self.ok("cluster", "m.json", "--method", "vbhem", "-k", 3, "--nv", 1, "--prior", "c.json", "-o", "d.json")
        self.assertTrue(near(self.load("d.json")["prior"], prior))

    def test_refuses_bad_priors(self):
        g, command = self.golden("vbhem02_full.json")

        def bad(text, **change):
            self.write("prior.json", json.dumps({**g["prior"], **change}))
            self.fails(1, text, *command, "--init", "init.json")

        bad("prior: nu is 1, must be more than 1", nu=1.0)
        bad("prior: lambda is -0.5, must be more than 0", lambda_=0, **{"lambda": -0.5})
        bad("prior: alpha is 0, must be more than 0", alpha=0)
        bad("m", m=[1.0, 2.0, 3.0])
        bad("W is not positive definite", W=[1.0, -1.0])
        bad("the prior has dimension 1, must be 2, that of the models", d=1, m=[0.0], W=[1.0])
        bad("the prior is for gaussian-diag models, not for gaussian-full", emission="gaussian-diag")
        for settings, text in (("nu=0.5", "prior: nu is 0.5, must be more than 1"),
                               ("eps=-1", "prior: eps is '-1', must be a finite number above 0"),
                               ("nu=1e15", "prior: nu is '1e15', must be from 1e-12 to 1e+09"),
                               ("nu=5,eps=1,nu=6", "prior: nu is set twice"),
                               ("beta=1", "there is no setting 'beta'")):
            self.fails(1, text, "cluster", "base.json", "--method", "vbhem", "-k", 2, "--prior", settings, "-o", "x.json")
        self.write("init.json", json.dumps({**g["init"], "alpha": [1.0]}))
        self.fails(1, "alpha", *self.golden("vbhem02_full.json")[1][:-2], "-o", "x.json", "--init",
                   self.write("broken.json", json.dumps({**g["init"], "alpha": [1.0]})))

    def test_states_are_chosen(self):
        rng = random.Random(4)
        rows = ["seq,x"]
        for n in range(6):
            for t in range(60):
                level = 9 * (t // 10 % (1 + n % 3))
                rows.append(f"s{n},{level + rng.gauss(0, 1):.5f}")
        self.write("d.csv", "\n".join(rows) + "\n")
        r = self.ok("fit", "d.csv", "--states", "1..4", "-o", "m.json")
        self.assertIn("states chosen by variational Bayes: 1 state: 2, 2 states: 2, 3 states: 2", r.err)
        self.assertEqual([h["S"] for h in self.load("m.json")["hmms"]], [1, 2, 3] * 2)
        self.assertNotIn("that were allowed", r.err)
        self.assertIn("vhem fit: 2 of 6 HMMs have all 3 states that were allowed, and might need more: try --states 1..6",
                      self.ok("fit", "d.csv", "--states", "1..3", "-o", "m.json").err)
        self.write("short.csv", "seq,x\n" + "".join(f"s{n},{rng.gauss(0, 1):.5f}\n" * (1 + n) for n in range(3)))
        short = self.ok("fit", "short.csv", "--states", "auto", "-o", "short.json").err
        self.assertIn("states chosen by variational Bayes: 1 state: 3", short)
        self.assertNotIn("fewer frames than", short)
        facts = self.ok("fit", "d.csv", "--states", "auto", "-o", "m.json", "--json").json()
        self.assertEqual([m["S"] for m in facts["models"]], [1, 2, 3] * 2)
        self.fails(1, "1 to 1000 states would be 1000 fits of every model, at most 50 are tried: give a narrower range",
                   "fit", "d.csv", "--states", "1..1000")
        self.fails(2, "--states needs a whole number of at least 1, a range like 2..6, or auto, not '4..2'", "fit", "d.csv",
                   "--states", "4..2", "-o", "x.json")
        self.fails(1, "not for a mixture", "fit", "d.csv", "--states", "2..3", "--mixture", 2, "-o", "x.json")
        self.fails(1, "which needs a prior", "fit", "d.csv", "--states", "2..3", "--prior", "none", "-o", "x.json")
        self.write("n.csv", "id,x\n" + "a,1\na,3\n" * 9)
        self.fails(1, "there is no variational Bayes for gamma emissions: the shape of a gamma distribution has no "
                   "conjugate prior; compare numbers", "fit", "n.csv", "--states", "auto", "--emission", "gamma", "-o", "x.json")

    def test_other_families(self):
        """Symbols, counts and products: states and clusters are found, and what is known of them is in files and tables."""
        rng = random.Random(4)
        rows = ["id,label,s,n,x"]
        for i in range(12):
            high = i % 2
            for t in range(100):
                here = t // 25 % 2
                symbol = rng.choices("abc", [30, 1, 1] if here else [1, 1, 30] if high else [1, 30, 1])[0]
                count = sum(rng.random() < 0.1 for _ in range(20 if here else 200 if high else 60))
                rows.append(f"q{i},{'lh'[high]},{symbol},{count},{rng.gauss(5 * here, 1):.4f}")
        self.write("d.csv", "\n".join(rows) + "\n")
        for emission, columns in (("categorical", "s"), ("poisson", "n"), ("s:categorical,n:poisson,x:gaussian-diag", "s,n,x")):
            self.ok("fit", "d.csv", "--columns", columns, "--emission", emission, "--states", "1..3", "-r", 4, "-o", "m.json")
            self.assertEqual({h["S"] for h in self.load("m.json")["hmms"]}, {2}, emission)
            self.ok("cluster", "m.json", "--method", "vbhem", "-k", 4, "-S", 3, "-o", "c.json")
            c = self.load("c.json")
            self.assertEqual([h["S"] for h in c["centers"]["hmms"]], [2, 2], emission)
            self.assertEqual(c["agreement"]["adjusted_rand"] if "agreement" in c else 1, 1)
            self.ok("cluster", "m.json", "--method", "vbhem", "--init", "c.json", "--max-iter", 1, "-o", "e.json")
            self.assertGreater(self.load("e.json")["bound"][0], c["bound"][-1] - 1e-6)
            self.write("p.json", json.dumps(c["prior"]))
            self.ok("cluster", "m.json", "--method", "vbhem", "-k", 4, "-S", 3, "--prior", "p.json", "-o", "e.json")
            self.assertEqual(self.load("e.json")["bound"], c["bound"])
        self.ok("report", "c.json", "--models", "m.json", "--tables", "t", "-o", "r.html")
        rows = [line.split("\t") for line in self.path("t/intervals.tsv").read_text().splitlines()[1:]]
        self.assertEqual(sorted({(r[2], r[6], r[7]) for r in rows if r[6]}),
                         [("mu", "2", ""), ("p", "0", "a"), ("p", "0", "b"), ("p", "0", "c"), ("rate", "1", "")])
        for r in rows:
            self.assertTrue(float(r[9]) <= float(r[8]) <= float(r[10]), r)
        self.fails(1, "there is no setting 'nu' for product models", "cluster", "m.json", "--method", "vbhem", "-k", 2, "--prior",
                   "nu=3", "-o", "x.json")
        self.ok("fit", "d.csv", "--columns", "n,x", "--emission", "n:poisson,x:von-mises", "-o", "v.json")
        self.fails(1, "column 'x': there is no variational Bayes for von-mises emissions", "cluster", "v.json", "--method",
                   "vbhem", "-k", 2, "-o", "x.json")

    def test_refuses_what_it_does_not_use(self):
        self.write("m.json", flock())
        for option in (["--cov-floor", "1e-3"], ["--cov-add", "1"], ["--no-repair"], ["--refine", "2"]):
            self.fails(2, "method vbhem does not use", "cluster", "m.json", "-k", 2, "--method", "vbhem", *option,
                       "-o", "x.json")
        for option in (["--prior", "alpha=1"], ["--learn-prior", "2"], ["--no-prune"]):
            r = self.run_vhem("cluster", "m.json", "-k", 2, *option, "-o", "x.json")
            self.assertNotEqual(r.code, 0)


if __name__ == "__main__":
    unittest.main()
