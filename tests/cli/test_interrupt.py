# SPDX-License-Identifier: BSD-3-Clause
"""Every command that can take long ends soon after the first Ctrl-C, and keeps what it has.

Time is that of the process, not of the clock: on a busy machine a second of work may take many.
"""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import threading
import time
import unittest

from support import HANGS, VHEM, Case

WITHIN = 2.0                                             # seconds of work after the signal
TICK = os.sysconf("SC_CLK_TCK")


def chain(S, level, rng, name):
    """An HMM of one dimension with S states."""
    rows = []
    for _ in range(S):
        row = [rng.random() + 0.01 for _ in range(S)]
        total = sum(row)
        rows.append([x / total for x in row])
    return {"name": name, "label": f"c{level}", "S": S, "M": 1, "pi": [1 / S] * S, "A": rows, "c": [[1]] * S,
            "mu": [[[level + rng.gauss(0, 1)]] for _ in range(S)], "cov": [[[rng.uniform(0.5, 2)]] for _ in range(S)]}


def models(K, S, seed=1, cyclic=False):
    """Of a cyclic chain the product kernel does not settle: it has to walk all the way."""
    rng = random.Random(seed)
    hmms = [chain(S, i % 3, rng, f"h{i}") for i in range(K)]
    for h in hmms if cyclic else []:
        h["A"] = [[float(q == (s + 1) % S) for q in range(S)] for s in range(S)]
    return json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1, "omega": [1 / K] * K,
                       "hmms": hmms})


