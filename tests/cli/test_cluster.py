# SPDX-License-Identifier: BSD-3-Clause
"""vhem cluster: clusters, files, the same bytes for the same seed, exact iterations, refusals."""
import json
import math
import random
import re
import signal
import subprocess
import sys
import time
import unittest

from support import HANGS, VHEM, WINDOWS, Case, flock, log, log_sum, model, same_partition
from test_usage import entries
import vhem_in_80_lines as oracle  # noqa: E402, I001: support knows where it is

EXACT = ["--restarts", "1", "--tol", "0", "--cov-floor", "0"]


def wide(name, rng):
    """Two wide states, somewhere."""
    mu = [[[rng.gauss(0, 1), rng.gauss(0, 1)]], [[rng.gauss(3, 1), rng.gauss(0, 1)]]]
    return {"name": name, "S": 2, "M": 1, "pi": [0.5, 0.5], "A": [[0.7, 0.3], [0.3, 0.7]], "c": [[1], [1]],
            "mu": mu, "cov": [[[1, 1]], [[1, 1]]]}


class WithFlock(Case):
    def setUp(self):
        super().setUp()
        self.text = flock()
        self.models = json.loads(self.text)
        self.write("m.json", self.text)
        self.kinds = [h["label"] for h in self.models["hmms"]]

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def check_clustering(self, out, Kb, Kr, falls=False):
        """What docs/formats.md promises of a clustering."""
        self.assertEqual((out["format"], out["version"], out["method"]), ("vhem-clustering", 1, "vhem"))
        self.assertEqual((len(out["names"]), len(out["labels"]), len(out["z"]), len(out["L_hmm"])), (Kb,) * 4)
        self.assertEqual(len(out["bound"]), out["n_iter"] + 1)
        self.assertIsInstance(out["converged"], bool)
        self.assertIsInstance(out["repairs"], dict)
        self.assertIsInstance(out["options"], dict)
        for z, L, label in zip(out["z"], out["L_hmm"], out["labels"], strict=True):
            self.assertEqual((len(z), len(L)), (Kr, Kr))
            self.assertAlmostEqual(sum(z), 1, places=9)
            self.assertEqual(label, z.index(max(z)))
        for before, after in zip(out["bound"], out["bound"][1:]):
            self.assertTrue(falls or after >= before - 1e-9 * abs(before), out["bound"])
        self.assertEqual(out["centers"]["format"], "vhem-h3m")
        self.assertEqual(len(out["centers"]["hmms"]), Kr)
        self.assertAlmostEqual(sum(out["centers"]["omega"]), 1, places=9)
        self.assertGreaterEqual(len(out["restarts"]), 1)
        for run in out["restarts"]:
            self.assertLessEqual({"seed", "bound", "n_iter"}, set(run))


