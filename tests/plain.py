# SPDX-License-Identifier: BSD-3-Clause
"""vhem built without HDF5 and expat: what it does, and what it says of the rest.  plain.py VHEM"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

VHEM = pathlib.Path(sys.argv.pop(1)).resolve()


class Plain(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.done("demo", "motions")
        pathlib.Path(self.folder.name, "motions.csv").rename(pathlib.Path(self.folder.name, "d.csv"))

    def vhem(self, *args):
        return subprocess.run([VHEM, *args], cwd=self.folder.name, capture_output=True, text=True)

    def done(self, *args):
        run = self.vhem(*args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_version_says_what_is_missing(self):
        self.assertIn("built without: HDF5, XLSX", self.done("--version"))

    def test_fits_clusters_and_reports(self):
        self.done("fit", "d.csv", "--restarts", "2", "--prior", "none", "-o", "m.json")
        self.done("cluster", "m.json", "-k", "6", "--search", "fast", "-o", "c.json")
        self.done("cluster", "m.json", "-k", "6", "--method", "kl-sc", "-o", "s.json")
        self.done("report", "c.json", "-o", "r.html")
        self.done("convert", "d.csv", "-o", "d.npz")

    def test_hdf5_is_one_sentence(self):
        path = pathlib.Path(self.folder.name) / "x.h5"
        path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
        for args in (("info", "x.h5"), ("convert", "d.csv", "-o", "new.h5"), ("fit", "d.csv", "-o", "new.h5"),
                     ("cluster", "x.h5", "-k", "2", "-o", "c.json")):
            run = self.vhem(*args)
            self.assertEqual(run.returncode, 1, args)
            self.assertIn("built without HDF5", run.stderr, args)
            self.assertEqual(len([line for line in run.stderr.splitlines() if "HDF5" in line]), 1, run.stderr)
        self.assertFalse((path.parent / "new.h5").exists())
        self.assertIn("read it with h5py in Python, or save it as .npz or .csv", self.vhem("fit", "x.h5", "-o", "m.json").stderr)

    def test_workbooks_are_one_sentence(self):
        (pathlib.Path(self.folder.name) / "x.xlsx").write_bytes(b"PK\3\4" + bytes(26) + b"xl/workbook.xml" + bytes(50))
        run = self.vhem("info", "x.xlsx")
        self.assertEqual(run.returncode, 1)
        self.assertIn("built without expat, which reads it; save the sheet as CSV", run.stderr)

    def test_program_without_shared_libraries(self):
        """pkg-config --static names all that a program linked with -static needs."""
        folder = pathlib.Path(self.folder.name)
        subprocess.run(["cmake", "--install", VHEM.parent, "--prefix", folder / "p"], check=True, capture_output=True)
        [pc] = folder.glob("p/lib*/**/vhem.pc")
        flags = subprocess.run(["pkg-config", "--static", "--cflags", "--libs", "vhem"], check=True, capture_output=True,
                               text=True, env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}).stdout.split()
        example = pathlib.Path(__file__).resolve().parents[1] / "examples/c/fit.c"
        done = subprocess.run([os.environ.get("CC", "cc"), "-static", example, "-o", "fit", *flags], cwd=folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run(["./fit", "d.csv", "m.json"], cwd=folder, check=True, capture_output=True)
        self.assertEqual(self.done("info", "m.json").count("60 HMMs"), 1)


if __name__ == "__main__":
    unittest.main()