class Interrupt(Case):
    worst, runs = 0.0, 0

    def tearDown(self):
        print(f"Ctrl-C: {self.runs} commands, at most {self.worst:.2f} s of work after it")

    def work(self, pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stopped(self, *args, after=0.4, kept=None, feed=None):
        """Ends with status 130 within WITHIN seconds of work of the signal; the output is there or not.

        feed, a first line and others, is written to standard input, the others over and over, so that reading it does
        not end by itself."""
        source, sink = os.pipe() if feed else (subprocess.DEVNULL, None)
        p = subprocess.Popen([VHEM, *args, "-t", "1", "-q"], cwd=self.dir, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, stdin=source, text=True)
        if feed:
            os.close(source)
            threading.Thread(target=self.write_on, args=(sink, *feed), daemon=True).start()
        begin = time.monotonic()
        while self.work(p.pid) < after and p.poll() is None and time.monotonic() - begin < 100:
            time.sleep(0.02)
        self.assertIsNone(p.poll(), f"{args} ended by itself before it was interrupted")
        at = self.work(p.pid)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p.send_signal(signal.SIGINT)
        try:
            told = p.communicate(timeout=HANGS)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            self.fail(f"{args} did not end")
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime - at
        self.assertEqual(p.returncode, 130, f"{args}: {told}")
        self.worst, self.runs = max(self.worst, used), self.runs + 1
        self.assertLess(used, WITHIN, f"{args} worked on for {used:.1f} s after Ctrl-C")
        if kept is not None:
            self.assertEqual(self.path(args[args.index("-o") + 1]).exists(), kept, args)
        self.assertEqual([q.name for q in self.dir.iterdir() if "vhem-tmp" in q.name], [])
        return told

    @staticmethod
    def write_on(sink, first, text):
        try:
            os.write(sink, first.encode())
            while True:
                os.write(sink, text.encode())
        except BrokenPipeError:                          # it has ended
            os.close(sink)

    def test_models(self):
        self.write("m.json", models(60, 10))
        self.write("odd.json", models(40, 24))
        self.write("cycle.json", models(16, 7, cyclic=True))
        self.stopped("cluster", "m.json", "-k", "8", "--tau", "50", "-r", "200", "-o", "o.json")
        self.stopped("cluster", "cycle.json", "-k", "4", "--method", "ppk-sc", "--tau", "9999999", "-o", "p.json")
        self.stopped("tree", "m.json", "-k", "8,4,2", "--tau", "50", "-r", "200", "-o", "t.json")
        self.stopped("choose", "m.json", "-k", "2..8", "--tau", "20", "-r", "20", "-o", "c.tsv")
        self.stopped("compare", "cycle.json", "--kind", "ppk", "--tau", "9999999", "-o", "k.csv", kept=False)
        self.stopped("compare", "odd.json", "--kind", "ppk", "--tau", "9999999", "--backend", "ref", "-o", "k.csv", kept=False)
        self.fails(1, "tau is 10000001, must be from 1 to 10000000", "compare", "odd.json", "--kind", "ppk", "--tau", 10000001)
        self.stopped("compare", "odd.json", "--samples", "20000", "-o", "d.csv", kept=False)
        self.stopped("sample", "odd.json", "-n", "4000", "-T", "5000", "-o", "s.csv", kept=False)

    def test_long_step(self):
        """A stop does not wait for the end of one long E-step; without a complete one there is nothing to keep."""
        self.write("wide.json", models(400, 24))
        for backend in ("auto", "ref"):
            self.stopped("cluster", "wide.json", "-k", "100", "--tau", "30", "-r", "1", "--search", "restarts", "--max-iter",
                         "5", *(() if backend == "auto" else ("--backend", backend)), "-o", "w.json", after=1.0, kept=False)

    def test_early(self):
        """Before the first E-step is complete there is nothing to hand over."""
        self.write("m.json", models(1500, 24))
        self.stopped("cluster", "m.json", "-k", "100", "--method", "hem-gmm", "-r", "1", "-o", "o.json",
                     after=0.6)

    def test_sequences(self):
        self.write("big.json", models(30, 60))
        self.write("small.json", models(6, 2))
        self.ok("sample", "small.json", "-n", 400, "-T", 200, "-o", "d.csv", "-q")
        self.ok("cluster", "big.json", "-k", 25, "-r", 1, "--max-iter", 0, "--tau", 2, "--search", "restarts", "-o",
                "c.json", "-q")
        self.stopped("fit", "d.csv", "-S", "10", "-r", "20", "-o", "f.json")
        self.stopped("fit", "d.csv", "-S", "4", "-k", "6", "-r", "20", "-o", "mix.json")
        self.stopped("fit", "d.csv", "-S", "4", "--prior", "vb", "-r", "50", "-o", "v.json")
        self.stopped("score", "big.json", "d.csv", "-o", "s.tsv", kept=False)
        self.stopped("decode", "big.json", "d.csv", "-o", "p.tsv", kept=False)
        self.stopped("assign", "c.json", "d.csv", "-o", "a.tsv", kept=False)
        self.stopped("eval", "c.json", "--data", "d.csv", "-o", "e.tsv", kept=False)
        self.stopped("report", "c.json", "--data", "d.csv", "--measures", "all", "-o", "r.html", kept=False)
        self.stopped("classify", "train", "d.csv", "--label", "label", "-S", "10", "-r", "20", "--store", "k.store", "-o",
                     "k.json", kept=False)
        self.stopped("classify", "cross", "d.csv", "--label", "label", "-S", "10", "-r", "20", "-o", "x.tsv", kept=False)

    def test_long_sequences(self):
        """A stop does not wait for the end of one pass over a long sequence; what was complete before is kept."""
        self.write("small.json", models(1, 2))
        self.write("big.json", models(24, 60))
        self.write("large.json", models(1, 200))
        self.ok("sample", "small.json", "-n", 1, "-T", 300000, "-o", "d.csv", "-q")
        self.ok("sample", "small.json", "-n", 2, "-T", 150000, "-o", "two.csv", "-q")
        self.stopped("score", "big.json", "d.csv", "-o", "s.tsv", kept=False)
        self.stopped("decode", "large.json", "d.csv", "-o", "p.tsv", after=1.0, kept=False)
        self.stopped("decode", "large.json", "d.csv", "--posterior", "-o", "p.tsv", after=1.0, kept=False)
        self.stopped("fit", "d.csv", "-S", "100", "-r", "4", "--prior", "none", "-o", "f.json", after=1.5)
        self.stopped("fit", "d.csv", "-S", "30", "-r", "1", "--prior", "none", "--backend", "ref", "-o", "g.json", after=1.0)
        self.stopped("cluster", "two.csv", "-k", "2", "-S", "40", "--method", "em-h3m", "-o", "e.json", after=3.0)

    def test_textures(self):
        rng = random.Random(2)
        lines = ["id," + ",".join(f"x{k}" for k in range(12))]
        for n in range(30):
            for _ in range(200):
                lines.append(f"s{n}," + ",".join(f"{rng.gauss(0, 1):.4f}" for _ in range(12)))
        self.write("d.csv", "\n".join(lines) + "\n")
        self.ok("fit", "d.csv", "--model", "dtm", "-S", "6", "-o", "t.json", "-q")
        self.stopped("cluster", "t.json", "-k", "5", "--method", "hem-dtm", "-r", "200", "--tau", "100", "-o", "o.json")
        self.stopped("cluster", "t.json", "-k", "20", "--method", "hem-dtm", "-r", "1", "--tau", "5000", "-o", "w.json")
        self.stopped("fit", "d.csv", "--model", "dtm", "-S", "6", "-k", "3", "-r", "50", "-o", "mix.json")

    def test_reading(self):
        row = ",".join(["0.123456789"] * 20)
        feed = ("id," + ",".join(f"x{k}" for k in range(20)) + "\n", f"a,{row}\n" * 10_000)
        self.stopped("info", "-", after=0.2, feed=feed)
        self.stopped("convert", "-", "o.npz", after=0.2, feed=feed)

    def test_writing(self):
        self.write("m.json", models(1, 2))
        self.ok("sample", "m.json", "-n", 2, "-T", 2_000_000, "-o", "d.npz", "-q")
        for name in ("o.csv", "o.ts"):
            self.stopped("convert", "d.npz", name, after=0.3)
            self.assertFalse(self.path(name).exists())


if __name__ == "__main__":
    unittest.main()