class Cluster(WithFlock):
    def test_finds_the_kinds(self):
        r = self.ok("cluster", "m.json", "-k", "3", "-o", "c.json")
        self.assertEqual(r.out, "")
        self.assertIn("3 clusters of 12 HMMs in c.json: bound ", r.err)
        self.assertIn("4 HMMs, all kind0: k0_", r.err)
        self.assertIn("agreement with the labels: Rand index 1.000, adjusted 1.000", r.err)
        self.assertRegex(r.err, r"\d+ of \d+ candidates agree on these groups")
        self.assertIn("next: 'vhem info c.json'", r.err)
        self.leftovers("m.json", "c.json")
        out = self.load("c.json")
        self.check_clustering(out, 12, 3)
        self.assertEqual(out["names"], [h["name"] for h in self.models["hmms"]])
        self.assertTrue(same_partition(out["labels"], self.kinds))
        self.assertTrue(out["converged"])

    def test_the_bound_is_that_of_the_file(self):
        """J = sum_i log sum_j omega_j exp(N_i L_ij), from the numbers in the file alone."""
        self.ok("cluster", "m.json", "-k", "3", "--nv", "7", "--tau", "5", "-o", "c.json", "-q")
        out = self.load("c.json")
        J = 0.0
        for omega, L in zip(self.models["omega"], out["L_hmm"], strict=True):
            J += log_sum([log(w) + 7 * 12 * omega * x for w, x in zip(out["centers"]["omega"], L, strict=True)])
        self.assertAlmostEqual(out["bound"][-1], J, delta=1e-9 * abs(J))
        best = max(run["bound"] for run in out["restarts"])
        self.assertAlmostEqual(best, J, delta=1e-9 * abs(J))
        _, z, again = oracle.score(self.models["hmms"], self.models["omega"], out["centers"]["hmms"],
                                      out["centers"]["omega"], 84, 5)
        self.assertAlmostEqual(J, again, delta=1e-9 * abs(J))
        for row, want in zip(out["z"], z, strict=True):
            for a, b in zip(row, want, strict=True):
                self.assertAlmostEqual(a, b, places=7)

    def test_json(self):
        r = self.ok("cluster", "m.json", "-k", "3", "--seed", "5", "-o", "c.json", "--json")
        report, out = r.json(), self.load("c.json")
        self.assertEqual((report["command"], report["input"], report["output"], report["seed"], report["K"],
                          report["Kb"], report["interrupted"]), ("cluster", "m.json", "c.json", 5, 3, 12, False))
        self.assertEqual((report["bound"], report["n_iter"]), (out["bound"][-1], out["n_iter"]))
        self.assertEqual(report["agreement"]["adjusted_rand"], 1)
        self.assertEqual(len(report["restarts"]), len(out["restarts"]))
        for j, one in enumerate(report["clusters"]):
            self.assertEqual(one["cluster"], j)
            self.assertEqual(one["members"], [n for n, k in zip(out["names"], out["labels"]) if k == j])
            self.assertEqual((one["size"], one["omega"]), (len(one["members"]), out["centers"]["omega"][j]))

    def test_without_labels_and_names(self):
        hmms = json.loads(flock(label=False))["hmms"]
        for h in hmms:
            del h["name"]
        self.write("bare.json", model(hmms, [1 / 12] * 12))
        r = self.ok("cluster", "bare.json", "-k", "2", "-o", "c.json", "--json")
        self.assertNotIn("agreement", r.err)
        self.assertIsNone(r.json()["agreement"])
        members = sorted(int(m) for one in r.json()["clusters"] for m in one["members"])
        self.assertEqual(members, list(range(12)))

    def test_same_seed_same_bytes(self):
        args = ["cluster", "m.json", "-k", "3", "-S", "3", "--seed", "9", "--quiet"]
        for threads, name in (("1", "a.json"), ("2", "other-name.json"), ("7", "c.json")):
            self.ok(*args, "-o", name, "--threads", threads)
        one = self.path("a.json").read_bytes()
        self.assertEqual(one, self.path("other-name.json").read_bytes())
        self.assertEqual(one, self.path("c.json").read_bytes())
        self.assertEqual(one.decode(), self.ok(*args, "--threads", "3").out)

    def test_stdin_and_stdout(self):
        self.ok("cluster", "m.json", "-k", "2", "-o", "c.json", "-q")
        r = self.ok("cluster", "-", "-k", "2", stdin=self.text)
        piped, filed = json.loads(r.out), self.load("c.json")
        self.assertIn("in standard output", r.err)
        self.assertEqual((piped["z"], piped["centers"]), (filed["z"], filed["centers"]))
        self.assertEqual(piped["provenance"]["input"], "-")

    def test_quiet(self):
        self.assertEqual(self.ok("cluster", "m.json", "-k", "2", "-o", "c.json", "--quiet").err, "")

    def test_provenance(self):
        self.ok("cluster", "m.json", "-k", "3", "--seed", "4", "--tol", "1e-6", "-o", "c.json", "-q")
        made = self.load("c.json")["provenance"]
        self.assertEqual(set(made), {"program", "version", "command", "input", "options", "seed", "backend"})
        self.assertEqual({k: made[k] for k in ("program", "command", "input", "seed")},
                         {"program": "vhem", "command": "cluster", "input": "m.json", "seed": 4})
        options = made["options"]
        self.assertEqual({k: options[k] for k in ("clusters", "states", "mix", "tol", "init", "no-repair")},
                         {"clusters": 3, "states": 2, "mix": 1, "tol": 1e-6, "init": "auto", "no-repair": False})
        self.assertEqual(set(options) & {"threads", "output"}, set())

    def test_help_shows_what_is_used(self):
        """The defaults in the help are those the library filled in."""
        found = entries(self.ok("cluster", "--help-all").out)
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        used = self.load("c.json")["provenance"]["options"]
        for name in ("tau", "nv", "max-iter", "tol", "cov-floor", "cov-add", "soft"):
            shown = re.search(r"\(default: ([^;)]+)", found[name]).group(1)
            self.assertEqual(float(shown), float(used[name]), name)
        least, most = map(int, re.search(r"\(default: (\d+) to (\d+),", found["restarts"]).groups())
        self.assertTrue(least <= used["restarts"] <= most, used["restarts"])
        for name in ("method", "init"):
            self.assertRegex(found[name], rf"\(default: {used[name]}[;)]")
        for name in ("states", "mix"):
            self.assertRegex(found[name], r"\(default: as the input[;)]")

    def test_sizes_of_the_centres(self):
        self.ok("cluster", "m.json", "-k", "2", "--states", "3", "--mix", "2", "-o", "c.json", "-q")
        self.assertEqual({(h["S"], h["M"]) for h in self.load("c.json")["centers"]["hmms"]}, {(3, 2)})

    def test_every_start(self):
        for init in ("auto", "base", "far", "emissions", "pooled", "dealt"):
            self.ok("cluster", "m.json", "-k", "3", "--init", init, "-r", "4", "-o", "c.json", "-q")
            out = self.load("c.json")
            self.check_clustering(out, 12, 3, falls=True)
            starts = [run["init"] for run in out["restarts"]]
            self.assertEqual(starts, ["base", "far", "emissions", "pooled", "settled", "ppk-sc", "kl-sc", "knn5-sc"]
                             if init == "auto" else [init] * 4)

    def test_search(self):
        """Candidates beside the restarts: named, judged, with their groups; one alone; none."""
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        out = self.load("c.json")
        self.assertEqual(out["options"]["search"], "auto")
        by = {run["init"]: run for run in out["restarts"] if run["init"] in ("settled", "ppk-sc", "kl-sc", "knn5-sc")}
        self.assertEqual(len(by), 4)
        for run in by.values():
            self.assertAlmostEqual(run["agreement"], 1)
            self.assertTrue(0 < run["modularity"] < 1)
            self.assertEqual(len(run.get("labels", out["labels"])), 12)
        self.ok("cluster", "m.json", "-k", "3", "--search", "fast", "-o", "f.json", "-q")
        self.assertEqual([run["init"] for run in self.load("f.json")["restarts"]], ["ppk-sc"])
        self.ok("cluster", "m.json", "-k", "3", "--search", "restarts", "-o", "r.json", "-q")
        alone = self.load("r.json")
        self.assertFalse({run["init"] for run in alone["restarts"]} & set(by))
        self.assertGreaterEqual(out["bound"][-1], alone["bound"][-1])
        self.fails(2, "--search is one of", "cluster", "m.json", "-k", "3", "--search", "slow")

    def test_tau_of_the_sequences(self):
        """--tau auto is the median of the lengths that fit has written, in trees at every level; 100 at most."""
        self.fails(1, "which these models do not have", "cluster", "m.json", "-k", "3", "--tau", "auto", "-o", "c.json")
        for median, used in (7, 7), (450, 100):
            self.write("l.json", json.dumps({**json.loads(self.text), "lengths": {"min": 3, "median": median, "max": 900}}))
            self.ok("cluster", "l.json", "-k", "3", "--tau", "auto", "-o", "c.json", "-q", "--search", "fast")
            self.assertEqual(self.load("c.json")["options"]["tau"], used)
        self.ok("tree", "l.json", "-k", "4,2", "--tau", "auto", "-o", "t.json", "-q", "--search", "fast")
        self.assertEqual([level["options"]["tau"] for level in self.load("t.json")["levels"]], [100, 100])
        self.fails(2, "--tau needs a whole number of at least 1, not 'long'", "cluster", "l.json", "-k", "3", "--tau",
                   "long")

    def test_next_best_groups_are_those_of_candidate_2(self):
        told = 0
        for seed in range(1, 7):
            self.write("m.json", flock(5, 4, seed, apart=1.0))
            said = self.ok("cluster", "m.json", "-k", "3", "-o", "c.json").err
            next_best = re.search(r"next best groups \((\S+)\) .* a bound (\S+) nats per model (higher|lower)", said)
            if not next_best or "--candidate 2 keeps them" not in said:
                continue
            told += 1
            self.ok("cluster", "m.json", "-k", "3", "--candidate", "2", "-o", "d.json", "-q")
            first, second = self.load("c.json"), self.load("d.json")
            gap = (second["bound"][-1] - first["bound"][-1]) / (first["options"]["nv"] * 20)
            self.assertAlmostEqual(abs(gap), float(next_best[2]), delta=6e-3 * abs(gap))
            self.assertEqual(gap > 0, next_best[3] == "higher")
        self.assertGreater(told, 0)

    def test_share_of_the_runs_that_are_as_good(self):
        """Models without groups: other starts are as good and part them elsewhere, which is told of each."""
        rng = random.Random(1)
        whole = json.loads(model([wide(f"p{i}", rng) for i in range(20)], [0.05] * 20))
        self.write("o.json", json.dumps({**whole, "d": 2}))
        r = self.ok("cluster", "o.json", "-k", "2", "--preset", "emhmm", "--seed", "1", "-o", "c.json")
        out = self.load("c.json")
        told = re.search(r"(\d+) of 300 restarts found other groups, practically as good: (\d+) of 20 HMMs move "
                         r"\((p\d+), ", r.err)
        runs = [run for run in out["restarts"] if run.get("as_good")]
        others = sum(run["agreement"] < 0.99 and run["init"] != "settled" for run in runs)
        self.assertEqual((int(told[1]), int(told[2])), (others, sum(x < 1 for x in out["share"])))
        self.assertEqual(out["share"][out["names"].index(told[3])], min(out["share"]))
        for x in out["share"]:  # a part of these runs, the one that was kept among them
            self.assertAlmostEqual(x * len(runs), round(x * len(runs)), places=9)
            self.assertTrue(1 / len(runs) <= x <= 1)
        best, slack = out["bound"][-1], 0.003 * 2 * 10 * out["options"]["nv"] * 20
        for run in runs:
            self.assertGreaterEqual(run["bound"], best - slack)
        # Every run has 2 groups of 20, so that a coin would agree with more than half of the items.
        self.assertGreater(sum(out["share"]), 10)
        for threads in "1", "2":
            self.ok("cluster", "o.json", "-k", "2", "--preset", "emhmm", "--seed", "1", "-o", f"c{threads}.json",
                    "--threads", threads)
        self.assertEqual(self.path("c1.json").read_bytes(), self.path("c2.json").read_bytes())

        info = json.loads(self.ok("info", "c.json", "--json").out)["levels"][0]["clusters"]
        for one in info:
            self.assertEqual(one["share"], [out["share"][out["names"].index(name)] for name in one["members"]])
        self.assertRegex(self.ok("info", "c.json", "--all").out, r"p3 \(\d+ %\)")
        self.ok("report", "c.json", "-o", "r.html", "--tables", "t")
        members = [row.split("\t") for row in self.path("t/members.tsv").read_text().splitlines()]
        self.assertEqual([float(row[members[0].index("share")]) for row in members[1:]], out["share"])
        page = self.path("r.html").read_text()
        sure = sum(max(z) >= 0.99 and x >= 0.99 for z, x in zip(out["z"], out["share"], strict=True))
        self.assertIn(f"Clear-cut</span> <b>{100 * sure // 20} %</b>", page)  # and 100 % by z alone

    def test_share_is_not_told_of_one_run(self):
        self.ok("cluster", "m.json", "-k", "3", "--restarts", "1", "--search", "restarts", "-o",
                "c.json")
        out = self.load("c.json")
        self.assertNotIn("share", out)
        self.ok("report", "c.json", "-o", "r.html")
        self.assertNotIn("Clear-cut", self.path("r.html").read_text())
        out["share"] = [1] * 11 + [1.5]
        self.write("bad.json", json.dumps(out))
        self.fails(1, "bad.json: share[11] is 1.5, must be from 0 to 1", "info", "bad.json")

    def test_candidate(self):
        """The second-best groups, and what is said when there are no more."""
        r = self.ok("cluster", "m.json", "-k", "5", "--seed", "2", "-o", "c.json")
        first = self.load("c.json")
        self.assertIn("candidates", r.err)
        self.ok("cluster", "m.json", "-k", "5", "--seed", "2", "--candidate", "2", "-o", "d.json", "-q")
        second = self.load("d.json")
        self.assertLess(second["bound"][-1], first["bound"][-1])
        self.assertNotEqual(second["labels"], first["labels"])
        self.assertEqual(second["provenance"]["options"]["candidate"], 2)
        self.fails(1, "candidate 9999 is asked for, but the search found", "cluster", "m.json", "-k", "5", "--candidate",
                   "9999", "-o", "e.json")

    def test_presets(self):
        self.ok("cluster", "m.json", "-k", "3", "--preset", "paper", "-o", "p.json", "-q")
        used = self.load("p.json")["provenance"]["options"]
        self.assertEqual((used["nv"], used["tau"], used["cov-floor"], used["cov-add"]), (1e4, 10, 0, 0))
        self.ok("cluster", "m.json", "-k", "3", "--preset", "emhmm", "-o", "e.json", "-q")
        out = self.load("e.json")
        used = out["provenance"]["options"]
        self.assertEqual((used["tau"], used["cov-add"], used["max-iter"], used["tol"]), (10, 0.001, 101, 1e-5))
        self.assertAlmostEqual(used["nv"], 12 / 10)                  # N_i = Kb^2 omega_i / tau, N = nv Kb
        self.assertEqual(out["centers"]["emission"], "gaussian-full")
        self.ok("cluster", "m.json", "-k", "3", "--preset", "emhmm", "--tau", "20", "--cov-add", "0", "-o", "e.json",
                "-q")
        used = self.load("e.json")["provenance"]["options"]
        self.assertEqual((used["tau"], used["cov-add"]), (20, 0))
        self.assertAlmostEqual(used["nv"], 12 / 20)

    def test_one_cluster_and_as_many_as_models(self):
        for K in (1, 12):
            self.ok("cluster", "m.json", "-k", K, "-o", "c.json")
            self.check_clustering(self.load("c.json"), 12, K, falls=True)


