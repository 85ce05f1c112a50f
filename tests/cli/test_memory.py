# SPDX-License-Identifier: BSD-3-Clause
"""--memory: the same results with the frames in memory and in a file, and sentences where there is no room."""
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from support import HANGS, VHEM, Case, two_level


def low_file_size():
    """Files of 64 KB at most: a full disk for everything larger."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


class Memory(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", two_level(12, 60))

    def both(self, out, *args):
        """The bytes that the command writes into out, with and without a limit."""
        found = []
        for memory in ("0", "1K"):
            self.path(out).unlink(missing_ok=True)
            self.ok(*args, "-o", out, "--memory", memory, "--seed", 5)
            found.append(self.path(out).read_bytes())
        self.assertEqual(*found)
        return found[0]

    def test_same_bytes(self):
        few = ["--states", 2, "--restarts", 2]
        self.both("m.json", "fit", "d.csv", *few)
        self.both("g.json", "fit", "d.csv", "--group", "label", *few)
        self.both("x.json", "fit", "d.csv", "--mixture", 2, *few)
        self.both("t.json", "fit", "d.csv", "--model", "dtm", "--states", 2)
        train = ["classify", "train", "d.csv", "--no-store", "-k", 2, *few]
        self.both("c.json", *train)
        self.both("e.json", *train, "--estimator", "em-h3m")
        self.both("h.json", *train, "--chunk", 3, "--mixture", 2)
        self.both("p.tsv", "classify", "predict", "c.json", "d.csv")
        self.both("f.tsv", "classify", "cross", "d.csv", "--folds", 3, "-k", 2, *few)
        self.both("s.tsv", "score", "m.json", "d.csv")
        self.both("k.json", "cluster", "d.csv", "--method", "em-h3m", "-k", 2, *few)
        self.ok("cluster", "m.json", "-k", 2, "-o", "v.json", "-q")
        self.both("a.tsv", "assign", "v.json", "d.csv")

    def test_same_store(self):
        """A run with a limit takes up what one without has fitted."""
        for memory in ("0", "1K"):
            r = self.ok("fit", "d.csv", "--states", 2, "--store", "s", "-o", f"{memory}.json", "--memory", memory)
        self.assertEqual(self.path("0.json").read_bytes(), self.path("1K.json").read_bytes())
        lines = self.path("s").read_text().splitlines()
        self.assertEqual(len(lines), 1 + 1 + 12, r.err)  # a head, the prior, the models

    def test_converted(self):
        for name in ("a.csv", "a.tsv", "a.npy", "a.npz", "a.h5", "a.ts"):
            for memory in ("0", "512"):
                self.ok("convert", "d.csv", f"{memory}-{name}", "--memory", memory)
            self.assertEqual(self.path(f"0-{name}").read_bytes(), self.path(f"512-{name}").read_bytes(), name)

    def test_sizes(self):
        for size in ("0", "1", "100k", "64M", "2G", "1T"):
            self.ok("info", "d.csv", "--memory", size)
        for size in ("", "G", "1.5G", "-1", "2GB", "1 G", "99999999999T"):
            self.fails(2, f"--memory needs bytes or a size such as 64K, 512M or 2G, not '{size}'", "info", "d.csv", "--memory", size)
        self.assertIn("(default: 1G)", " ".join(self.ok("fit", "--help-all").out.split()))

    def test_no_room(self):
        self.fails(1, "d.csv: the frames need more memory than is allowed, and /no/such/folder cannot hold them: No "
                   "such file or directory; name another folder in TMPDIR, or allow more memory",
                   "info", "d.csv", "--memory", "1K", env={"TMPDIR": "/no/such/folder"})
        self.write("long.csv", two_level(40, 300))
        done = subprocess.run([VHEM, "fit", "long.csv", "--states", "2", "-o", "m.json", "--memory", "1K"],
                              cwd=self.dir, capture_output=True, text=True, preexec_fn=low_file_size, timeout=HANGS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot hold them: File too large", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.leftovers("d.csv", "long.csv")

    def test_nothing_stays(self):
        """A killed run leaves nothing in the folder of its frames."""
        own = self.path("tmp")
        own.mkdir()
        child = subprocess.Popen([VHEM, "fit", "d.csv", "--states", "5", "--restarts", "10000", "-o", "m.json",
                                  "--memory", "1K"], cwd=self.dir, env={**os.environ, "TMPDIR": str(own)},
                                 stderr=subprocess.DEVNULL)
        maps = pathlib.Path(f"/proc/{child.pid}/maps")
        try:
            while str(own) not in maps.read_text():
                self.assertIsNone(child.poll())
        finally:
            child.kill()
            child.wait()
        self.assertEqual(list(own.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
