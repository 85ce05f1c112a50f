# SPDX-License-Identifier: BSD-3-Clause
"""vhem-mpi with 1 to 4 ranks: the same bytes as vhem, one sentence when a rank fails, and the checkpoint."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from support import Case  # noqa: E402
from test_checkpoint import models  # noqa: E402

MPI = os.environ.get("VHEM_MPI")
RUN = os.environ.get("VHEM_MPIRUN")
MOST = ["-q", "-t", "1", "--seed", "3", "-r", "1", "--search", "restarts", "--soft", "0", "--max-iter", "3"]


def launcher(n):
    about = subprocess.run([RUN, "--version"], capture_output=True, text=True).stdout
    return [RUN, *(["--oversubscribe", "--bind-to", "none"] if "Open" in about else []), "-n", str(n)]


class Job(Case):
    def start(self, n, *args):
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return subprocess.Popen([*launcher(n), MPI, *map(str, args)], cwd=self.dir, env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ranks(self, n, *args):
        p = self.start(n, *args)
        out, err = p.communicate(timeout=200)
        return p.returncode, out, err

    def pids(self, p):
        found = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True).stdout
        rows = [line.split() for line in found.splitlines()]
        below = {p.pid}
        for _ in range(3):  # ranks are children of the launcher, or of its helpers
            below |= {int(r[0]) for r in rows if int(r[1]) in below}
        return [int(r[0]) for r in rows if int(r[0]) in below and r[2] == MPI]


def minds(pid):
    """Is SIGINT caught or ignored by this process?"""
    try:
        rows = dict(line.split(":\t") for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        return bool((int(rows["SigCgt"], 16) | int(rows["SigIgn"], 16)) & 1 << signal.SIGINT - 1)
    except (OSError, ValueError):
        return False


class Together(Job):
    def test_together(self):
        """All ranks run the command: models, rows, and sums over sequences and textures are dealt out, and rank 0 writes the
        same bytes."""
        rng = random.Random(4)
        rows = [f"s{i},{'ab'[i % 2]},{(i % 2) * 4 + t % 5 // 3 * 3 + rng.gauss(0, 1):.4f},{rng.gauss(0, 1):.4f}"
                for i in range(30) for t in range(20)]
        self.write("d.csv", "id,label,x,y\n" + "\n".join(rows) + "\n")
        self.write("c.json", models(600, 2))
        self.write("e.json", models(520, 1))
        one = ["-q", "-t", "1", "--seed", "2"]
        jobs = [["fit", "d.csv", "-S", "2", "-r", "2"], ["fit", "d.csv", "-S", "2", "--prior", "none", "-r", "1"],
                ["fit", "d.csv", "-S", "1..2", "-r", "1"], ["fit", "d.csv", "--model", "dtm", "-S", "2"],
                ["compare", "c.json", "--kind", "kl", "--symmetric", "--tau", "2"],
                ["compare", "c.json", "--kind", "ppk", "--tau", "2"],
                ["compare", "d.json", "--symmetric", "--tau", "2", "-n", "20"],
                ["compare", "c.json", "e.json", "--kind", "kl", "--symmetric", "--tau", "2"],
                ["compare", "d.json", "f.json", "--kind", "kl-sampled", "--symmetric", "--tau", "2", "-n", "5"],
                ["fit", "g.csv", "-k", "3", "-S", "2", "-r", "2"],
                ["cluster", "g.csv", "-k", "2", "-S", "2", "-r", "2", "--method", "em-h3m", "--group", "g"],
                ["tree", "g.csv", "-k", "3,2", "-S", "2", "-r", "2", "--method", "em-h3m"],
                ["cluster", "t.json", "-k", "3", "-r", "4"], ["tree", "t.json", "-k", "4,2", "-r", "2"]]
        # Two chunks for each sequence and more, and a group of so many frames that it lies in several of them.
        rows = [f"s{i},g{min(i, 50) // 10},{min(i, 50) // 10 % 2 * 3 + t % 5 // 3 * 3 + rng.gauss(0, 1):.3f}"
                for i in range(250) for t in range(100)]
        self.write("g.csv", "id,g,x\n" + "\n".join(rows) + "\n")
        for k, job in enumerate(jobs):
            self.ok(*job, *one, "-o", "plain.json")
            if k == 0:
                self.path("d.json").write_bytes(self.path("plain.json").read_bytes())
            if k == 3:
                self.path("t.json").write_bytes(self.path("plain.json").read_bytes())
            if k == 1:
                self.path("f.json").write_bytes(self.path("plain.json").read_bytes())
            for n in (1, 2, 3, 4) if k in (0, 10, 12) else (2 + k % 3,):
                status, out, err = self.ranks(n, *job, *one, "-o", "ranks.json")
                self.assertEqual((status, out, err), (0, "", ""))
                self.assertEqual(self.path("ranks.json").read_bytes(), self.path("plain.json").read_bytes(),
                                 f"{job}, {n} ranks")

    def test_interrupt(self):
        """Ctrl-C while the data are read, or in the middle of the work: status 130 of all ranks, and one sentence."""
        rng = random.Random(1)
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 800},{rng.gauss(i // 7 % 3, 1):.3f}\n" for i in range(32000)))
        self.write("c.json", models(200, 2))
        jobs = [(["fit", "d.csv", "-S", "3", "-r", "3", "--tol", "0", "-o", "o.json"], (0, 0.5)),
                (["cluster", "d.csv", "-k", "2", "--method", "em-h3m", "-S", "3", "-r", "90", "--tol", "0", "--max-iter",
                  "9999", "-o", "o.json"], (0.5,)),
                (["compare", "c.json", "--kind", "kl-sampled", "-n", "20000", "-o", "o.csv"], (0, 0.5))]
        for job, after in jobs:
            for seconds in after:
                p = self.start(2, *job, "-t", "1")
                begin, ranks = time.monotonic(), []
                while time.monotonic() - begin < 60 and not (len(ranks) == 2 and all(map(minds, ranks))):
                    time.sleep(0.01)
                    ranks = self.pids(p)
                time.sleep(seconds)
                self.assertIsNone(p.poll(), f"{job} ended before it was interrupted")
                for pid in ranks:
                    os.kill(pid, signal.SIGINT)
                _, err = p.communicate(timeout=100)
                self.assertEqual(p.returncode, 130, err)
                self.assertIn("interrupted", err)
                self.assertNotIn("finished before", err)

    def test_unlike(self):
        """A rank that has another backend, does not see the data, or sees other data: one sentence, and no result."""
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        self.write("e.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(99)))
        fit = ["fit", "d.csv", "-S", "2", "-r", "1", "-q", "-o", "o.json"]
        for other, text in ((fit + ["--backend", "ref"], "but rank 0 is vhem"),
                            (["fit", "nowhere.csv", *fit[2:]], "rank 1: nowhere.csv: cannot read"),
                            (["fit", "e.csv", *fit[2:]], "do all see the same files?")):
            status, _, err = self.ranks(1, *fit, ":", "-n", "1", MPI, *other)
            self.assertNotEqual(status, 0)
            self.assertEqual(err.count(text), 1, err)
            self.assertFalse(self.path("o.json").exists())


class Ranks(Job):
    def setUp(self):
        super().setUp()
        self.write("m.json", models(4500, 2))
        self.ok("convert", "m.json", "--shards", 3, "-o", "shards", "-q")

    def test_same(self):
        self.ok("tree", "shards", "-k", "4,2", *MOST, "-o", "tree.json")
        for models_in in ("shards", "m.json"):
            self.ok("cluster", models_in, "-k", 3, *MOST, "-o", f"plain-{models_in}.json")
        for n in (1, 2, 3, 4):
            models_in = "m.json" if n == 2 else "shards"
            status, _, err = self.ranks(n, "cluster", models_in, "-k", 3, *MOST, "-o", f"{n}.json")
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(self.path(f"{n}.json").read_bytes(), self.path(f"plain-{models_in}.json").read_bytes(),
                             f"{n} ranks")
        status, _, err = self.ranks(3, "tree", "shards", "-k", "4,2", *MOST, "-o", "t.json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.path("t.json").read_bytes(), self.path("tree.json").read_bytes())

    def test_lacking(self):
        """HMMs that lack a column, of which only the last rank has any."""
        m = json.loads(models(4500, 2))
        m["d"] = 2
        for i, h in enumerate(m["hmms"]):
            for key in ("mu", "cov"):
                h[key] = [[[None if i > 4000 and i % 2 else x, x + 1] for (x,) in row] for row in h[key]]
        self.write("gaps.json", json.dumps(m))
        self.ok("convert", "gaps.json", "--shards", 3, "-o", "gaps", "-q")
        self.ok("cluster", "gaps", "-k", 3, *MOST, "-o", "plain.json")
        status, _, err = self.ranks(3, "cluster", "gaps", "-k", 3, *MOST, "-o", "o.json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.path("o.json").read_bytes(), self.path("plain.json").read_bytes())

    def test_damaged(self):
        """A chunk that only the last rank reads: its sentence, and no result."""
        shard = sorted(self.path("shards").glob("*.h5"))[-1]
        data = bytearray(shard.read_bytes())
        for k in range(len(data) // 3, len(data) - 64, 64):
            data[k] ^= 1
        shard.write_bytes(data)
        status, _, err = self.ranks(3, "cluster", "shards", "-k", 3, *MOST, "-o", "o.json")
        self.assertEqual(status, 1, err)
        self.assertIn(shard.name, err)
        self.assertFalse(self.path("o.json").exists())

    def test_wrong(self):
        for args, text in ((["info", "m.json"], "vhem-mpi has cluster, compare, fit and tree"),
                           (["fit", "-", "-o", "o.json"], "standard input cannot be read by all ranks"),
                           (["fit", "m.json"], "m.json"),
                           (["fit", "d.csv", "--store", "s", "-o", "o.json"], "--store is work for one process"),
                           (["cluster", "-", "-k", "2"], "standard input cannot be read by all ranks"),
                           (["cluster", "nowhere.json", "-k", "2"], "nowhere.json")):
            status, _, err = self.ranks(2, *args)
            self.assertNotEqual(status, 0)
            self.assertEqual(err.count(text), 1, err)

    def test_killed(self):
        """A rank is killed: the job ends, and the same command goes on from its checkpoint."""
        slow = ["cluster", "shards", "-k", 3, "-q", "-t", "1", "-r", "1", "--search", "restarts", "--soft", "0", "--tau",
                "400", "--tol", "0", "--max-iter", "25"]
        self.ok(*slow, "-o", "plain.json")
        p = self.start(2, *slow, "--checkpoint", "run.ckpt", "-o", "o.json")
        kept, begin = self.path("run.ckpt"), time.monotonic()
        while not (kept.exists() and kept.stat().st_size > 500) and time.monotonic() - begin < 100 and p.poll() is None:
            time.sleep(0.005)
        self.assertIsNone(p.poll(), "it ended before it was killed")
        ranks = self.pids(p)
        self.assertEqual(len(ranks), 2, ranks)
        os.kill(max(ranks), signal.SIGKILL)
        p.communicate(timeout=60)
        self.assertNotEqual(p.returncode, 0)
        self.assertFalse(self.path("o.json").exists())
        self.assertTrue(kept.exists())
        status, _, err = self.ranks(2, *slow, "--checkpoint", "run.ckpt", "-o", "o.json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.path("o.json").read_bytes(), self.path("plain.json").read_bytes())
        self.assertFalse(kept.exists())


if __name__ == "__main__":
    if not MPI:
        print("vhem-mpi was not built: there is no MPI ('scripts/setup mpi' installs it on Debian)")
        sys.exit(77)
    unittest.main()