class Start(WithFlock):
    """--init FILE: exactly the equations."""

    def setUp(self):
        super().setUp()
        self.start = [{"S": 2, "M": 1, "pi": [0.5, 0.5], "A": [[0.7, 0.3], [0.4, 0.6]], "c": [[1], [1]],
                       "mu": [[[x]], [[x + 4]]], "cov": [[[2]], [[1]]]} for x in (1, 9, 20)]
        self.weight = [0.5, 0.25, 0.25]
        self.write("start.json", model(self.start, self.weight))

    def test_exact_iterations(self):
        base, omega = self.models["hmms"], self.models["omega"]
        centers, weight, J = self.start, self.weight, []
        for n in range(4):
            self.ok("cluster", "m.json", "--init", "start.json", *EXACT, "--max-iter", n, "--nv", "0.2", "--tau", "6",
                    "-o", "c.json")
            out = self.load("c.json")
            L, z, bound = oracle.score(base, omega, centers, weight, 0.2 * 12, 6)
            J.append(bound)
            self.assertEqual(out["n_iter"], n)
            for got, want in ((out["bound"], J), (out["z"], z), (out["L_hmm"], L), (out["centers"]["omega"], weight)):
                self.near(got, want)
            for h, want in zip(out["centers"]["hmms"], centers, strict=True):
                for key in ("pi", "A", "mu", "cov"):
                    self.near(h[key], want[key])
            centers, weight = oracle.step(base, omega, centers, weight, 0.2 * 12, 6)

    def test_oracle_as_a_program(self):
        """docs/vhem_in_80_lines.py on its own prints the bounds of the command."""
        said = subprocess.run([sys.executable, oracle.__file__, "m.json", "start.json"], cwd=self.dir, capture_output=True,
                              text=True, check=True).stdout.split("\n")[:-1]
        self.ok("cluster", "m.json", "--init", "start.json", *EXACT, "--max-iter", 5, "--nv", "10", "--tau", "5", "-o", "c.json")
        self.near(self.load("c.json")["bound"], [float(line.split()[1]) for line in said])

    def near(self, got, want):
        if isinstance(want, list):
            self.assertEqual(len(got), len(want))
            for a, b in zip(got, want):
                self.near(a, b)
        else:
            self.assertTrue(math.isclose(got, want, rel_tol=1e-8, abs_tol=1e-9), (got, want))

    def test_nothing_is_repaired(self):
        far = json.loads(json.dumps(self.start))
        far[2]["mu"] = [[[1e4]], [[1e4 + 1]]]
        self.write("far.json", model(far, self.weight))
        self.ok("cluster", "m.json", "--init", "far.json", *EXACT, "--max-iter", "3", "-o", "c.json")
        out = self.load("c.json")
        self.assertEqual(out["centers"]["omega"][2], 0)  # too small for a number, and yet:
        self.assertLess(out["centers"]["hmms"][2]["mu"][0][0][0], 100)  # a starved cluster follows the equations
        self.assertEqual(out["n_iter"], 3)
        self.ok("cluster", "m.json", "--init", "far.json", "-o", "c.json")
        self.assertGreater(self.load("c.json")["centers"]["omega"][2], 0)
        self.ok("cluster", "m.json", "--init", "far.json", "--no-repair", "-o", "c.json")
        self.assertEqual(self.load("c.json")["centers"]["omega"][2], 0)

    def test_number_of_clusters_follows_the_start(self):
        self.ok("cluster", "m.json", "--init", "start.json", "-o", "c.json")
        out = self.load("c.json")
        self.assertEqual((len(out["centers"]["hmms"]), len(out["restarts"])), (3, 1))
        self.assertEqual(out["provenance"]["options"]["init"], "start.json")

    def test_a_clustering_is_a_start(self):
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        self.ok("cluster", "m.json", "--init", "c.json", "-o", "d.json", "-q")
        a, b = self.load("c.json"), self.load("d.json")
        self.assertEqual(a["labels"], b["labels"])
        self.assertGreaterEqual(b["bound"][-1], a["bound"][-1] - 1e-9 * abs(a["bound"][-1]))

    def test_starts_that_do_not_fit(self):
        args = ["cluster", "m.json", "--init", "start.json", "-o", "c.json"]
        self.fails(1, "start.json holds 3 HMMs, but 2 clusters are asked for", *args, "-k", "2")
        self.fails(1, "start.json has 2 states, but --states asks for 3", *args, "-S", "3")
        self.fails(1, "start.json has 1 components per state, but --mix asks for 2", *args, "-M", "2")
        self.fails(1, "restarts", *args, "--restarts", "5")
        two = json.loads(self.path("start.json").read_text())
        two["d"] = 2
        for h in two["hmms"]:
            h["mu"] = [[x[0] * 2] for x in h["mu"]]
            h["cov"] = [[x[0] * 2] for x in h["cov"]]
        self.write("two.json", json.dumps(two))
        self.fails(1, "two.json has dimension 2, but m.json has 1", "cluster", "m.json", "--init", "two.json", "-o",
                   "c.json")
        full = json.loads(self.path("start.json").read_text())
        full["emission"] = "gaussian-full"
        for h in full["hmms"]:
            h["cov"] = [[[v] for v in m] for m in h["cov"]]
        self.write("full.json", json.dumps(full))
        self.fails(1, "gaussian-full", "cluster", "m.json", "--init", "full.json", "-o", "c.json")
        self.fails(1, "nowhere.json", "cluster", "m.json", "--init", "nowhere.json", "-o", "c.json")
        self.leftovers("m.json", "start.json", "two.json", "full.json")


