# SPDX-License-Identifier: BSD-3-Clause
"""Models of every kind, groups and mixtures go through the commands; a file is parsed once."""
import collections
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import unittest

from support import VHEM, Case, flock, forward, log_sum


def swings(kinds=2, per_kind=5, frames=40, seed=1):
    """Sequences that swing at different speeds, in groups of the same kind, as long CSV."""
    rng = random.Random(seed)
    lines = ["id,label,pair,x,y"]
    for k in range(kinds):
        for n in range(per_kind):
            phase, speed = rng.uniform(0, 6), 0.3 + 0.9 * k
            for t in range(frames):
                x, y = math.sin(phase + speed * t), math.cos(phase + speed * t)
                lines.append(f"s{k}_{n},kind{k},g{k}_{n // 2},{x + rng.gauss(0, .1):.5f},{y + rng.gauss(0, .1):.5f}")
    return "\n".join(lines) + "\n"


class Textures(Case):
    """Dynamic textures go where HMMs go."""

    def setUp(self):
        super().setUp()
        self.write("d.csv", swings())

    def test_every_command(self):
        r = self.ok("fit", "d.csv", "--model", "dtm", "-S", "2", "-o", "m.json")
        self.assertIn("10 textures from 10 sequences", r.err)
        self.ok("cluster", "m.json", "-k", "2", "-r", "4", "-o", "c.json")
        self.ok("tree", "m.json", "-k", "4,2", "-r", "4", "-o", "t.json")
        labels = json.loads(self.path("c.json").read_text())["labels"]
        self.assertEqual(labels, [labels[0]] * 5 + [labels[5]] * 5)
        for what in ("m.json", "d.csv"):
            where = [int(row["cluster"]) for row in self.ok("assign", "c.json", what).rows()]
            self.assertEqual(where, labels, what)
        self.assertEqual(len(self.ok("score", "c.json", "d.csv").rows()), 10)
        self.assertEqual(len(self.ok("sample", "t.json", "-n", "3", "-T", "4").out.splitlines()), 13)
        self.ok("convert", "m.json", "m.h5")
        self.assertIn("10 dynamic textures", self.ok("info", "m.h5").out)
        self.assertIn("Rand index", self.ok("eval", "t.json", "--models", "m.json", "--data", "d.csv").out)
        self.ok("report", "t.json", "--models", "m.json", "--data", "d.csv", "-o", "r.html")
        self.assertIn("kind0", self.path("r.html").read_text())

    def test_classes(self):
        self.ok("classify", "train", "d.csv", "--model", "dtm", "-S", "2", "-k", "2", "-o", "k.json")
        self.assertIn("models of 2 classes or tags, made by hem-dtm", self.ok("info", "k.json").out)
        r = self.ok("classify", "eval", "k.json", "d.csv", "--json").json()
        self.assertEqual((r["summary"]["judged"], r["summary"]["accuracy"]), (10, 1))
        self.assertEqual(r["confusion"], [[5, 0], [0, 5]])
        self.fails(2, "model dtm does not use --mix; model hmm does", "classify", "train", "d.csv", "--model", "dtm",
                   "-M", "2", "-o", "k.json")

    def test_mixture(self):
        self.ok("fit", "d.csv", "--model", "dtm", "-S", "2", "--mixture", "2", "-o", "x.json")
        where = [row["cluster"] for row in self.ok("assign", "x.json", "d.csv").rows()]
        self.assertEqual(where, [where[0]] * 5 + [where[5]] * 5)


class Mixtures(Case):
    """The components of a mixture are clusters."""

    def test_assign(self):
        self.write("m.json", flock(3, 1))
        self.ok("sample", "m.json", "-n", "9", "-T", "30", "-o", "d.csv")
        models = json.loads(self.path("m.json").read_text())
        frames, kinds = collections.OrderedDict(), {}
        for line in self.path("d.csv").read_text().splitlines()[1:]:
            name, label, x = line.split(",")
            frames.setdefault(name, []).append([float(x)])
            kinds[name] = label
        for row in self.ok("assign", "m.json", "d.csv").rows():
            y = frames[row["name"]]
            loglik = [math.log(w) + forward(h, y) for w, h in zip(models["omega"], models["hmms"])]
            best = max(range(3), key=loglik.__getitem__)
            self.assertEqual(int(row["cluster"]), best)
            self.assertEqual(models["hmms"][best]["name"], kinds[row["name"]])
            self.assertAlmostEqual(float(row["posterior"]), math.exp(loglik[best] - log_sum(loglik)))
        self.ok("fit", "d.csv", "--mixture", "3", "-S", "2", "-o", "x.json")
        self.assertIn("9 sequences in 3 clusters", self.ok("assign", "x.json", "d.csv").err)


