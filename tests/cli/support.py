# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share: running it, small files, an independent likelihood."""
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VHEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.path.append(str(SOURCE / "docs"))  # vhem_in_80_lines.py
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
HANGS = 600      # seconds: longer than any call takes on a busy machine; a guard, no measure of speed
WINDOWS = os.environ.get("VHEM_SYSTEM") == "Windows"   # the system of the command; these tests run on another one
COMMANDS = ["demo", "fit", "cluster", "tree", "assign", "choose", "score", "decode", "background", "sample", "compare",
            "eval", "stats", "classify", "annotate", "report", "info", "convert"]
PARTS = {"classify": ["train", "predict", "eval", "cross", "update"],
         "annotate": ["train", "predict", "search", "eval", "cross", "update"]}


def worked(pid):
    """Seconds of processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)

    def rows(self):
        """The table on stdout as a list of dictionaries."""
        lines = self.out.splitlines()
        head = lines[0].split("\t")
        return [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]]


class Case(unittest.TestCase):
    """Each test runs in an empty folder of its own."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="vhem-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return self.dir / name

    def write(self, name, text):
        self.path(name).write_text(text)
        return name

    def run_vhem(self, *args, stdin=None, env=None):
        return Result(subprocess.run([VHEM, *map(str, args)], cwd=self.dir, input=stdin, capture_output=True,
                                     text=True, timeout=HANGS, env={**os.environ, **(env or {})}))

    def ok(self, *args, **more):
        r = self.run_vhem(*args, **more)
        self.assertEqual(r.code, 0, f"vhem {' '.join(map(str, args))}: {r.err}")
        return r

    def fails(self, code, text, *args, **more):
        """Ends with this status and a first line 'vhem COMMAND: ...' that contains the text."""
        r = self.run_vhem(*args, **more)
        self.assertEqual(r.code, code, f"vhem {' '.join(map(str, args))}: status {r.code}, {r.err}")
        lines = r.err.splitlines()
        self.assertTrue(lines, "nothing on stderr")
        self.assertTrue(lines[0].startswith("vhem"), lines[0])
        self.assertIn(text, lines[0])
        self.assertEqual(len(lines), 2 if code == 2 else 1, r.err)
        self.assertEqual(r.out, "")
        return r

    def leftovers(self, *expected):
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), sorted(expected))


def two_level(n_seq=4, frames=40, seed=1, label=True):
    """Sequences that jump between a low and a high level in two columns, as long CSV."""
    rng = random.Random(seed)
    lines = ["id,label,x,y" if label else "id,x,y"]
    for n in range(n_seq):
        level = rng.randrange(2)
        for _ in range(frames + 3 * n):
            if rng.random() < 0.2:
                level = 1 - level
            x, y = rng.gauss(5 * level, 0.5), rng.gauss(-3 * level, 0.7)
            kind = ("even," if n % 2 == 0 else "odd,") if label else ""
            lines.append(f"seq{n},{kind}{x:.5f},{y:.5f}")
    return "\n".join(lines) + "\n"


def model(hmms=None, omega=None):
    """A model file with two HMMs of one dimension, known to the last digit."""
    hmms = hmms or [
        {"name": "slow", "label": "a", "S": 2, "M": 1, "pi": [0.75, 0.25], "A": [[0.9, 0.1], [0.2, 0.8]],
         "c": [[1], [1]], "mu": [[[0]], [[4]]], "cov": [[[1]], [[0.25]]]},
        {"name": "fast", "label": "b", "S": 2, "M": 2, "pi": [0.5, 0.5], "A": [[0.5, 0.5], [0.5, 0.5]],
         "c": [[0.5, 0.5], [0.25, 0.75]], "mu": [[[-1], [1]], [[3], [5]]], "cov": [[[1], [2]], [[1], [0.5]]]},
    ]
    return json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1,
                       "omega": omega or [0.25, 0.75], "hmms": hmms})


def flock(kinds=3, per_kind=4, seed=1, label=True, apart=12.0):
    """A model file with HMMs of a few kinds, far from each other, whose members differ a little."""
    rng = random.Random(seed)
    hmms = []
    for k in range(kinds):
        for n in range(per_kind):
            stay = 0.6 + 0.3 * k / kinds + rng.uniform(-0.05, 0.05)
            h = {"name": f"k{k}_{n}", "S": 2, "M": 1, "pi": [0.6, 0.4], "A": [[stay, 1 - stay], [1 - stay, stay]],
                 "c": [[1], [1]], "mu": [[[apart * k + rng.gauss(0, 0.2)]], [[apart * k + 5 + rng.gauss(0, 0.2)]]],
                 "cov": [[[rng.uniform(0.8, 1.2)]], [[rng.uniform(0.4, 0.6)]]]}
            hmms.append({**h, "label": f"kind{k}"} if label else h)
    rng.shuffle(hmms)
    return model(hmms, [1 / len(hmms)] * len(hmms))


def same_partition(a, b):
    """Do two lists of labels group the same things together?"""
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def log_sum(terms):
    most = max(terms)
    return most if most == -math.inf else most + math.log(sum(math.exp(x - most) for x in terms))


def log(x):
    return math.log(x) if x > 0 else -math.inf


def emission(hmm, s, y):
    """log p(y | state s) of a Gaussian mixture with diagonal covariances."""
    terms = []
    for m in range(hmm["M"]):
        term = log(hmm["c"][s][m])
        for k, v in enumerate(y):
            mu, var = hmm["mu"][s][m][k], hmm["cov"][s][m][k]
            term -= 0.5 * (math.log(2 * math.pi * var) + (v - mu) ** 2 / var)
        terms.append(term)
    return log_sum(terms)


def forward(hmm, frames):
    """log p(frames | HMM), straight from the definition of the forward variables."""
    S = hmm["S"]
    alpha = [log(hmm["pi"][s]) + emission(hmm, s, frames[0]) for s in range(S)]
    for y in frames[1:]:
        alpha = [log_sum([alpha[r] + log(hmm["A"][r][s]) for r in range(S)]) + emission(hmm, s, y)
                 for s in range(S)]
    return log_sum(alpha)


def best_path(hmm, frames):
    """The most likely path by trying every one; for a handful of frames."""
    import itertools
    best = (-math.inf, None)
    for path in itertools.product(range(hmm["S"]), repeat=len(frames)):
        score = log(hmm["pi"][path[0]]) + emission(hmm, path[0], frames[0])
        for t in range(1, len(frames)):
            score += log(hmm["A"][path[t - 1]][path[t]]) + emission(hmm, path[t], frames[t])
        best = max(best, (score, path))
    return best
