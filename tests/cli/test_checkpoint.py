# SPDX-License-Identifier: BSD-3-Clause
"""A clustering that was killed goes on from its checkpoint: the same bytes as if nothing had happened."""
import json
import pathlib
import random
import signal
import subprocess
import time
import unittest

from support import VHEM, Case

HEAD = b"vhem-checkpoint 1\n"


def models(K, S=6, seed=1):
    rng = random.Random(seed)

    def row():
        x = [rng.random() + 0.01 for _ in range(S)]
        return [v / sum(x) for v in x]

    hmms = [{"name": f"h{i}", "S": S, "M": 1, "pi": row(), "A": [row() for _ in range(S)], "c": [[1]] * S,
             "mu": [[[3 * (i % 4) + rng.gauss(0, 1)]] for _ in range(S)],
             "cov": [[[rng.uniform(0.5, 2)]] for _ in range(S)]} for i in range(K)]
    return json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 1, "omega": [1 / K] * K,
                       "hmms": hmms})


class Checkpoint(Case):
    def result(self, name):
        """A file of clusters without what tells how it was made."""
        found = json.loads(self.path(name).read_text())
        for level in [found, *found.get("levels", [])]:
            level.pop("provenance", None)
        return found

    def killed(self, args, size):
        """Runs the command until its checkpoint has more than so many bytes, then kills it."""
        p = subprocess.Popen([VHEM, *args], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kept = self.path(args[args.index("--checkpoint") + 1])
        begin = time.monotonic()
        while not (kept.exists() and kept.stat().st_size > size) and time.monotonic() - begin < 100:
            if p.poll() is not None:
                break
            time.sleep(0.005)
        self.assertIsNone(p.poll(), f"{args} ended before it was killed")
        p.send_signal(signal.SIGKILL)
        p.wait()
        return kept

    def check(self, command, plain, name):
        self.ok(*command, "-o", plain)
        again = [*command, "--checkpoint", "run.ckpt", "-o", name]
        for size in (len(HEAD), 20000):
            kept = self.killed(again, size)
            self.assertFalse(self.path(name).exists())
            self.assertEqual(kept.read_bytes()[:len(HEAD)], HEAD)
        self.ok(*again)
        self.assertEqual(self.result(name), self.result(plain))
        self.assertFalse(kept.exists(), "the checkpoint has served and should be gone")

    def test_killed(self):
        self.write("m.json", models(400))
        most = ["-q", "-t", "1", "--seed", "3", "-r", "3", "--search", "restarts", "--tau", "60", "--tol", "0"]
        self.check(["cluster", "m.json", "-k", "4", "--max-iter", "15", *most], "plain.json", "o.json")
        self.check(["tree", "m.json", "-k", "4,2", "--max-iter", "10", *most], "tree.json", "t.json")

    def test_choose(self):
        """The table has the same bytes after a kill; halves and other seeds are remembered, too."""
        self.write("m.json", models(150))
        command = ["choose", "m.json", "-k", "2..3", "--splits", "1", "--seeds", "1", "--path", "0", "-q", "-t", "1", "-r", "2",
                   "--search", "restarts", "--tau", "60", "--tol", "0", "--max-iter", "6"]
        self.ok(*command, "-o", "plain.tsv")
        again = [*command, "--checkpoint", "run.ckpt", "-o", "o.tsv"]
        kept = self.killed(again, 10000)
        self.ok(*again)
        self.assertEqual(self.path("o.tsv").read_text(), self.path("plain.tsv").read_text())
        self.assertFalse(kept.exists())

    def test_link(self):
        """What a symbolic link leads to is removed at the end, as a file would be; the link is somebody's."""
        self.write("m.json", models(20))
        self.path("link.ckpt").symlink_to("real.ckpt")
        for _ in range(2):
            self.ok("cluster", "m.json", "-k", "2", "-r", "2", "--checkpoint", "link.ckpt", "-o", "c.json")
            self.assertTrue(self.path("link.ckpt").is_symlink())
            self.assertFalse(self.path("real.ckpt").exists())

    def test_wrong(self):
        self.write("m.json", models(20, 2))
        self.write("other", "hello\n")
        self.fails(1, "other: not a checkpoint", "cluster", "m.json", "-k", 2, "--checkpoint", "other", "-o", "o.json")
        self.assertEqual(self.path("other").read_text(), "hello\n")
        self.fails(1, "nowhere/x: cannot open the checkpoint", "cluster", "m.json", "-k", 2, "--checkpoint", "nowhere/x",
                   "-o", "o.json")
        self.fails(2, "checkpoint", "cluster", "m.json", "-k", 2, "--method", "kl-sc", "--checkpoint", "c", "-o", "o.json")
        self.assertFalse(pathlib.Path(self.path("o.json")).exists())


if __name__ == "__main__":
    unittest.main()