class Refused(WithFlock):
    def test_number_of_clusters(self):
        self.fails(2, "give the number of clusters with -k K", "cluster", "m.json", "-o", "c.json")
        self.fails(2, "--clusters needs whole numbers of at least 1 like 8,4,2, not '0'", "cluster", "m.json",
                   "-k", "0")
        self.fails(1, "m.json holds 12 HMMs, too few for 13 clusters", "cluster", "m.json", "-k", "13", "-o", "c.json")
        self.leftovers("m.json")

    def test_words(self):
        self.fails(2, "'nearest' is none of them", "cluster", "m.json", "-k", "2", "--init", "nearest")
        self.fails(2, "'nearest' is none of them", "cluster", "m.json", "--init", "nearest")
        self.fails(2, "--method is one of vhem, vbhem, auto, em-h3m, ", "cluster", "m.json", "-k", "2", "--method", "kmeans")
        self.fails(2, "--preset is one of paper, emhmm, not 'toolbox'", "cluster", "m.json", "-k", "2", "--preset",
                   "toolbox")

    def test_numbers(self):
        self.fails(2, "--nv needs a number above 0, not '0'", "cluster", "m.json", "-k", "2", "--nv", "0")
        self.fails(2, "--tau needs a whole number of at least 1", "cluster", "m.json", "-k", "2", "--tau", "0")

    def test_files(self):
        self.write("broken.json", self.text[:500])
        self.fails(1, "broken.json", "cluster", "broken.json", "-k", "2", "-o", "c.json")
        self.fails(1, "nowhere.json", "cluster", "nowhere.json", "-k", "2", "-o", "c.json")
        self.write("d.csv", "id,x\na,1\na,2\n")
        self.fails(1, "d.csv", "cluster", "d.csv", "-k", "2", "-o", "c.json")
        self.fails(2, "c.txt: clusters are written as .json", "cluster", "m.json", "-k", "2", "-o", "c.txt")
        self.fails(1, "no/such/c.json: cannot write", "cluster", "m.json", "-k", "2", "-o", "no/such/c.json")
        self.fails(1, "No space left on device", "cluster", "m.json", "-k", "2", "-o", "/dev/full")
        self.fails(2, "give the result a file with -o FILE", "cluster", "m.json", "-k", "2", "--json")
        self.leftovers("m.json", "broken.json", "d.csv")


