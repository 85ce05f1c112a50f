#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Seeds and dictionaries of the fuzz targets, made by the command and the library itself.

    seeds.py VHEM        adds seeds to the archives of tests/fuzz/corpus and writes tests/fuzz/dictionaries

Files are tiny: the fuzzer changes them byte by byte.  Afterwards `scripts/fuzz --minimise` keeps what is of use.
"""
import hashlib
import io
import itertools
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

import corpora

HERE = pathlib.Path(__file__).resolve().parent
CSV = "id,label,x,y\na,u,0.5,1\na,u,1.25,-2e-3\nb,v,3,\nb,v,nan,4\nb,v,1,1\nc,u,2,0\nc,u,1,9\n"
GROUPED = "subject;trial;cls;w;x1;x2\ns1;1;u;1;0;1\ns1;1;u;1;2;3\ns1;2;v;2;1;1\ns2;1;v;1;4;4\n"
MANY = "id,label,x,y\n" + "".join(f"s{n},{'uv'[n % 2]},{(n * 7 + t * 3) % 5 + 4 * (n % 2)},{(n + t * t) % 4}\n"
                                  for n in range(6) for t in range(5))

MIXED = "id,n,b,g,a,s,x,y\n" + "".join(f"s{k},{(k + t) % 4},{(k * t) % 2},{0.5 + (k + t) % 3},{(t % 6) - 2.5},"
                                       f"{'uvw'[(k + t) % 3]},{(k * 7 + t * 3) % 5},{(k + t * t) % 4}\n"
                                       for k in range(4) for t in range(6))
FAMILIES = {"n": "poisson", "b": "bernoulli", "g": "gamma", "a": "von-mises", "s": "categorical"}


class Seeds:
    def __init__(self, vhem, folder):
        self.vhem, self.folder = vhem, pathlib.Path(folder)
        self.new = {}  # target -> name -> bytes

    def run(self, *arguments):
        subprocess.run([self.vhem, *map(str, arguments), "--quiet"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)

    def path(self, name):
        return self.folder / name

    def add(self, target, *contents):
        for content in contents:
            content = content.encode() if isinstance(content, str) else content
            self.new.setdefault(target, {})[hashlib.sha1(content).hexdigest()] = content

    def add_files(self, target, *names):
        self.add(target, *(self.path(n).read_bytes() for n in names))


def array(a, version=(1, 0)):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=version)
    return f.getvalue()


def archive(method, **members):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", method) as z:
        for name, content in members.items():
            z.writestr(name + ".npy", content)
    return f.getvalue()


def tables(s):
    s.path("d.csv").write_text(CSV)
    s.path("many.csv").write_text(MANY)
    for ending in "tsv", "ts", "npy", "npz", "h5":
        s.run("convert", "many.csv", f"many.{ending}")
        s.run("convert", "d.csv", f"d.{ending}")
    s.add("csv", CSV, MANY, GROUPED, CSV.replace(",", ";"), "\ufeff# comment\r\nid,x\r\n\"a \"\"q\"\"\",1\r\n",
          "0.5,1\n2,3\n", "x\n1\n", "seq,x\na,1e308\na,-0\na,?\na,NA\n")
    s.add_files("tsv", "d.tsv", "many.tsv")
    s.add_files("ts", "d.ts", "many.ts")
    s.add("ts", "@problemName p\n@timeStamps false\n@univariate true\n@classLabel true a b\n@data\n1,2,?:a\n3:b\n")
    roles = [["subject,trial", "cls", "subject", "w", "x1", "cls=v"], ["", "", "", "", "x2,x1", ""], ["trial"] + [""] * 5]
    s.add("roles", *("\0".join(r) + "\0" + GROUPED for r in roles))
    s.add("tags", "song,rock,jazz\na,1,0\nb,0,1\n", "song,tag\na,rock\na,jazz\nb,\n", "song\ttag\na\tx\n")


def arrays(s):
    x = np.arange(6.0).reshape(3, 2)
    s.add("npy", array(x), array(x.astype("f4")), array(np.arange(4, dtype="i2").reshape(2, 2)), array(np.asfortranarray(x)),
          array(x.astype(">f8"), (2, 0)), array(np.arange(8.0).reshape(2, 2, 2)), array(np.arange(3, dtype="u1")))
    index = b"seq,start,length,label\na,0,2,u\nb,2,1,v\n"
    s.add("index", len(index).to_bytes(2, "little") + index + array(x))
    one = {"X": array(x), "lengths": array(np.array([2, 1])), "names": array(np.array(["a", "b"])),
           "labels": array(np.array([b"u", b"v"]))}
    for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
        for members in one, {"a": array(x), "b": array(x[:1])}:
            s.add("npz", archive(method, **members))
            s.add("zip", archive(method, **members))
    s.add_files("npz", "d.npz", "many.npz")
    s.add_files("zip", "d.npz")
    s.add_files("data_hdf5", "d.h5", "many.h5")


def workbooks(s):
    """Stored rather than packed: the fuzzer then changes the XML itself."""
    cells = ('<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>x</t></is></c></row>',
             '<row r="2"><c r="A2" t="str"><f>1</f><v>a</v></c><c r="B2"><v>1.5</v></c></row>',
             '<row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4" t="b"><v>1</v></c></row>',
             '<row><c t="s"><v>1</v></c><c t="e"><v>#N/A</v></c></row>')
    parts = {"xl/workbook.xml": '<workbook><sheet name="S" r:id="a"/></workbook>',
             "xl/_rels/workbook.xml.rels": '<R><Relationship Id="a" Target="s.xml"/>'
                                           '<Relationship Id="b" Type="/sharedStrings" Target="/xl/t.xml"/></R>',
             "xl/t.xml": "<sst><si><t>id</t></si><si><r><t>b</t></r><rPh><t>c</t></rPh></si></sst>"}
    for rows in cells[:2], cells:
        f = io.BytesIO()
        with zipfile.ZipFile(f, "w") as z:
            for name, text in {**parts, "xl/s.xml": f"<w>{''.join(rows)}</w>"}.items():
                z.writestr(zipfile.ZipInfo(name), text)
        s.add("xlsx", f.getvalue())
    write_dictionary("xlsx", sorted(set(re.findall(rb"</?\w+>?|\w+=", "".join([*parts.values(), *cells]).encode())))
                     + [b"&amp;", b"<!DOCTYPE", b"<![CDATA[", b"PK\x03\x04", b'r="XFD1048576"', b'state="hidden"'])


def shrink(s, name):
    """The first two models of a file, and no more."""
    small = json.loads(s.path(f"{name}.json").read_text())
    small.pop("provenance", None)
    models = small.get("hmms") or small.get("dts") or small.get("textures")
    del models[2:]
    small["omega"] = [1 / len(models)] * len(models)
    s.path(f"{name}1.json").write_text(json.dumps(small))
    s.run("convert", f"{name}1.json", f"{name}1.h5")
    s.add_files("models", f"{name}1.json")
    s.add_files("models_hdf5", f"{name}1.h5")
    if "hmms" in small:
        s.run("convert", f"{name}1.json", "--shards", 1, "-o", f"{name}_shards")
        s.add_files("shards_hdf5", f"{name}_shards/00000.h5")
    if "prior" in small:
        s.add("prior", json.dumps(small["prior"]))


def families(s):
    """Models, priors and posteriors of every family, and of several in one."""
    s.path("mixed.csv").write_text(MIXED)
    s.run("background", "many.csv", "--gaussians", 2, "-o", "tied.json")
    few = ["-S", 1, "-r", 1, "--max-iter", 1]
    for column, family in FAMILIES.items():
        s.run("fit", "mixed.csv", "--columns", column, "--emission", family, *few, "-o", f"{family}.json")
    product = ",".join(f"{c}:{f}" for c, f in FAMILIES.items()) + ",x+y:gaussian-full"
    s.run("fit", "mixed.csv", "--emission", product, *few, "--prior", "none", "-o", "product.json")
    s.run("fit", "many.csv", "--emission", "gaussian-tied:tied.json", *few, "-o", "weights.json")
    for name in [*FAMILIES.values(), "product", "weights", "tied"]:
        shrink(s, name)
    for family in "poisson", "bernoulli", "categorical":
        s.run("cluster", f"{family}.json", "-k", 2, "--method", "vbhem", "-r", 1, "--max-iter", 2, "-o", "v.json")
        s.add_files("tree", "v.json")
        for target in "prior", "posterior":
            s.add(target, *map(json.dumps, objects(json.loads(s.path("v.json").read_text()), f"vhem-{target}")))


def models(s):
    s.run("fit", "many.csv", "-S", 2, "-r", 1, "--max-iter", 2, "-o", "m.json")
    s.run("fit", "many.csv", "-S", 1, "-r", 1, "--max-iter", 1, "--cov", "full", "--prior", "none", "-k", 2, "-o", "full.json")
    s.run("fit", "many.csv", "-S", 1, "--model", "dtm", "-o", "dtm.json")
    for name in "m", "full", "dtm":
        shrink(s, name)
    s.add("prior", json.dumps({"format": "vhem-prior", "version": 1, "emission": "gaussian-full", "d": 2, "alpha": 1.0,
                               "eta": 1.0, "eps": 1.0, "kappa": 1.0, "lambda": 0.01, "nu": 4.0, "m": [0, 1], "W": [1, 2]}))


def shards(s):
    """The manifest of the very models that the target cuts in two."""
    source = re.search(r"model_text\[\] =(.*?);", (HERE / "manifest.c").read_text(), re.S).group(1)
    s.path("w.json").write_text("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', source)).replace('\\"', '"'))
    s.run("convert", "w.json", "--shards", 2, "-o", "w")
    text = s.path("w/manifest.json").read_text()
    s.add("manifest", text, text.replace("00000.h5", "../w/00000.h5"), text.replace('"n": 1', '"n": 2'))


def lines(s):
    """Command lines, each argument ended by a NUL."""
    words = [["d.csv", "-o", "m.json", "-k", "2..6"], ["--id=subject,trial", "--label", "cls", "--memory", "4G", "a", "b"],
             ["-m", "x", "y", "--", "-z"], ["--help"], ["-ko", "--seed", "-1"], ["--threads", "1e9", "--json", "-qj"],
             ["--output", "", "--clusters=0"], ["--max-memory=99999999999999999999"]]
    s.add("command_line", *("".join(w + "\0" for w in line) for line in words))


def checkpoint_record(k, numbers):
    """Its checksum is wrong: the mutator of the target mends it."""
    return f"{k:032x}".encode() + struct.pack("=QQ", len(numbers), 0) + struct.pack(f"={len(numbers)}d", *numbers)


def results(s):
    s.run("cluster", "m.json", "-k", 2, "-r", 1, "--max-iter", 2, "--search", "restarts", "-o", "c.json")
    s.run("tree", "m.json", "-k", "3,2", "-r", 1, "--max-iter", 1, "--search", "restarts", "-o", "t.json")
    s.run("cluster", "m.json", "-k", 2, "--method", "ppk-ac", "-o", "ac.json")
    s.run("cluster", "dtm.json", "-k", 2, "-r", 1, "--max-iter", 1, "-o", "cd.json")
    s.run("classify", "train", "many.csv", "-S", 1, "-r", 1, "--max-iter", 1, "-k", 1, "--store", "st.jsonl", "-o", "k.json")
    s.add_files("tree", "c.json", "t.json", "ac.json", "cd.json")
    s.add_files("classes", "k.json")
    s.add("stats", *(s.path(f).read_bytes() + b"\0" + MANY.encode() for f in ("c.json", "t.json")))
    s.add("checkpoint", b"vhem-checkpoint 1\n" + b"".join(checkpoint_record(k, [k, 0.5, 1e300][:k]) for k in range(4)))
    s.add("store", *("".join(s.path("st.jsonl").read_text().splitlines(True)[:n]) for n in (1, 2, 3)))
    for path in sorted((HERE.parent / "golden" / "data" / "vbhem").glob("vbhem0*.json")):
        for found in objects(json.loads(path.read_text()), "vhem-posterior"):
            s.add("posterior", json.dumps(found))
        for found in objects(json.loads(path.read_text()), "vhem-prior"):
            s.add("prior", json.dumps(found))
    cluster = json.loads(s.path("c.json").read_text())
    classes = json.loads(s.path("k.json").read_text())
    s.add("options", b"\x02" + json.dumps(cluster["options"]).encode(), b"\x01" + json.dumps(classes["piece"]).encode(),
          b"\x04" + json.dumps(classes["train"]).encode())


def objects(value, format):
    """The objects of this format anywhere in a value, one of each length."""
    found = {}
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict) and value.get("format") == format:
            found.setdefault(len(json.dumps(value)) // 500, value)
        stack += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return found.values()


def keys(value):
    if isinstance(value, dict):
        return set(value) | set(itertools.chain(*map(keys, value.values())))
    return set(itertools.chain(*map(keys, value))) if isinstance(value, list) else {value} if isinstance(value, str) else set()


def write_dictionary(name, words):
    folder = HERE / "dictionaries"
    folder.mkdir(exist_ok=True)
    escaped = ("".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in w) for w in words)
    (folder / f"{name}.dict").write_text("".join(f'"{w}"\n' for w in escaped if w))


def dictionaries(s):
    numbers = [b"1e308", b"-1e308", b"5e-324", b"1e400", b"-0.0", b"nan", b"inf", b"2147483647", b"-1", b"0", b"1.0"]
    json_files = {"models": ("m1.json", "full1.json", "dtm1.json", "product1.json", "tied1.json", "weights1.json"),
                  "tree": ("c.json", "t.json", "ac.json", "cd.json"),
                  "classes": ("k.json",), "stats": ("c.json", "t.json")}
    for name, files in json_files.items():
        words = set(itertools.chain(*(keys(json.loads(s.path(f).read_text())) for f in files)))
        write_dictionary(name, [f'"{w}"'.encode() for w in sorted(words) if len(w) < 24]
                         + [b"null", b"true", b"false", b"[]", b"{}", b"\\u0000", b"<fuzz>"] + numbers)
    write_dictionary("store", [b'{"key": "', b'"model": ', b"\n", b'{"format": "vhem-store", "version": 1}'])
    prior = keys(json.loads(s.path("m.json").read_text()).get("prior", {}))
    prior |= {"gaussian-full", "gaussian-diag", *FAMILIES.values()}
    write_dictionary("prior", [f'"{w}"'.encode() for w in sorted(prior)] + numbers)
    write_dictionary("posterior", [f'"{w}"'.encode() for w in ("alpha", "eta", "eps", "kappa", "lambda", "nu", "m", "W", "S",
                                                               "M", "hmms", "name", "emission")] + numbers)
    source = (HERE.parent.parent / "src" / "core" / "options.c").read_text()
    names = re.findall(r"\(R, [A-Z_| 0]+, (\w+),", source) + re.findall(r"[a-z-]+(?=\||\")", source)
    write_dictionary("options", [f'"{w}"'.encode() for w in sorted(set(names)) if len(w) < 24] + numbers)
    write_dictionary("manifest", [b'"vhem-shards"', b'"files"', b'"first"', b'"n"', b'"check"', b'"K"', b'"00001.h5"'] + numbers)
    line = re.findall(r"--[a-z-]+", (HERE.parent.parent / "man" / "vhem.1").read_text().replace("\\-", "-"))
    write_dictionary("command_line", [w.encode() for w in sorted(set(line))] + [b"auto", b"2..6", b"4G", b"--", b"=", b"\0"]
                     + numbers)
    for name in "csv", "tsv", "roles", "tags":
        write_dictionary(name, [b"id,", b"seq", b"label", b"NA", b"?", b'""', b"\r\n", b"\xef\xbb\xbf", b"#", b"tag"] + numbers)
    write_dictionary("ts", re.findall(rb"@\w+ ?\w*", s.path("d.ts").read_bytes()) + [b"@data\n", b":", b"?"] + numbers)
    npy = [b"\x93NUMPY\x01\x00", b"'descr': '", b"'fortran_order': ", b"'shape': (", b"True", b"False", b"<f8", b">f4",
           b"|u1", b"<i8", b"|S3", b"<U2", b"|b1", b"), }", b"<c16", b"<f2"]
    for name in "npy", "index", "npz":
        write_dictionary(name, npy)
    write_dictionary("zip", [b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"\xff\xff\xff\xff"])
    for name, f in ("data_hdf5", "many.h5"), ("models_hdf5", "m1.h5"):
        write_dictionary(name, sorted(set(re.findall(rb"[A-Za-z_]{2,12}", s.path(f).read_bytes()))) + [b"\xff" * 8])


def main():
    with tempfile.TemporaryDirectory() as folder:
        s = Seeds(pathlib.Path(sys.argv[1]).resolve(), folder)
        for part in tables, arrays, workbooks, models, families, shards, lines, results, dictionaries:
            part(s)
        for target, files in s.new.items():
            archive = HERE / "corpus" / f"{target}.zip"
            corpora.pack(archive, {**corpora.unpack(archive), **files})


main()
