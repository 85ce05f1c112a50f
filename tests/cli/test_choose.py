# SPDX-License-Identifier: BSD-3-Clause
"""vhem choose: the table, what is marked in it, refusals."""
import json
import math
import signal
import subprocess
import time
import unittest

from support import HANGS, VHEM, Case, flock, worked


class Choose(Case):
    def setUp(self):
        super().setUp()
        self.write("m.json", flock(kinds=3, per_kind=6))

    def test_table(self):
        r = self.ok("choose", "m.json", "-k", "2..4,6", "-r", "5", "--splits", "1", "--seeds", "1", "-o", "c.tsv")
        self.assertEqual(r.out, "")
        lines = [x.split("\t") for x in self.path("c.tsv").read_text().splitlines()]
        self.assertEqual(lines[0], ["K", "S", "bound", "loglik", "n_param", "bic", "icl", "stability", "evidence",
                                    "frames", "K_used", "S_used", "same_runs", "same_seeds", "best"])
        rows = [dict(zip(lines[0], x, strict=True)) for x in lines[1:]]
        path = [x for x in rows if x["bic"] == "-"]
        self.assertEqual([x["frames"] for x in path], ["1.0", "3.2", "10.0", "31.6", "100.0"])
        self.assertEqual([x["K_used"] for x in path][1:], ["3"] * 4)
        rows = rows[:-5]
        self.assertEqual([(x["K"], x["S"]) for x in rows], [("2", "2"), ("3", "2"), ("4", "2"), ("6", "2")])
        self.assertEqual([x["K_used"] for x in rows], ["2", "3", "3", "3"])
        self.assertEqual(sum("stability" in x["best"] for x in rows), 1)
        three = rows[1]
        self.assertEqual(three["best"], "evidence,stability,bic,icl")
        self.assertGreater(float(three["stability"]), 0.99)
        self.assertEqual(three["same_seeds"], "1.000")
        for line in ("recommended: 3 clusters, centres of 2 states",
                     "for it: as many are needed by variational Bayes, for 10 virtual frames of each model",
                     "for it: the same number is needed from 3.16 to 100 virtual frames", "for it: most stable",
                     "for it: smallest BIC", "for it: other seeds find the same groups",
                     "clusters needed, by virtual frames per model (--nv times --tau): 1 at 1, 3 at 3.16, 3 at 10, 3 at 31.6, 3 at 100"):
            self.assertIn(line, r.err)
        self.assertNotIn("against it", r.err)
        self.assertIn("next: vhem cluster m.json -k 3 --states 2 --restarts 5 -o clusters.json", r.err)
        self.assertIn("vhem cluster m.json --method vbhem -k 3 --states 2 --restarts 5 -o clusters.json", r.err)

    def test_one_kind(self):
        self.write("one.json", flock(kinds=1, per_kind=12))
        r = self.ok("choose", "one.json", "-k", "1..3", "-r", "3", "--splits", "2", "--seeds", "0", "-o", "c.tsv")
        for line in ("recommended: 1 cluster", "for it: as many are needed by variational Bayes",
                     "for it: the same number is needed from", "these models look like one kind: there is nothing to cluster"):
            self.assertIn(line, r.err)
        self.assertNotIn("next: vhem cluster", r.err)
        r = self.ok("choose", "one.json", "-k", "2..3", "-r", "3", "--splits", "0", "--seeds", "0", "-o", "c.tsv")
        self.assertIn("against it: it was not among the numbers that were asked for", r.err)
        self.assertNotIn("smallest BIC", r.err)  # 2 is the smallest that was asked for

    def test_numbers(self):
        got = self.ok("choose", "m.json", "-k", "2,3", "--states", "1..2", "--splits", "0", "-r", "5", "--seeds", "0",
                      "--path", "0", "--json").json()
        rows = got["choices"]
        self.assertEqual([(x["K"], x["S"]) for x in rows], [(2, 1), (2, 2), (3, 1), (3, 2)])
        for x in rows:
            self.assertIsNone(x["stability"])
            self.assertAlmostEqual(x["bic"], -2 * x["loglik"] + x["n_param"] * math.log(18), delta=1e-6 * abs(x["bic"]))
            self.assertGreaterEqual(x["icl"], x["bic"] - 1e-9 * abs(x["bic"]))
        # weights, then for each HMM pi, A, means and variances
        self.assertEqual([x["n_param"] for x in rows], [1 + 2 * (0 + 0 + 2), 1 + 2 * (1 + 2 + 4), 2 + 3 * 2, 2 + 3 * 7])
        self.assertEqual(got["best"]["bic"], {"K": 3, "S": 2})
        self.assertIsNone(got["best"]["stability"])
        self.ok("cluster", "m.json", "-k", "3", "-r", "5", "-o", "c.json", "-q")
        bound = json.loads(self.path("c.json").read_text())["bound"][-1]
        self.assertAlmostEqual(rows[3]["bound"], bound, delta=1e-3 * abs(bound))

    def test_threads_and_pipes(self):
        args = ["choose", "-", "-k", "2..3", "-r", "3", "--seed", "4", "--splits", "1", "--seeds", "1", "--path", "1"]
        text = self.path("m.json").read_text()
        one = self.ok(*args, "--threads", "1", stdin=text).out
        for threads in ("2", "7"):
            self.assertEqual(one, self.ok(*args, "--threads", threads, stdin=text).out)

    def test_stability_column_is_empty_when_not_asked_for(self):
        row = self.ok("choose", "m.json", "-k", "2", "--splits", "0", "-r", "2", "--path", "0").rows()[0]
        self.assertEqual(row["stability"], "-")

    def test_one_cluster_is_not_called_stable(self):
        r = self.ok("choose", "m.json", "-k", "1..2", "-r", "2", "--path", "0", "--splits", "1", "--seeds", "0")
        self.assertEqual([x["stability"] == "-" for x in r.rows()], [True, False])
        r = self.ok("choose", "m.json", "-k", "1", "-r", "2", "--path", "0")
        self.assertNotIn("stable", r.err)
        self.assertIn("no number of clusters is recommended: only 1 was asked for; try a larger -k", r.err)

    def test_bic_alone_never_recommends_one_cluster(self):
        self.write("few.json", flock(kinds=2, per_kind=3))
        r = self.ok("choose", "few.json", "-k", "1..4", "--tau", "2", "--nv", "40", "--seeds", "0", "--splits", "2", "-r", "5")
        self.assertIn("recommended: 2 clusters", r.err)
        # without another vote, too
        r = self.ok("choose", "few.json", "-k", "1,2", "--seeds", "0", "--splits", "0", "--path", "0", "--tau", "1",
                    "--search", "restarts", "-r", "1")
        self.assertEqual([x["best"] for x in r.rows()], ["bic,icl", "evidence"])
        self.assertIn("no number of clusters is recommended: by variational Bayes, all 2 that were asked for are needed; "
                      "try a larger -k", r.err)
        self.assertEqual([x["same_runs"] for x in r.rows()], ["-", "-"])

    def test_halves_pruned_to_one_cluster_are_not_stable(self):
        self.write("one.json", flock(kinds=1, per_kind=12))
        r = self.ok("choose", "one.json", "-k", "2..3", "--method", "vbhem", "--nv", "1", "-r", "3", "--seeds", "0",
                    "--splits", "1", "--path", "0")
        self.assertEqual([(x["K_used"], x["stability"]) for x in r.rows()], [("1", "-")] * 2)
        self.assertIn("recommended: 1 cluster,", r.err)

    def test_ties_go_to_the_smaller_number(self):
        r = self.ok("choose", "m.json", "-k", "2..5", "--method", "vbhem", "--nv", "10", "-r", "5", "--splits", "1",
                    "--seeds", "0", "--path", "0", "--json").json()
        self.assertEqual([x["K_used"] for x in r["choices"]], [2, 3, 3, 3])
        self.assertEqual({k: v["K"] for k, v in r["best"].items()}, dict.fromkeys(("evidence", "stability", "bic", "icl"),
                                                                               3))
        self.assertEqual((r["recommended"]["K"], r["recommended"]["S"]), (3, 2))
        self.assertIn("most stable", r["recommended"]["for"])

    def test_equally_stable_numbers_leave_the_choice_to_the_evidence(self):
        merged = json.loads(flock(kinds=3, per_kind=6, apart=2))  # two kinds near each other, and one far away
        for h in merged["hmms"]:
            if h["label"] == "kind2":
                h["mu"] = [[[m[0][0] + 100]] for m in h["mu"]]
        self.write("merged.json", json.dumps(merged))
        for most in (4, 3):  # 3 as the most that was asked for is no vote of the evidence, but more evidence
            r = self.ok("choose", "merged.json", "-k", f"2..{most}", "-r", "5", "--splits", "1", "--seeds", "0",
                        "--path", "0")
            self.assertEqual([x["stability"] for x in r.rows()][:2], ["1.000", "1.000"])
            self.assertIn("recommended: 3 clusters", r.err)
            self.assertIn("for it: as stable as any other number", r.err)
            self.assertNotIn("against it: most stable", r.err)
            self.assertEqual("--method vbhem -k 3 --states 2 --restarts 5" in r.err, most == 4)  # evidence for all is none
        self.assertIn("against it: variational Bayes needs all 3 that were asked for, for 10 virtual frames of each "
                      "model: try a larger -k", r.err)

    def test_centres_may_have_their_own_states(self):
        self.write("few.json", flock(kinds=2, per_kind=3))
        r = self.ok("choose", "few.json", "-k", "1..3", "--seeds", "0", "--splits", "0", "--path", "0")
        self.assertIn("vhem choose:   or, with as many states as each centre needs: vhem cluster few.json --method vbhem "
                      "-k 2 --states 2 -o clusters.json", r.err)

    def test_next_repeats_the_options(self):
        r = self.ok("choose", "m.json", "-k", "2..4", "-r", "5", "--splits", "0", "--path", "0", "--preset", "emhmm", "--tau", "3",
                    "--nv", "2.5", "--no-repair", "--init", "far", "--seed", "7", "-o", "c.tsv", "-t", "1")
        self.assertIn("-k 3 --states 2 --preset emhmm --tau 3 --nv 2.5 --restarts 5 --init far --no-repair --seed 7 "
                      "-o clusters.json", r.err)

    def test_interrupt_keeps_the_finished_rows(self):
        self.write("big.json", flock(kinds=8, per_kind=60, apart=2.0))
        p = subprocess.Popen([VHEM, "choose", "big.json", "-k", "1..150", "-r", "5", "--splits", "0", "--seeds", "0",
                              "-o", "c.tsv"], cwd=self.dir,
                             stderr=subprocess.PIPE, text=True)
        while p.poll() is None and worked(p.pid) < 1:  # the first row takes a tenth of it
            time.sleep(0.1)
        self.assertIsNone(p.poll(), "it was not long enough")
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=HANGS)[1]
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("interrupted; ", err)
        lines = self.path("c.tsv").read_text().splitlines()
        self.assertEqual([x.split("\t")[0] for x in lines[:2]], ["K", "1"])
        self.assertLess(len(lines), 151)

    def test_refused(self):
        self.fails(2, "which numbers of clusters?", "choose", "m.json")
        self.fails(2, "--clusters needs whole numbers of at least 1", "choose", "m.json", "-k", "0..3")
        self.fails(2, "--states needs whole numbers of at least 1", "choose", "m.json", "-k", "2", "--states", "two")
        self.fails(2, "--splits needs a whole number of at least 0", "choose", "m.json", "-k", "2", "--splits", "-1")
        self.fails(1, "m.json holds 18 HMMs, too few for 19 clusters", "choose", "m.json", "-k", "2,19")
        self.fails(2, "--init is one of auto", "choose", "m.json", "-k", "2", "--init", "m.json")
        self.fails(1, "nowhere.json", "choose", "nowhere.json", "-k", "2")
        self.fails(1, "no/such/c.tsv: cannot write", "choose", "m.json", "-k", "2", "-o", "no/such/c.tsv")


if __name__ == "__main__":
    unittest.main()