class Info(WithFlock):
    def test_clustering(self):
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        r = self.ok("info", "c.json")
        self.assertTrue(r.out.startswith("c.json: 12 HMMs in 3 clusters\n"), r.out)
        for text in ("method     vhem", "bound", "converged", "made by    vhem", "k0_0"):
            self.assertIn(text, r.out)
        facts = self.ok("info", "c.json", "--json").json()
        out = self.load("c.json")
        [level] = facts["levels"]
        self.assertEqual((facts["kind"], facts["models"], level["K"], level["converged"]), ("clustering", 12, 3, True))
        self.assertEqual([one["size"] for one in level["clusters"]], [4, 4, 4])
        self.assertEqual(level["bound"], out["bound"][-1])
        self.assertEqual(self.ok("info", "-", stdin=self.path("c.json").read_text()).out.split("\n", 1)[1],
                         r.out.split("\n", 1)[1])

    def test_broken(self):
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        out = self.load("c.json")
        for key, value in (("z", [[1]]), ("labels", "none"), ("version", 2), ("centers", {})):
            self.write("b.json", json.dumps({**out, key: value}))
            self.fails(1, "b.json", "info", "b.json")
        self.write("b.json", self.path("c.json").read_text()[:-40])
        self.fails(1, "b.json", "info", "b.json")

    def test_the_format_may_stand_at_the_end(self):
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        out = self.load("c.json")
        format = out.pop("format")
        self.write("b.json", json.dumps({"note": "x" * 5000, **out, "format": format}))
        self.assertEqual(self.ok("info", "b.json", "--json").json()["kind"], "clustering")


