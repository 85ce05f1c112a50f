# SPDX-License-Identifier: BSD-3-Clause
"""vhem stats: scores by hand, every test against scipy.stats, leave one out, refusals; and the eye movements."""
import csv
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

try:
    import numpy as np
    import scipy.optimize
    import scipy.stats
except ImportError:  # Debian's Python has them, where scripts/setup test has run
    other = "/usr/bin/python3"
    if sys.executable == other or subprocess.run([other, "-c", "import scipy.stats"], capture_output=True).returncode:
        print("no Python with SciPy; 'scripts/setup test' installs it")
        sys.exit(77)
    sys.exit(subprocess.run([other, *sys.argv]).returncode)

from support import SOURCE, Case, forward

ABOUT = ("--id", "subject,trial", "--group", "subject", "--columns", "x,y")


def walks(seed, n, kinds, per=6, label=None):
    """Subjects s0, s1, ..., of the kinds in turn: where they look, and how surely; trials of 1 to 4 fixations."""
    r = random.Random(seed)
    lines = ["subject,trial,age,x,y"]
    for i in range(n):
        x, y = kinds[i % len(kinds)]
        own = r.gauss(0, 0.7)
        for t in range(per):
            for k in range(r.randint(1, 4)):
                lines.append(f"s{i},{t},{label(i) if label else 'all'},{x * (k % 2) + own + r.gauss(0, 1):.4f},"
                             f"{y + r.gauss(0, 1):.4f}")
    return "\n".join(lines) + "\n"


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f, delimiter="," if str(path).endswith(".csv") else "\t"))


def number(text):
    return float(text) if text else math.nan


def d_interval(t, df, root, level=0.95):
    """Of Cohen's d, by inverting scipy's noncentral t."""
    def find(p):
        reach = 10 + 5 * abs(t)
        return scipy.optimize.brentq(lambda d: scipy.stats.nct.cdf(t, df, d) - p, t - reach, t + reach, xtol=1e-12)

    return [find((1 + level) / 2) / root, find((1 - level) / 2) / root]


