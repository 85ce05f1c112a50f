# SPDX-License-Identifier: BSD-3-Clause
"""vhem-mpi with 1 to 4 ranks: the same bytes as vhem, one sentence when a rank fails, and the checkpoint."""
import json
import os
import pathlib
import platform
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from support import HANGS, Case  # noqa: E402
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
        p = subprocess.Popen([*launcher(n), MPI, *map(str, args)], cwd=self.dir, env=env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.terminate)  # a test that failed leaves nobody at work
        return p

    def ranks(self, n, *args):
        p = self.start(n, *args)
        out, err = p.communicate(timeout=HANGS)
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
                ["cluster", "d.csv"], ["tree", "g.csv", "-k", "3,2", "-S", "2", "--group", "g"],
                ["cluster", "d.csv", "-k", "2", "--method", "vhem", "-S", "2", "-r", "2", "--models", "f.h5"],
                ["fit", "g.csv", "--model", "dtm", "-k", "2", "-S", "1", "-r", "2", "--max-iter", "5"],
                ["fit", "g.csv", "--model", "dtm", "-k", "1", "-S", "1", "-r", "1", "--max-iter", "3", "--group", "g"],
                ["cluster", "t.json", "-k", "3", "-r", "4"], ["tree", "t.json", "-k", "4,2", "-r", "2"]]
        # Two chunks for each sequence and more, and a group of so many frames that it lies in several of them.
        rows = [f"s{i},g{min(i, 50) // 10},{min(i, 50) // 10 % 2 * 3 + t % 5 // 3 * 3 + rng.gauss(0, 1):.3f}"
                for i in range(250) for t in range(100)]
        self.write("g.csv", "id,g,x\n" + "\n".join(rows) + "\n")
        for k, job in enumerate(jobs):
            end = "tsv" if job[0] == "compare" else "json"
            plain, dealt = f"plain.{end}", f"ranks.{end}"
            said = self.ok(*job, *one, "-o", plain).err  # warnings, which rank 0 repeats once
            if k == 0:
                self.path("d.json").write_bytes(self.path("plain.json").read_bytes())
            if k == 3:
                self.path("t.json").write_bytes(self.path("plain.json").read_bytes())
            if k == 1:
                self.path("f.json").write_bytes(self.path("plain.json").read_bytes())
            for n in (1, 2, 3, 4) if k in (0, 10, 12, 14) else (2 + k % 3,):
                status, out, err = self.ranks(n, *job, *one, "-o", dealt)
                self.assertEqual((status, out, err), (0, "", said))
                self.assertEqual(self.path(dealt).read_bytes(), self.path(plain).read_bytes(), f"{job}, {n} ranks")

    def test_interrupt(self):
        """Ctrl-C while the data are read, or in the middle of the work: status 130 of all ranks, and one sentence."""
        rng = random.Random(1)
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 800},{rng.gauss(i // 7 % 3, 1):.3f}\n" for i in range(32000)))
        self.write("c.json", models(200, 2))
        jobs = [(["fit", "d.csv", "-S", "3", "-r", "40", "--tol", "0", "-o", "o.json"], (0, 0.5)),
                (["cluster", "d.csv", "-k", "2", "--method", "em-h3m", "-S", "3", "-r", "90", "--tol", "0", "--max-iter",
                  "9999", "-o", "o.json"], (0.5,)),
                (["fit", "d.csv", "--model", "dtm", "-k", "2", "-S", "1", "-r", "90", "--tol", "0", "--max-iter", "9999", "-o",
                  "o.json"], (0, 0.5)),
                # a strip of it takes hours
                (["compare", "c.json", "--kind", "kl-sampled", "-n", "9000000", "-o", "o.csv"], (0, 0.5))]
        for job, after in jobs:
            for seconds in after:
                p = self.start(2, *job, "-t", "1")
                begin, ranks, ready = time.monotonic(), [], set()
                while time.monotonic() - begin < 60 and len(ready) < 2:
                    time.sleep(0.01)
                    ranks = self.pids(p)
                    for pid in set(filter(minds, ranks)) - ready:
                        ready.add(pid)
                        if seconds == 0:  # rank 1 hears of it before it has begun
                            os.kill(pid, signal.SIGINT)
                time.sleep(seconds)
                self.assertTrue(seconds == 0 or p.poll() is None, f"{job} ended before it was interrupted")
                for pid in ranks if seconds > 0 else ():
                    os.kill(pid, signal.SIGINT)
                _, err = p.communicate(timeout=HANGS)
                self.assertEqual(p.returncode, 130, err)
                self.assertIn("interrupted", err)
                self.assertNotIn("finished before", err)

    def test_unlike(self):
        """A rank that has other options or another backend, does not see the data, or sees other data: one sentence, and no
        result."""
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        self.write("e.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(99)))
        self.write("f.csv", "id,x\n" + "".join(f"s{i // 9},{i % 8}\n" for i in range(90)))
        fit = ["fit", "d.csv", "-S", "2", "-r", "1", "-q", "-o", "o.json"]
        for other, text in ((fit + ["--backend", "ref"], "rank 1: --backend is ref here, but rank 0 has"),
                            (fit + ["--seed", "4"], "rank 1: this rank was started with 'fit --states 2 --restarts 1 --seed 4', but rank 0 "
                             "with 'fit --states 2 --restarts 1'"),
                            (["compare", "d.csv"], "rank 1: this rank was started with 'compare', but rank 0 with 'fit --states 2"),
                            (["fit", "f.csv", *fit[2:]], "ranks 1 and 0 are both at step 1 of fit, but have different"),
                            (["fit", "nowhere.csv", *fit[2:]], "rank 1: nowhere.csv: cannot read"),
                            (["fit", "e.csv", *fit[2:]], "do all see the same files?")):
            status, _, err = self.ranks(1, *fit, ":", "-n", "1", MPI, *other)
            self.assertNotEqual(status, 0)
            self.assertEqual(err.count(text), 1, err)
            self.assertFalse(self.path("o.json").exists())

    def test_unlike_kernels(self):
        """Ranks whose OpenBLAS has chosen other kernels have other last bits."""
        if platform.machine() != "x86_64":
            self.skipTest("other processors have other kernels")
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        fit = ["fit", "d.csv", "-S", "2", "-r", "1", "-q", "-o", "o.json"]
        status, _, err = self.ranks(1, *fit, ":", "-n", "1", "env", "OPENBLAS_CORETYPE=Nehalem", MPI, *fit)
        status2, _, err2 = self.ranks(1, *fit, ":", "-n", "1", "env", "OPENBLAS_CORETYPE=Haswell", MPI, *fit)
        self.assertTrue(status or status2)  # one of them is not ours
        self.assertIn("have different options, backends, kernels of BLAS, data or models", err + err2)

    def test_unlike_words(self):
        """The same frames, but other groups, labels, names or columns."""
        rows = [[f"s{i // 9}", "gh"[i // 45], "pq"[i // 9 % 2], str(i % 7)] for i in range(90)]
        head = ["id", "grp", "kind", "x"]
        names = ["--id", "id", "--label", "kind"]

        def table(name, head, change=lambda i, row: row):
            lines = [head] + [change(i, list(row)) for i, row in enumerate(rows)]
            self.write(name, "".join(",".join(line) + "\n" for line in lines))

        def other(k, text):
            return lambda i, row: row[:k] + [text if i // 9 == 3 else row[k]] + row[k + 1:]

        table("d.csv", head)
        table("name.csv", head, other(0, "t"))
        table("group.csv", head, other(1, "h"))
        table("label.csv", head, other(2, "p"))
        table("column.csv", head[:3] + ["y"])
        for name in ("name", "group", "label", "column"):
            fit = [*names, "--group", "grp", "-S", "2", "-r", "1", "-q", "-o", "o.json"]
            status, _, err = self.ranks(1, "fit", "d.csv", *fit, ":", "-n", "1", MPI, "fit", f"{name}.csv", *fit)
            self.assertNotEqual(status, 0, name)
            self.assertEqual(err.count("ranks 1 and 0 are both at step 1 of fit, but have different"), 1, err)
            self.assertFalse(self.path("o.json").exists(), name)

    def test_store(self):
        """One rank keeps a store as vhem does."""
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        fit = ["fit", "d.csv", "-S", "2", "-r", "1", "-q", "-t", "1"]
        self.ok(*fit, "--store", "plain.store", "-o", "plain.json")
        for name in ("new", "again"):
            status, _, err = self.ranks(1, *fit, "--store", "ranks.store", "-o", f"{name}.json")
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(self.path(f"{name}.json").read_bytes(), self.path("plain.json").read_bytes())
        self.assertEqual(self.path("ranks.store").read_bytes(), self.path("plain.store").read_bytes())

    def test_help(self):
        """Rank 0 alone prints it, and it lists what ranks share."""
        for args, status in (([], 2), (["--help"], 0)):
            found, out, err = self.ranks(3, *args)
            text = out + err
            self.assertEqual((found, text.count("Usage:")), (status, 1), text)
            self.assertIn("mpirun -n N vhem-mpi COMMAND", text)
            self.assertIn("All other commands run in one process: use vhem COMMAND", text)
            self.assertNotIn("annotate", text)

    def test_warnings(self):
        """Those of vhem, once each, whoever fits the models."""
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 2},{i % 7}\n" for i in range(36)))
        fit = ["fit", "d.csv", "-S", "3", "-r", "1", "--prior", "none", "-t", "1", "-o", "o.json"]
        plain = sorted(line for line in self.ok(*fit).err.splitlines() if "warning" in line)
        self.assertEqual(len(plain), 1)
        _, _, err = self.ranks(3, *fit)
        self.assertEqual(sorted(line for line in err.splitlines() if "warning" in line), plain)

    def test_backend(self):
        """All ranks take the backend of rank 0."""
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        fit = ["fit", "d.csv", "-S", "2", "-r", "1", "-q", "-o", "o.json"]
        self.ok(*fit[:-1], "plain.json", "--backend", "ref")
        status, _, err = self.ranks(1, *fit, "--backend", "ref", ":", "-n", "1", MPI, *fit)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.path("o.json").read_bytes(), self.path("plain.json").read_bytes())


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
        for args, text in ((["info", "m.json"], "'info' does not run on many ranks: use vhem info; 'vhem-mpi --help' lists the "
                            "commands that do"),
                           (["fit", "-", "-o", "o.json"], "standard input cannot be read by all ranks"),
                           (["fit", "m.json"], "m.json"),
                           (["fit", "d.csv", "--store", "s", "-o", "o.json"], "only one process can write a store, but there are 2 ranks"),
                           (["cluster", "-", "-k", "2"], "standard input cannot be read by all ranks"),
                           (["cluster", "nowhere.json", "-k", "2"], "nowhere.json")):
            status, _, err = self.ranks(2, *args)
            self.assertNotEqual(status, 0)
            self.assertEqual(err.count(text), 1, err)
            self.assertNotIn("Try 'vhem ", err)

    def test_stopped(self):
        """SIGUSR1 to the launcher: it passes it on, all ranks stop, and the best so far is saved."""
        p = self.start(2, "cluster", "shards", "-k", 3, "-t", "1", "-r", "1", "--search", "restarts", "--soft", "0", "--tau",
                       "400", "--tol", "0", "--max-iter", "5000", "--checkpoint", "run.ckpt", "-o", "o.json")
        kept, begin = self.path("run.ckpt"), time.monotonic()
        while not (kept.exists() and kept.stat().st_size > 500) and time.monotonic() - begin < 100 and p.poll() is None:
            time.sleep(0.005)
        self.assertIsNone(p.poll(), "it ended before it was stopped")
        p.send_signal(signal.SIGUSR1)
        _, err = p.communicate(timeout=HANGS)
        self.assertEqual(p.returncode, 130, err)
        self.assertTrue(json.loads(self.path("o.json").read_text())["provenance"]["interrupted"])

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
        p.communicate(timeout=HANGS)
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
