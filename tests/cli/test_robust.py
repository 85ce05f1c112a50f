# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong outside: full disks, closed pipes, signals, unwritable places."""
import json
import os
import signal
import subprocess
import time
import unittest

from support import HANGS, VHEM, Case, model, two_level

SLOW = ["--states", "12", "--mix", "3", "--restarts", "50", "--max-iter", "100000", "--tol", "0"]


class Places(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", two_level())
        self.write("m.json", model())
        self.write("one.csv", "id,x\na,1\na,2\n")

    def test_unwritable_output_is_said_before_the_work(self):
        begin = time.monotonic()
        self.fails(1, "no/such/m.json: cannot write: No such file or directory", "fit", "d.csv", *SLOW, "-o",
                   "no/such/m.json")
        self.path("folder.json").mkdir()
        self.fails(1, "folder.json: cannot write: it is a directory", "fit", "d.csv", *SLOW, "-o", "folder.json")
        self.assertLess(time.monotonic() - begin, 20)
        self.fails(1, "no/such/s.tsv: cannot write", "score", "m.json", "one.csv", "-o", "no/such/s.tsv")
        self.fails(1, "no/such/s.csv: cannot write", "sample", "m.json", "-o", "no/such/s.csv")
        self.fails(1, "no/such/m.h5: cannot write", "convert", "m.json", "no/such/m.h5")

    def test_damaged_hdf5_is_one_sentence(self):
        """The HDF5 library, which is not whole any more after such a file, says nothing of its own."""
        self.ok("convert", "m.json", "m.h5", "-q")
        whole = self.path("m.h5").read_bytes()
        for at in (60, 100, len(whole) // 4, len(whole) // 2):
            for name, damaged in (("short.h5", whole[:at]), ("flipped.h5", whole[:at] + bytes(64) + whole[at + 64:])):
                self.path(name).write_bytes(damaged)
                self.fails(1, name, "info", name)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_read_only(self):
        self.path("old.json").write_text("old")
        self.path("old.json").chmod(0o444)
        self.fails(1, "old.json: cannot write: Permission denied", "fit", "d.csv", "-o", "old.json")
        self.assertEqual(self.path("old.json").read_text(), "old")

    def test_full_disk(self):
        self.path("full.csv").symlink_to("/dev/full")
        for args in (["fit", "d.csv", "-S", "2", "-o", "/dev/full"], ["score", "m.json", "one.csv", "-o", "/dev/full"],
                     ["decode", "m.json", "one.csv", "-o", "/dev/full"], ["sample", "m.json", "-o", "full.csv"],
                     ["convert", "m.json", "/dev/full"], ["convert", "d.csv", "full.csv"]):
            self.fails(1, "No space left on device", *args)

    def test_full_standard_output(self):
        for args in (["--help"], ["fit", "--help"], ["--version"], ["info", "m.json"], ["info", "d.csv", "--json"],
                     ["fit", "d.csv", "-S", "2"], ["score", "m.json", "one.csv"], ["decode", "m.json", "one.csv"],
                     ["sample", "m.json"], ["convert", "m.json", "-"],
                     ["fit", "d.csv", "-S", "2", "-o", "f.json", "--json", "--quiet"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([VHEM, *args], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("No space left on device", done.stderr, args)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_closed_pipe(self):
        for how in ("", "trap '' PIPE; "):
            script = how + 'set -o pipefail; "$0" sample m.json -n 2000 -q | head -n 1'
            done = subprocess.run(["bash", "-c", script, VHEM], cwd=self.dir, capture_output=True, text=True,
                                  timeout=HANGS)
            self.assertIn(done.returncode, (1, 141), done.stderr)
            self.assertEqual(len(done.stdout.splitlines()), 1)
            self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_symbolic_link_stays_a_link(self):
        self.path("real.tsv").write_text("old")
        self.path("link.tsv").symlink_to("real.tsv")
        self.ok("score", "m.json", "one.csv", "-o", "link.tsv")
        self.assertTrue(self.path("link.tsv").is_symlink())
        self.assertIn("sequence", self.path("real.tsv").read_text())

    def test_symbolic_link_to_nothing_stays_a_link(self):
        os.mkdir(self.path("there"))
        self.path("there/next.tsv").symlink_to("real.tsv")
        self.path("link.tsv").symlink_to("there/next.tsv")
        for name in ("x.tsv", "y.tsv"):
            self.path(name).symlink_to("y.tsv" if name == "x.tsv" else "x.tsv")
        for _ in range(2):  # then the file is there
            self.ok("score", "m.json", "one.csv", "-o", "link.tsv")
            self.assertTrue(self.path("link.tsv").is_symlink() and self.path("there/next.tsv").is_symlink())
            self.assertIn("sequence", self.path("there/real.tsv").read_text())
        self.fails(1, "x.tsv: cannot write: Too many levels of symbolic links", "score", "m.json", "one.csv", "-o", "x.tsv")
        self.assertTrue(self.path("x.tsv").is_symlink())

    def test_overwrites_whole(self):
        self.path("f.json").write_text("x" * 1000000)
        self.ok("fit", "d.csv", "-S", "2", "-o", "f.json")
        json.loads(self.path("f.json").read_text())

    def test_mode_of_a_new_file(self):
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        self.ok("score", "m.json", "one.csv", "-o", "s.tsv")
        self.ok("fit", "d.csv", "-S", "1", "-o", "f.json")
        for name in ("s.tsv", "f.json"):
            self.assertEqual(self.path(name).stat().st_mode & 0o777, 0o640, name)


class Signals(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", two_level(6, 300))

    def start(self, *args):
        return subprocess.Popen([VHEM, "fit", "d.csv", *SLOW, *args], cwd=self.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, p, number, wait=1.5):
        time.sleep(wait)
        self.assertIsNone(p.poll(), "the fit was not long enough")
        p.send_signal(number)
        out, err = p.communicate(timeout=HANGS)
        return out, err

    def test_interrupt_saves_the_best_so_far(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            p = self.start("-o", "m.json", "--prior", "none", "--threads", "2")
            out, err = self.end(p, number)
            self.assertEqual(p.returncode, 130, err)
            self.assertIn("vhem fit: interrupted; the best so far, ", err)
            self.assertIn("is saved in m.json", err)
            m = json.loads(self.path("m.json").read_text())
            self.assertGreaterEqual(len(m["hmms"]), 1)
            self.assertIs(m["provenance"]["interrupted"], True)
            self.ok("score", "m.json", "d.csv", "-o", "s.tsv")
            self.leftovers("d.csv", "m.json", "s.tsv")
            for name in ("m.json", "s.tsv"):
                self.path(name).unlink()

    def test_interrupt_while_the_prior_is_learnt(self):
        """The first fits serve to learn the prior and are not what was asked for."""
        p = self.start("-o", "m.json", "--threads", "2")
        out, err = self.end(p, signal.SIGINT)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("vhem fit: interrupted before any model was finished; nothing was written", err)
        self.leftovers("d.csv")

    def test_interrupt_with_report(self):
        p = self.start("-o", "m.json", "--prior", "none", "--json", "--quiet")
        out, err = self.end(p, signal.SIGINT)
        self.assertEqual(p.returncode, 130, err)
        report = json.loads(out)
        self.assertIs(report["interrupted"], True)
        self.assertEqual(len(report["models"]), len(json.loads(self.path("m.json").read_text())["hmms"]))

    def test_second_interrupt_ends_at_once(self):
        p = self.start("-o", "m.json")
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=HANGS)
        self.assertEqual(p.returncode, 130)

    def test_killed_while_writing_leaves_the_old_file(self):
        """The output is large and writing it takes most of the time, so that most kills fall into that."""
        self.write("m.json", model())
        self.path("out.csv").write_text("old\n")
        command = [VHEM, "sample", "m.json", "-n", "2000", "-T", "300", "-o", "out.csv", "-q"]
        begin = time.monotonic()
        subprocess.run(command, cwd=self.dir, check=True)
        whole = self.path("out.csv").read_bytes()
        seconds = time.monotonic() - begin
        killed = 0
        for k in range(10):
            self.path("out.csv").write_text("old\n")
            p = subprocess.Popen(command, cwd=self.dir)
            time.sleep(seconds * (k + 0.5) / 10)
            p.kill()
            killed += p.wait() != 0
            self.assertIn(self.path("out.csv").read_bytes(), (b"old\n", whole))
            self.leftovers("d.csv", "m.json", "out.csv")
        self.assertGreater(killed, 3)

    def test_what_a_killed_run_left_is_removed(self):
        """HDF5 needs a name to write to; the next run with the same output finds the file of the killed one."""
        self.write("m.json", model())
        self.write("d.csv", two_level())
        self.ok("convert", "d.csv", "out.h5")
        self.path("out.h5.vhem-tmp-0").write_text("half")
        self.path("out.csv.vhem-tmp-1").write_text("half")
        self.ok("convert", "d.csv", "out.h5")
        self.ok("convert", "d.csv", "out.csv")
        self.leftovers("m.json", "d.csv", "out.h5", "out.csv")


class Terminal(Case):
    def test_bar_on_a_terminal_only(self):
        import pty
        self.write("d.csv", two_level(12, 400))
        args = [VHEM, "fit", "d.csv", "-S", "8", "--restarts", "20", "--max-iter", "300", "--tol", "0", "-o", "m.json"]
        try:
            master, slave = pty.openpty()
        except OSError as e:
            self.skipTest(f"no terminal to be had: {e}")
        p = subprocess.Popen(args, cwd=self.dir, stderr=slave, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        seen = b""
        try:
            while chunk := os.read(master, 65536):
                seen += chunk
        except OSError:                  # how a terminal says that the other end is gone
            pass
        os.close(master)
        self.assertEqual(p.wait(timeout=HANGS), 0)
        self.assertRegex(seen.decode(), r"\[#*-+\] +\d+%  (\d+:\d\d left)?")
        quiet = subprocess.run(args, cwd=self.dir, capture_output=True, text=True)
        self.assertNotIn("%", quiet.stderr)
        self.assertNotIn("\r", quiet.stderr)


if __name__ == "__main__":
    unittest.main()