class Checks(Case):
    def prepare(self, kinds=((8, 0), (0, 8)), n=16, k=2, **more):
        self.write("d.csv", walks(3, n, kinds, **more))
        self.ok("fit", "d.csv", *ABOUT, "--states", 2, "--restarts", 2, "-o", "m.json", "--quiet")
        self.ok("cluster", "m.json", "-k", k, "--tau", 3, "--restarts", 5, "-o", "c.json", "--quiet")

    def check_test(self, t, persons, groups):
        """One row of the tests against scipy, from the table of persons."""
        values = {key: [number(p[key]) for p in persons] for key in persons[0] if key.split("_")[0] in
                  ("loglik", "scale", "entropy")}
        near = lambda name, want: self.assertAlmostEqual(number(t[name]), want, delta=1e-9 * max(1, abs(want)))
        if t["test"] == "paired-t":
            own, other = t["a"].split()[1], t["b"].split()[1]
            who = [i for i, p in enumerate(persons) if p["cluster"] == own]
            a, b = (np.array(values[f"loglik_{j}"])[who] for j in (own, other))
            want = scipy.stats.ttest_rel(a, b)
            one = scipy.stats.ttest_rel(a, b, alternative="greater")
            df, d, root = len(a) - 1, (a - b).mean() / (a - b).std(ddof=1), math.sqrt(len(a))
        else:
            a, b = (np.array([v for v, p in zip(values[t["measure"]], persons) if groups(p) == t[side]])
                    for side in "ab")
            df = None
            if t["test"] == "t":
                want = scipy.stats.ttest_ind(a, b, equal_var=False)
                one = scipy.stats.ttest_ind(a, b, equal_var=False, alternative="greater")
                u, v = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
                near("df", (u + v) ** 2 / (u ** 2 / (len(a) - 1) + v ** 2 / (len(b) - 1)))
                pooled = math.sqrt(((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2))
                df, d, root = len(a) + len(b) - 2, (a.mean() - b.mean()) / pooled, math.sqrt(
                    len(a) * len(b) / (len(a) + len(b)))
            else:
                want = scipy.stats.mannwhitneyu(a, b)
                one = scipy.stats.mannwhitneyu(a, b, alternative="greater")
        near("mean_a", a.mean())
        near("mean_b", b.mean())
        near("statistic", want[0])
        near("p", want[1])
        near("p_greater", one[1])
        self.assertEqual((int(t["n_a"]), int(t["n_b"])), (len(a), len(b)))
        if t["test"] == "mann-whitney":
            self.assertEqual(t["d"], "")
            return
        near("d", d)
        for name, want in zip(("d_low", "d_high"), d_interval(d * root, df, root)):
            self.assertAlmostEqual(number(t[name]), want, delta=1e-6 * max(1, abs(want)))

    def check(self, groups, *args):
        out = self.ok("stats", "c.json", "d.csv", *ABOUT, "--tables", "t", *args)
        persons, tests = rows(self.path("t/persons.tsv")), rows(self.path("t/tests.tsv"))
        self.assertEqual(out.out, self.path("t/tests.tsv").read_text())
        for t in tests:
            self.check_test(t, persons, groups)
        return persons, tests, out


class Stats(Checks):
    def test_scores_by_hand(self):
        self.prepare()
        persons, tests, out = self.check(lambda p: f"cluster {p['cluster']}")
        self.assertEqual([(t["test"], t["measure"]) for t in tests],
                         [("paired-t", "loglik")] * 2 + [("t", "scale_0"), ("mann-whitney", "scale_0")])
        self.assertIn("warning: 16 of 16 were clustered", out.err)
        self.assertIn("circular", out.err)
        centers = json.loads(self.path("c.json").read_text())["centers"]
        data = {}
        for row in rows(self.path("d.csv")):
            data.setdefault(row["subject"], {}).setdefault(row["trial"], []).append([float(row["x"]), float(row["y"])])
        labels = dict(zip(*(json.loads(self.path("c.json").read_text())[key] for key in ("names", "labels"))))
        for p in persons:
            trials = data[p["subject"]].values()
            each = [[forward(h, y) for h in centers["hmms"]] for y in trials]
            mean = [sum(e[j] / len(y) for e, y in zip(each, trials)) / len(each) for j in range(2)]
            for j in range(2):
                self.assertAlmostEqual(float(p[f"loglik_{j}"]), mean[j], places=9)
            self.assertAlmostEqual(float(p["scale_0"]), (mean[0] - mean[1]) / (abs(mean[0]) + abs(mean[1])), places=9)
            self.assertAlmostEqual(float(p["scale_1"]), -float(p["scale_0"]), places=12)
            total = [sum(e[j] for e in each) + math.log(centers["omega"][j]) for j in range(2)]
            post = np.exp(np.array(total) - max(total))
            post /= post.sum()
            self.assertAlmostEqual(float(p["uncertainty"]), -sum(q * math.log(q) for q in post if q > 0), places=9)
            self.assertEqual(int(p["cluster"]), labels[p["subject"]])
            self.assertEqual(p["entropy"], "")

    def test_groups_by_label_and_three_centres(self):
        self.prepare(((8, 0), (0, 8), (-8, -8)), 15, 3, label=lambda i: "old" if i < 7 else "young")
        persons, tests, _ = self.check(lambda p: p["label"], "--label", "age", "--models", "m.json")
        kinds = [(t["test"], t["measure"]) for t in tests]
        self.assertEqual(kinds.count(("paired-t", "loglik")), 6)
        for measure in "scale_0", "scale_1", "scale_2", "entropy":
            self.assertIn(("t", measure), kinds)
            self.assertIn(("mann-whitney", measure), kinds)
        own = json.loads(self.path("m.json").read_text())
        first = [h for h in own["hmms"] if h["name"] == persons[0]["subject"]][0]
        trials = {}
        for row in rows(self.path("d.csv")):
            if row["subject"] == persons[0]["subject"]:
                trials.setdefault(row["trial"], []).append([float(row["x"]), float(row["y"])])
        want = -np.mean([forward(first, y) / len(y) for y in trials.values()])
        self.assertAlmostEqual(float(persons[0]["entropy"]), want, places=9)
        for p in persons:
            L = [float(p[f"loglik_{j}"]) for j in range(3)]
            for j in range(3):
                k = max(L[:j] + L[j + 1:])
                self.assertAlmostEqual(float(p[f"scale_{j}"]), (L[j] - k) / (abs(L[j]) + abs(k)), places=9)

    def test_labels_that_vary_within_a_person(self):
        self.prepare(label=lambda i: "old" if i < 7 else "young")
        text = self.path("d.csv").read_text().splitlines()
        head, person = text[0].split(","), None
        at, who, trial = (head.index(name) for name in ("age", "subject", "trial"))
        for k, line in enumerate(text[1:], 1):
            row = line.split(",")
            person = person or row[who]
            if row[who] == person and row[trial] == text[1].split(",")[trial]:
                row[at] = "neither"
                text[k] = ",".join(row)
        self.write("d.csv", "\n".join(text) + "\n")
        err = self.ok("stats", "c.json", "d.csv", *ABOUT, "--label", "age").err
        self.assertIn(f"warning: 1 of 16 persons, '{person}' the first, have sequences of several labels, and count as "
                      "persons without one", err)

    def test_corrections(self):
        self.prepare(((8, 0), (0, 8), (-8, -8)), 15, 3, label=lambda i: "old" if i < 7 else "young")
        for correction in "holm", "bonferroni", "bh", "none":
            _, tests, _ = self.check(lambda p: p["label"], "--label", "age", "--correction", correction, "--quiet")
            for kind in "paired-t", "t", "mann-whitney":
                of = [t for t in tests if t["test"] == kind]
                p = np.array([float(t["p"]) for t in of])
                order, n = np.argsort(p), len(p)
                want = np.empty(n)
                if correction == "holm":
                    want[order] = np.minimum(1, np.maximum.accumulate((n - np.arange(n)) * p[order]))
                elif correction == "bh":
                    want[order] = np.minimum.accumulate((p[order] * n / np.arange(1, n + 1))[::-1])[::-1]
                else:
                    want = np.minimum(1, p * (n if correction == "bonferroni" else 1))
                np.testing.assert_allclose([float(t["p_adjusted"]) for t in of], want, rtol=1e-12)

    def test_leave_out(self):
        self.prepare()
        self.fails(2, "--leave-out needs --models", "stats", "c.json", "d.csv", *ABOUT, "--leave-out")
        plain, *_ = self.check(lambda p: f"cluster {p['cluster']}")
        left, _, out = self.check(lambda p: f"cluster {p['cluster']}", "--models", "m.json", "--leave-out")
        self.assertNotIn("circular", out.err)
        gain = [float(a[f"loglik_{a['cluster']}"]) - float(b[f"loglik_{b['cluster']}"]) for a, b in zip(plain, left)]
        self.assertGreater(sum(gain), 0)      # a centre fits a little worse those it has not seen
        # The same for the first person by other commands: the models without it, from the same start.
        first = plain[0]["subject"]
        models = json.loads(self.path("m.json").read_text())
        keep = [i for i, h in enumerate(models["hmms"]) if h["name"] != first]
        models["hmms"] = [models["hmms"][i] for i in keep]
        models["omega"] = [1 / len(keep)] * len(keep)
        self.write("rest.json", json.dumps(models))
        self.ok("cluster", "rest.json", "--init", "c.json", "-k", 2, "--tau", 3, "--no-repair", "-o", "rc.json", "--quiet")
        self.ok("stats", "rc.json", "d.csv", *ABOUT, "-o", "r.csv", "--quiet")
        again = rows(self.path("r.csv"))[0]
        self.assertEqual(again["subject"], first)
        self.assertEqual(again["clustered"], "no")
        for j in range(2):
            self.assertAlmostEqual(float(again[f"loglik_{j}"]), float(left[0][f"loglik_{j}"]), places=9)

    def test_json_and_new_persons(self):
        self.prepare()
        self.write("d.csv", walks(4, 8, ((8, 0), (0, 8))).replace("\ns", "\nnew"))
        r = self.ok("stats", "c.json", "d.csv", *ABOUT, "--json")
        got = r.json()
        self.assertEqual(len(got["persons"]), 8)
        self.assertFalse(any(p["clustered"] for p in got["persons"]))
        self.assertEqual({p["cluster"] for p in got["persons"]}, {0, 1})
        self.assertNotIn("circular", r.err)
        self.assertEqual(r.out, self.ok("stats", "c.json", "d.csv", *ABOUT, "--json", "--threads", 3).out)
        # Without --group each sequence is a person; "-o -" is the table of persons.
        table = self.ok("stats", "c.json", "d.csv", "--id", "subject,trial", "--columns", "x,y", "-o", "-").out
        self.assertEqual(len(table.splitlines()), 1 + 8 * 6)
        self.assertTrue(table.startswith("sequence\tlabel\tcluster"))

    def test_trials_as_persons(self):
        """Clusters of persons, and trials that were not put together: the column of the persons is the guess."""
        self.prepare()
        trials = ("--id", "subject,trial", "--columns", "x,y")
        told = "warning: 96 sequences were tested as separate persons, but what was clustered has several of them; did you "
        self.assertIn(told + "mean --group subject?", self.ok("stats", "c.json", "d.csv", *trials).err)
        self.assertNotIn("separate persons", self.ok("stats", "c.json", "d.csv", *ABOUT).err)
        self.write("d.csv", re.sub(r"\n(s\d+),", r"\n\1_", self.path("d.csv").read_text()).replace("subject,", ""))
        self.assertIn(told + "mean --group COLUMN, the one with the persons?",
                      self.ok("stats", "c.json", "d.csv", "--id", "trial", "--columns", "x,y").err)
        self.write("d.csv", walks(4, 8, ((8, 0), (0, 8))).replace("\ns", "\nnew"))
        self.assertNotIn("separate persons", self.ok("stats", "c.json", "d.csv", *trials).err)

    def test_says_what_is_not_clear(self):
        """In words a centre fits better only where p, corrected, says so."""
        for distance, seen in ((8, "fits better than"), (0, "no clear difference between centre 0 and centre 1, t(")):
            self.prepare(((distance, 0), (0, distance)), n=10)
            self.write("d.csv", walks(4, 10, ((distance, 0), (0, distance))))
            r = self.ok("stats", "c.json", "d.csv", *ABOUT, "--persons", "same", "--json")
            lines = [line for line in r.err.splitlines() if ": cluster " in line]
            tests = [t for t in r.json()["tests"] if t["test"] == "paired-t"]
            self.assertEqual(len(lines), len(tests))
            for line, t in zip(lines, tests):
                self.assertEqual("no clear difference" in line, t["p_adjusted"] is not None and t["p_adjusted"] > 0.05, line)
            self.assertIn(seen, r.err)

    def test_labels_are_compared_in_words(self):
        self.prepare(label=lambda i: "old" if i % 2 else "young")
        r = self.ok("stats", "c.json", "d.csv", *ABOUT, "--label", "age", "--models", "m.json", "--json")
        tests = [t for t in r.json()["tests"] if t["test"] == "t"]
        self.assertEqual({t["a"] for t in tests} | {t["b"] for t in tests}, {"old", "young"})
        lines = [line for line in r.err.splitlines() if "vhem stats: %s and %s: " % (tests[0]["a"], tests[0]["b"]) in line]
        self.assertEqual(len(lines), len(tests))
        for line, t in zip(lines, tests):
            column = t["measure"] if t["measure"] == "entropy" else f"{t['measure']}_{t['centre']}"
            verdict = "no clear difference" if t["p_adjusted"] > 0.05 else "they differ"
            self.assertIn(f": {verdict} in {column}, t({t['df']:.1f}) = {t['statistic']:.2f}, p = ", line)
        self.assertNotIn(" and cluster 1: ", self.ok("stats", "c.json", "d.csv", *ABOUT).err)

    def test_people_are_known_by_their_data(self):
        """A name alone does not make somebody the person whose model was clustered."""
        self.prepare()
        own = self.path("d.csv").read_text()
        seen = lambda *args: {p["name"]: p for p in self.ok("stats", "c.json", *args, *ABOUT, "--json").json()["persons"]}
        self.assertEqual({p["clustered"] for p in seen("d.csv").values()}, {True})
        shuffled = own.splitlines()      # trials in another order, all values the same
        trials = {}
        for row in shuffled[1:]:
            trials.setdefault(tuple(row.split(",")[:2]), []).append(row)
        self.write("t.csv", "\n".join([shuffled[0]] + [r for t in sorted(trials, reverse=True) for r in trials[t]]) + "\n")
        self.assertEqual({p["clustered"] for p in seen("t.csv").values()}, {True})
        # another study, whose people have the same names
        self.write("o.csv", walks(9, 16, ((0, 8), (8, 0))))
        told = "'s0' and others have the name of a model that was clustered, but not the data it was fitted to; say with --persons same"
        for command in (("stats", "c.json", "o.csv"), ("report", "c.json", "--stats", "all", "-o", "r.html", "--data", "o.csv")):
            self.fails(1, told, *command, *ABOUT)
            self.ok(*command, *ABOUT, "--persons", "new")
        new, same = seen("o.csv", "--persons", "new"), seen("o.csv", "--persons", "same")
        self.write("n.csv", self.path("o.csv").read_text().replace("\ns", "\nnew"))
        self.assertEqual([p["cluster"] for p in new.values()], [p["cluster"] for p in seen("n.csv").values()])
        self.assertEqual({p["clustered"] for p in new.values()}, {False})
        clusters = json.loads(self.path("c.json").read_text())
        self.assertEqual([same[n]["cluster"] for n in clusters["names"]], clusters["labels"])
        self.assertNotEqual([p["cluster"] for p in new.values()], [p["cluster"] for p in same.values()])
        err = self.ok("stats", "c.json", "o.csv", *ABOUT, "--persons", "same").err
        self.assertIn("the models of 16 of 16 were clustered, fitted to other data than these: the tests between centres are not", err)
        self.assertNotIn("circular and", err)
        # one person of another study among those who were clustered
        text = own.splitlines()
        at = next(i for i, row in enumerate(text) if row.startswith("s5,"))
        text[at] = text[at][:-1] + ("1" if text[at][-1] != "1" else "2")
        self.write("one.csv", "\n".join(text) + "\n")
        r = self.ok("stats", "c.json", "one.csv", *ABOUT, "--json")
        self.assertIn("warning: 1 person, 's5' the first, has the name of a model that was clustered and other data: counted as new", r.err)
        self.assertEqual([p["name"] for p in r.json()["persons"] if not p["clustered"]], ["s5"])

    def test_fingerprints_are_kept(self):
        """By HDF5, conversion, states that are chosen, and trees; a file without them goes by the names."""
        self.prepare()
        marks = [h["fingerprint"] for h in json.loads(self.path("m.json").read_text())["hmms"]]
        self.assertEqual(len(set(marks)), 16)
        self.ok("convert", "m.json", "m.h5")
        self.ok("fit", "d.csv", *ABOUT, "--states", "1..2", "--restarts", "2", "-o", "a.json", "--quiet")
        for made in (("cluster", "m.h5", "-k", 2), ("cluster", "a.json", "-k", 2), ("tree", "m.json", "-k", "4,2")):
            self.ok(*made, "--tau", 3, "--restarts", 2, "-o", "k.json", "--quiet")
            k = json.loads(self.path("k.json").read_text())
            self.assertEqual((k["levels"][0] if "levels" in k else k)["fingerprints"], marks)
        k = json.loads(self.path("c.json").read_text())
        self.write("o.csv", walks(9, 16, ((0, 8), (8, 0))))
        self.fails(1, "'s0' and others", "stats", "c.json", "o.csv", *ABOUT)
        del k["fingerprints"]
        self.write("old.json", json.dumps(k))
        self.assertIn("16 of 16 were clustered", self.ok("stats", "old.json", "o.csv", *ABOUT).err)
        for bad in ([1] * 16, ["x"] * 16, ["0" * 16]):
            self.write("bad.json", json.dumps({**k, "fingerprints": bad}))
            self.fails(1, "fingerprints", "stats", "bad.json", "d.csv", *ABOUT)

    def test_report_says_what_stats_says(self):
        self.prepare()
        args = ("report", "c.json", "--data", "d.csv", "--stats", "all", "--models", "m.json", "-o", "r.html")
        trials = ("--id", "subject,trial", "--columns", "x,y")
        self.assertIn("warning: 96 sequences were tested as separate persons", self.ok(*args, *trials).err)
        page = self.path("r.html").read_text()
        self.assertIn("Each sequence counts as a person here", page)
        self.assertIn("None of these persons was clustered", page)
        self.assertNotIn("<td>entropy: ", page)
        self.assertNotIn("separate persons", self.ok(*args, *ABOUT).err)
        page = self.path("r.html").read_text()
        self.assertNotIn("counts as a person", page)
        self.assertIn("16 of 16 persons were clustered", page)
        self.assertIn("<td>entropy: ", page)

    def test_refusals(self):
        self.prepare()
        self.fails(1, "m.json", "stats", "m.json", "d.csv", *ABOUT)
        self.fails(2, "correction", "stats", "c.json", "d.csv", *ABOUT, "--correction", "tukey")
        self.fails(1, "the confidence is 1, must be between 0 and 1", "stats", "c.json", "d.csv", *ABOUT,
                   "--confidence", 1)
        self.fails(1, "level 2 of a tree of 1", "stats", "c.json", "d.csv", *ABOUT, "--level", 2)
        self.ok("cluster", "m.json", "-k", 16, "--tau", 3, "-o", "all.json", "--quiet")
        self.fails(1, "without one of them there are too few", "stats", "all.json", "d.csv", *ABOUT, "--models",
                   "m.json", "--leave-out")
        self.ok("stats", "all.json", "d.csv", *ABOUT)      # clusters of one person cannot be tested, which is no failure


class Page(Checks):
    def report(self, *args):
        self.ok("report", "c.json", "--data", "d.csv", "--models", "m.json", *args, "-o", "r.html", "--force")
        return self.path("r.html").read_text()

    def test_statistics_and_words(self):
        self.prepare()
        plain = self.report(*ABOUT, "--tables", "n")
        head, *states = (line.split("\t") for line in self.path("n/states.tsv").read_text().splitlines())
        self.assertEqual(head[5:7], ["duration", "stay"])
        for row in states:                             # no stay is longer than the longest trial
            self.assertLessEqual(float(row[6]), min(4, float(row[5])) + 1e-9)
        self.assertNotIn("statistics-h", plain)
        self.assertIn("stay within 4 frames", plain)
        dots = re.findall(r'<path data-kind="frames"[^>]* d="([^"]*)"', plain)
        self.assertEqual(len(dots), 2)                 # of each centre all frames of its persons
        self.assertEqual(sum(d.count("M") for d in dots), len(self.path("d.csv").read_text().splitlines()) - 1)
        page = self.report(*ABOUT, "--stats", "all", "--frame-name", "fixations")
        self.assertIn("Who fits which centre", page)
        self.assertIn("persons were clustered", page)
        tests = rows_of_table(page, "tests")
        want = self.ok("stats", "c.json", "d.csv", *ABOUT, "--models", "m.json", "--json").json()["tests"]
        self.assertEqual([row[5] for row in tests], [f"{t['statistic']:.3f}" for t in want])
        self.assertIn("stay within 4 fixations", page)
        self.assertNotRegex(re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>", "", page), r"\d frames\b")
        self.assertIn("was scored under centres made without",
                      self.report(*ABOUT, "--stats", "leave-out"))
        self.fails(2, "--stats needs --data", "report", "c.json", "--stats", "all", "-o", "x.html")
        self.fails(1, "cannot be called", "report", "c.json", "--frame-name", "<b>", "-o", "x.html")

    def test_transitions_and_stays(self):
        self.prepare()
        centers = json.loads(self.path("c.json").read_text())["centers"]["hmms"]
        tables = rows_of_table(self.report(*ABOUT), "states")
        A = centers[0]["A"]
        for s in range(2):
            a = A[s][s]
            stay = (1 - a ** 4) / (1 - a) if a < 1 else 4
            self.assertEqual(tables[s][3], f"{stay:.3g} frame{'s' * (abs(stay - 1) >= 0.005)}")
            self.assertEqual(tables[2 + s][1:], [f"{x:.2f}" for x in A[s]])

    def test_plane(self):
        self.write("d.csv", "".join(f"{line},{7 + i % 5}\n" if i else line + ",duration\n" for i, line in
                                    enumerate(walks(3, 8, ((8, 0), (0, 8))).splitlines())))
        about = ("--id", "subject,trial", "--group", "subject", "--columns", "duration,x,y")
        self.ok("fit", "d.csv", *about, "--states", 2, "--restarts", 2, "-o", "m.json", "--quiet")
        self.ok("cluster", "m.json", "-k", 2, "--tau", 3, "--restarts", 5, "-o", "c.json", "--quiet")
        strips = self.report(*about)
        self.assertIn("Mean and band of one standard deviation", strips)
        for extra in ("--plane", "x,y"), ("--plane", "1,2"), ("--y-down",):
            page = self.report(*about, *extra)
            self.assertIn("Ellipses of one and two standard deviations", page)
            self.assertIn(">duration<", page)
            self.assertNotIn("Mean and band", page)
        self.fails(1, "there is no dimension 'z' among 3", "report", "c.json", "--data", "d.csv", *about, "--plane", "x,z",
                   "-o", "x.html")
        self.fails(1, "must be two of the 3 dimensions", "report", "c.json", "--data", "d.csv", *about, "--plane", "x", "-o",
                   "x.html")


def rows_of_table(page, kind):
    """Cells of all rows of the tables of a class, tags removed."""
    found = []
    for table in re.findall(rf'(?s)<table class="{kind}">.*?</table>', page):
        for row in re.findall(r"(?s)<tr><th scope=\"row\">.*?</tr>", table):
            found.append([re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"(?s)<t[hd][^>]*>(.*?)</t[hd]>", row)])
    return found


class EyeMovements(Checks):
    """The published example: 32 people who looked at faces (Chuk, Chan and Hsiao 2014)."""

    def test_published_groups(self):
        data = pathlib.Path(os.environ.get("VHEM_DATA", "")) / "eye_fixations" / "jov_fixations.csv"
        if not os.environ.get("VHEM_DATA") or not data.exists():
            self.skipTest("no eye movements")
        self.write("d.csv", data.read_text())
        self.ok("fit", "d.csv", *ABOUT, "--states", 3, "--cov", "full", "--seed", 1, "-o", "m.json", "--quiet")
        self.ok("cluster", "m.json", "-k", 2, "--preset", "emhmm", "--tau", 3, "--restarts", 50, "--seed", 1, "-o",
                "c.json", "--quiet")
        persons, tests, _ = self.check(lambda p: f"cluster {p['cluster']}")
        sizes = sorted([p["cluster"] for p in persons].count(j) for j in "01")
        self.assertEqual(sizes, [11, 21])
        for t in tests[:2]:
            self.assertGreater(float(t["statistic"]), 5)
            self.assertGreater(float(t["d_low"]), 0.7)

    def test_groups_of_the_toolbox(self):
        """The groups and centres that the toolbox's authors published; t and d by SciPy from the same files."""
        data = pathlib.Path(os.environ.get("VHEM_DATA", "")) / "eye_fixations" / "jov_fixations.csv"
        if not os.environ.get("VHEM_DATA") or not data.exists():
            self.skipTest("no eye movements")
        theirs = json.loads((SOURCE / "tests/golden/data/real_jov.json").read_text())["groups"]["group_hmms2"]
        self.write("c.json", json.dumps({"format": "vhem-clustering", "version": 1, "method": "vhem", "options": {"K": 2},
                                         "names": [str(k) for k in range(1, 33)], "labels": theirs["label"],
                                         "centers": theirs["centers"]}))
        rows = self.ok("stats", "c.json", data, *ABOUT, "-o", "persons.csv", "--quiet").rows()
        found = [(t["df"], float(t["statistic"]), float(t["d"])) for t in rows[:2]]
        for (df, t, d), want in zip(found, [("11", 6.17962082, 1.78390287), ("19", 7.55935068, 1.69032220)]):
            self.assertEqual(df, want[0])
            self.assertAlmostEqual(t, want[1], places=6)
            self.assertAlmostEqual(d, want[2], places=6)


if __name__ == "__main__":
    unittest.main()