class Groups(Case):
    """With --group the sequences of a group are one item."""

    def setUp(self):
        super().setUp()
        self.write("d.csv", swings())
        self.ok("fit", "d.csv", "-S", "2", "-r", "2", "-o", "m.json", "-q")
        self.ok("cluster", "m.json", "-k", "2", "-r", "4", "-o", "c.json", "-q")

    def test_score(self):
        alone = {row["sequence"]: row for row in self.ok("score", "c.json", "d.csv", "--all").rows()}
        rows = self.ok("score", "c.json", "d.csv", "--all", "--group", "pair").rows()
        self.assertEqual([row["group"] for row in rows], ["g0_0", "g0_1", "g0_2", "g1_0", "g1_1", "g1_2"])
        for k in alone["s0_0"].keys() - {"sequence", "label", "best", "loglik", "per_frame", "per_value"}:
            pair = float(alone["s0_0"][k]) + float(alone["s0_1"][k])
            self.assertAlmostEqual(float(rows[0][k]), pair, delta=1e-9 * abs(pair))
        self.assertEqual((rows[0]["label"], rows[0]["frames"], rows[2]["frames"]), ("kind0", "80", "40"))
        self.assertEqual(len(self.ok("score", "c.json", "d.csv", "--group", "pair", "--json").json()["groups"]), 6)

    def test_assign(self):
        r = self.ok("assign", "c.json", "d.csv", "--group", "pair")
        self.assertIn("6 groups in 2 clusters; agreement with the labels", r.err)
        rows = r.rows()
        self.assertEqual([row["name"] for row in rows], ["g0_0", "g0_1", "g0_2", "g1_0", "g1_1", "g1_2"])
        scores = self.ok("score", "c.json", "d.csv", "--all", "--group", "pair", "--json").json()["groups"]
        for row, score in zip(rows, scores, strict=True):
            best = max(score["each"])
            self.assertEqual(score["each"][int(row["cluster"])], best)
            self.assertAlmostEqual(float(row["score"]), best / score["frames"])

    def test_column_of_the_truth(self):
        """--truth is a column of --data, in eval and in report."""
        truth = ["--data", "d.csv", "--truth", "pair"]
        self.assertIn("cluster  g0_0  g0_1", self.ok("eval", "c.json", *truth).out)
        self.ok("report", "c.json", *truth, "-o", "r.html")
        self.assertIn("g1_2", self.path("r.html").read_text())
        self.fails(2, "--truth pair names a column, but no --data was given", "report", "c.json", "--truth", "pair")

    def test_measures_of_a_report(self):
        for words, shown in ((["--measures", "none"], False), ([], True), (["--measures", "all"], True)):
            self.ok("report", "c.json", "--models", "m.json", *words, "--tables", "n", "-o", "r.html")
            [row] = self.path("n/measures.tsv").read_text().splitlines()[1:]
            values = dict(zip(self.path("n/measures.tsv").read_text().splitlines()[0].split("\t"), row.split("\t")))
            self.assertEqual(values["expected_loglik"] not in ("", "nan"), shown, values)

    def test_kernels_have_the_same_words(self):
        raw = self.ok("compare", "m.json", "--kind", "ppk", "--kernel", "raw").out
        self.assertEqual(raw, self.ok("compare", "m.json", "--kind", "ppk", "--raw").out)
        self.assertNotEqual(raw, self.ok("compare", "m.json", "--kind", "ppk", "--kernel", "normalised").out)
        self.ok("eval", "c.json", "--models", "m.json", "--kernel", "raw")
        self.fails(2, "--kernel is one of normalised, raw", "compare", "m.json", "--kernel", "rbf")

    def test_no_such_column(self):
        for command in ("assign", "score"):
            self.fails(1, "nosuch", command, "c.json", "d.csv", "--group", "nosuch")


COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
typedef int open_call(const char *, int, ...);
typedef FILE *fopen_call(const char *, const char *);
static void note(const char *path)
{
    int fd = ((open_call *)dlsym(RTLD_NEXT, "open"))(getenv("OPENS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    dprintf(fd, "%s\n", path);
    close(fd);
}
#define OPEN(name)                                                        \
    int name(const char *path, int flags, ...)                            \
    {                                                                     \
        va_list ap;                                                       \
        va_start(ap, flags);                                              \
        int mode = va_arg(ap, int);                                       \
        va_end(ap);                                                       \
        note(path);                                                       \
        return ((open_call *)dlsym(RTLD_NEXT, #name))(path, flags, mode); \
    }
#define FOPEN(name)                                                   \
    FILE *name(const char *path, const char *mode)                    \
    {                                                                 \
        note(path);                                                   \
        return ((fopen_call *)dlsym(RTLD_NEXT, #name))(path, mode);   \
    }
OPEN(open)
OPEN(open64)
FOPEN(fopen)
FOPEN(fopen64)
"""


class Opens(Case):
    """Counts how often the command opens its files.  Where a file may hold models or sequences, its first bytes are
    looked at before it is read."""

    def setUp(self):
        super().setUp()
        compiler = shutil.which(os.environ.get("CC", "cc"))
        cache = pathlib.Path(VHEM).resolve().parent / "CMakeCache.txt"
        if not compiler or (cache.exists() and "VHEM_SANITIZE:BOOL=ON" in cache.read_text()):
            self.skipTest("needs a compiler, and a library that can be put before all others")
        self.write("opens.c", COUNTER)
        subprocess.run([compiler, "-shared", "-fPIC", "opens.c", "-o", "opens.so", "-ldl"], cwd=self.dir, check=True)
        self.write("m.json", flock())
        self.write("d.csv", "id,x\na,1\na,2\nb,30\nb,31\n")
        self.ok("cluster", "m.json", "-k", "3", "-r", "4", "-o", "c.json", "-q")
        self.ok("tree", "m.json", "-k", "3,2", "-r", "4", "-o", "t.json", "-q")
        self.ok("convert", "m.json", "m.h5", "-q")

    def count(self, *args):
        log = self.path("opens.txt")
        log.unlink(missing_ok=True)
        self.ok(*args, env={"LD_PRELOAD": str(self.path("opens.so")), "OPENS": str(log)})
        return collections.Counter(log.read_text().splitlines())

    def test_once(self):
        for name in ("m.json", "c.json", "t.json", "m.h5"):
            most = 2 if name == "m.h5" else 1        # HDF5 reads the head, the library the arrays
            self.assertLessEqual(self.count("score", name, "d.csv")[name], most)
            self.assertLessEqual(self.count("sample", name)[name], most)
            seen = self.count("cluster", name, "-k", "2", "-r", "2", "-o", "x.json")
            self.assertLessEqual(seen[name], 1 + most)   # a look at its beginning: models or sequences?
            self.assertLessEqual(self.count("info", name)[name], 1 + most)
            self.assertLessEqual(self.count("convert", name, "y.json")[name], 1 + most)
            seen = self.count("assign", "t.json", name)
            self.assertLessEqual(seen[name], 1 + most if name != "t.json" else 3)
        self.assertLessEqual(self.count("assign", "c.json", "d.csv")["d.csv"], 3)

    def test_pipe_by_name(self):
        """A pipe can be read once: what it holds is found out from the bytes that are then read."""
        os.mkfifo(self.path("pipe"))
        cases = (("m.json", ("info", "pipe"), "12 HMMs"), ("c.json", ("info", "pipe"), "3 clusters"),
                 ("d.csv", ("info", "pipe"), "2 sequences"), ("m.json", ("assign", "c.json", "pipe"), "cluster"),
                 ("d.csv", ("assign", "c.json", "pipe"), "cluster"))
        for name, args, said in cases:
            with subprocess.Popen(["sh", "-c", f"cat {name} > pipe"], cwd=self.dir) as cat:
                r = self.ok(*args)
                self.assertEqual(cat.wait(timeout=20), 0, args)
            self.assertIn(said, r.out + r.err, args)


if __name__ == "__main__":
    unittest.main()