class Signals(Case):
    def test_interrupt_saves_the_best_so_far(self):
        self.write("m.json", flock(kinds=8, per_kind=40, apart=2.0))
        for number in (signal.SIGINT, signal.SIGTERM)[:1 if WINDOWS else 2]:   # which has no SIGTERM
            p = subprocess.Popen([VHEM, "cluster", "m.json", "-k", "20", "-S", "4", "--tol", "0",
                                  "--max-iter", "1000000", "-o", "c.json", "--json", "--threads", "2"], cwd=self.dir,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1.5)
            self.assertIsNone(p.poll(), "it was not long enough")
            p.send_signal(number)
            out, err = p.communicate(timeout=HANGS)
            self.assertEqual(p.returncode, 130, err)
            self.assertIn("vhem cluster: interrupted; the best so far, 20 clusters of 320 HMMs, is saved in c.json",
                          err)
            self.assertIs(json.loads(out)["interrupted"], True)
            saved = json.loads(self.path("c.json").read_text())
            self.assertIs(saved["provenance"]["interrupted"], True)
            self.assertEqual((len(saved["z"]), len(saved["centers"]["hmms"])), (320, 20))
            self.assertEqual(len(saved["bound"]), saved["n_iter"] + 1)
            self.leftovers("m.json", "c.json")
            self.path("c.json").unlink()


if __name__ == "__main__":
    unittest.main()
