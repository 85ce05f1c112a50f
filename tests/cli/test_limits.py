# SPDX-License-Identifier: BSD-3-Clause
"""Small files that want all memory, under limits; limits of the command itself."""
import io
import json
import resource
import struct
import subprocess
import unittest
import zipfile
import zlib

from support import HANGS, VHEM, Case, model, two_level

LIMIT = 1 << 30                                          # of the address space, in bytes, on top of what is loaded


def npy(descr, count, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}"
    head += " " * (118 - len(head) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def overlapping(n, size):
    """An archive whose n members share the same packed bytes."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = npy("<f8", size, bytes(8 * size))
    packed = pack.compress(raw) + pack.flush()
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, zlib.crc32(raw), len(packed), len(raw), 5, 0)
    body = local + b"a.npy" + packed
    entries = b""
    for k in range(n):
        name = f"a{k}.npy".encode()
        entries += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, zlib.crc32(raw), len(packed), len(raw),
                               len(name), 0, 0, 0, 0, 0, 0) + name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, n, n, len(entries), len(body), 0)
    return body + entries + end


def texts(count):
    """An archive with so many names, one sequence."""
    buf = io.BytesIO()
    with zipfile.ZipFile(buf, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("X.npy", npy("<f8", 4, bytes(32)))
        z.writestr("lengths.npy", npy("<i8", 1, struct.pack("<q", 4)))
        z.writestr("names.npy", npy("|S1", count, bytes(count)))
    return buf.getvalue()


class Bombs(Case):
    def limited(self, *args):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (4 * LIMIT, 4 * LIMIT))
        return subprocess.run([VHEM, *args], cwd=self.dir, capture_output=True, text=True, timeout=HANGS,
                              preexec_fn=limit)

    def refused(self, text, name, content):
        self.path(name).write_bytes(content)
        for command in (["info"], ["fit", "-S", "1"], ["convert"]):
            args = [command[0], name, *command[1:], *(["o.csv"] if command[0] == "convert" else [])]
            r = self.limited(*args, *(["-o", "o.json"] if command[0] == "fit" else []))
            self.assertEqual(r.returncode, 1, r)
            self.assertIn(text, r.stderr)
            self.leftovers(name)

    def test_overlapping_members(self):
        self.refused("overlap", "bomb.npz", overlapping(200, 200000))

    def test_many_texts(self):
        self.refused("texts of 1 bytes need more memory than is allowed", "bomb.npz", texts(50_000_000))

    def test_texts_that_fit(self):
        self.path("few.npz").write_bytes(texts(1))
        self.ok("info", "few.npz")

    def test_workbooks(self):
        """The parser of XML holds open elements, and the whole of a tag."""
        for sheet, why in ((b"<a>" * 7_000_000, "more than 64 elements lie within each other"),
                           (b"<!--" + bytes(60_000_000).replace(b"\0", b" "), "a tag or a comment has more than"),
                           (b'<row r="' + b"1" * 60_000_000, "a tag or a comment has more than")):
            buf = io.BytesIO()
            with zipfile.ZipFile(buf, "w", zipfile.ZIP_DEFLATED) as z:
                z.writestr("xl/workbook.xml", '<workbook><sheets><sheet name="a" id="r"/></sheets></workbook>')
                z.writestr("xl/_rels/workbook.xml.rels", '<r><Relationship Id="r" Target="s.xml"/></r>')
                z.writestr("xl/s.xml", b"<worksheet>" + sheet)
            self.refused(why, "bomb.xlsx", buf.getvalue())

    def test_columns(self):
        """Each column has a name and a place: a header alone must not take all memory."""
        self.path("bomb.csv").write_text("id," + ",".join(["x"] * 400000) + "\n")
        self.fails(1, "line 1 has more than 250000 columns", "info", "bomb.csv")

    def test_claims(self):
        """Sizes that a header claims and the file does not hold."""
        self.refused("bytes follow the header", "bomb.npy", npy("<f8", 1 << 40, bytes(64)))
        self.path("bomb.npy").write_text('{"a":' * 100000)
        self.fails(1, "not valid JSON", "info", "bomb.npy")


class MaxMemory(Case):
    def test_told(self):
        self.write("m.json", model())
        self.fails(1, "out of memory", "sample", "m.json", "-n", 4000, "-T", 30000, "--max-memory", "490M", "-t", 1, "-o",
                   "o.csv", "-q")
        self.leftovers("m.json")
        self.ok("sample", "m.json", "-n", 10, "-T", 20, "--max-memory", "1G", "-t", 1, "-o", "o.csv", "-q")

    def test_limit_below_what_threads_take(self):
        """OpenBLAS would wait for memory without end."""
        self.write("d.csv", two_level())
        self.fails(2, "--max-memory is too small for 1 thread: at least 480M are needed", "fit", "d.csv", "-S", 2,
                   "--max-memory", "10M", "-t", 1, "-o", "o.json")
        self.ok("fit", "d.csv", "-S", 2, "--max-memory", "480M", "-t", 1, "-o", "o.json", "-q")

    def test_data_leaves_no_room_for_threads(self):
        """What the linear algebra takes is taken before anything is read, and not waited for."""
        frames = struct.pack("<8d", *[(7 * k) % 5 for k in range(8)]) * 5000000
        self.path("d.npy").write_bytes(npy("<f8", "20, 250000, 8", frames))
        self.fails(1, "out of memory", "fit", "d.npy", "-S", 2, "-r", 1, "--max-iter", 1, "--max-memory", "490M", "-t", 1,
                   "-o", "o.json", "-q")

    def test_the_number_that_stands_for_auto(self):
        self.write("d.csv", "id,x\n" + "".join(f"s{i // 9},{i % 7}\n" for i in range(90)))
        self.fails(2, "--states needs a whole number of at least 1 that fits, a range like 2..6, or auto, not '2147483647'",
                   "fit", "d.csv", "-S", "2147483647", "-o", "m.json")
        self.fails(2, "--tau needs a whole number of at least 1 that fits", "cluster", "m.json", "--tau", "2147483647",
                   "-k", "2")

    def test_many_columns(self):
        """Models with diagonal covariances need no room that grows with the square of the columns."""
        d = 20000
        rows = [f"s{n}," + ",".join(str((7 * n + 3 * t + k) % 10) for k in range(d)) for n in range(2) for t in range(3)]
        self.write("wide.csv", "id," + ",".join(f"x{k}" for k in range(d)) + "\n" + "\n".join(rows) + "\n")
        self.ok("fit", "wide.csv", "-S", 1, "-r", 1, "--max-iter", 2, "--max-memory", "1G", "-t", 1, "-o", "w.h5", "-q")
        self.ok("score", "w.h5", "wide.csv", "--max-memory", "1G", "-t", 1, "-o", "w.tsv", "-q")
        self.ok("cluster", "w.h5", "-k", 1, "--max-memory", "1G", "-t", 1, "-o", "c.json", "-q")

    def test_spilled_data_does_not_count(self):
        self.write("d.csv", two_level())
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "--memory", "1K", "--max-memory", "1G", "-t", 1, "-o", "o.json", "-q")


class Together(Case):
    """Two processes that want the same files."""

    def start(self, *args):
        return subprocess.Popen([VHEM, *args], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_one_output(self):
        self.write("m.json", model())
        self.ok("sample", "m.json", "-n", 300, "-T", 100, "-o", "good.csv", "-q")
        good = self.path("good.csv").read_bytes()
        for name in ("o.csv", "o.h5"):
            for _ in range(3):
                both = [self.start("sample", "m.json", "-n", "300", "-T", "100", "-o", name, "-q") for _ in range(3)]
                for p in both:
                    self.assertEqual(p.communicate(timeout=HANGS)[1], "")
                    self.assertEqual(p.returncode, 0)
            self.assertEqual([q.name for q in self.dir.iterdir() if "vhem-tmp" in q.name], [])
        self.assertEqual(self.path("o.csv").read_bytes(), good)
        self.ok("convert", "o.h5", "again.csv", "-q")
        self.assertEqual(self.path("again.csv").read_bytes(), good)

    def test_one_store(self):
        self.write("d.csv", two_level(12, 200))
        args = ["classify", "train", "d.csv", "--label", "label", "-S", "4", "-r", "8", "-k", "1", "--store", "s.store",
                "-t", "1", "-q", "-o"]
        self.ok(*args[:-1], "-o", "good.json", "--seed", "0")
        self.path("s.store").unlink()
        first, second = self.start(*args, "a.json"), self.start(*args, "b.json")
        told = [p.communicate(timeout=HANGS)[1] for p in (first, second)]
        codes = [first.returncode, second.returncode]
        self.assertIn(0, codes)
        for code, text in zip(codes, told):
            if code != 0:
                self.assertIn("another run is using it", text)
        self.ok(*args, "c.json")                         # the store is whole
        self.assertEqual(self.path("c.json").read_bytes(), self.path("good.json").read_bytes())

    def test_one_checkpoint(self):
        self.write("d.csv", two_level(12, 100))
        self.ok("fit", "d.csv", "-S", 4, "-r", 1, "-q", "-o", "m.json")
        args = ["cluster", "m.json", "-k", "3", "--tau", "200", "-r", "60", "--search", "restarts", "--checkpoint", "run", "-t",
                "1", "-q", "-o"]
        self.ok(*args, "good.json")
        first, second = self.start(*args, "a.json"), self.start(*args, "b.json")
        told = [p.communicate(timeout=HANGS)[1] for p in (first, second)]
        codes = [first.returncode, second.returncode]
        self.assertIn(0, codes)
        for code, text, name in zip(codes, told, ("a.json", "b.json")):
            if code != 0:
                self.assertIn("another run is using it", text)
            else:
                found, good = (json.loads(self.path(n).read_text()) for n in (name, "good.json"))
                self.assertEqual((found["z"], found["centers"]), (good["z"], good["centers"]))


if __name__ == "__main__":
    unittest.main()
