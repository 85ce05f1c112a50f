#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts what a newcomer to the code has to learn: how much there is, and how many names it has.

    house.py [BUILD]        the figures of the source; with a build folder also those of its object files
    house.py --check        fails where a figure has risen, or a word has come back that is gone

  lines          of all files of src and cli
  records        struct and union types, in headers of src and in all files of src; names that two files give to types
  statics        static functions of one name in more than three files, slots of tables apart
  words          the names for a part of some work that identifiers of src use, with how often
  complexity     1 + if, for, while, case, &&, || and ?: of each function of src and cli; those above 15 and 20
  rooms          folders of src, with files, lines and the functions that other folders use
  labels         functions that end at a label, `done:`
  rebuild        object files that depend on vhem.h
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^(?!typedef|struct|enum|union)\w[\w\s*]*?\b(\w+)\(([^;{}]*?)\)\n\{\n(.*?)^\}$", re.M | re.S)
RECORD = re.compile(r"^(?:typedef\s+(?:struct|union)\s*\w*|(?:struct|union)\s+\w+)\s*\{", re.M)
NAMED = re.compile(r"^\} (?:\w+\(.*?\)\) )?(\w+);", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
BRANCH = re.compile(r"\b(?:if|for|while|case)\b|&&|\|\||\?")
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
WORDS = ("item", "chunk", "block", "shard", "worker", "rank", "task", "step", "run", "start", "candidate", "level", "batch", "tile",
         "strip", "part", "piece", "slab", "bundle", "lane", "group", "load", "node", "round", "turn", "job", "span", "share", "crew",
         "team", "dealt", "deal", "pass", "thing")


# What newcomers no longer have to learn; docs/code-words.md has the words in their place.
GONE = {"wire", "job", "round", "settler", "strip", "strips", "survey", "slab", "slabs", "rests", "places", "masked", "laid", "document"}
MOST = {"labels": 0, "records": 426, "records in headers": 194, "names of types given twice": 0, "static names in more than three files": 0,
        "functions above complexity 20": 0}


def code_of(path):
    return TEXT.sub('""', COMMENT.sub(" ", path.read_text()))


def files(*folders):
    return [p for folder in folders for ending in ("c", "h", "cu", "cuh") for p in sorted((ROOT / folder).glob(f"**/*.{ending}"))]


def complexities():
    for path in files("src", "cli"):
        for m in FUNCTION.finditer(code_of(path)):
            yield 1 + len(BRANCH.findall(m[3])), m[1], str(path.relative_to(ROOT))


def records():
    """How many record types headers and all files of src define, and the names that several files give to a type."""
    count, names = collections.Counter(), collections.defaultdict(set)
    for path in files("src"):
        code = code_of(path)
        count[path.suffix in (".h", ".cuh")] += len(RECORD.findall(code))
        for name in NAMED.findall(code):
            names[name].add(path)
    return count[True], count[True] + count[False], {k: v for k, v in names.items() if len(v) > 1}


def statics():
    """Names of static functions in more than three files.  A function that fills a slot of a table bears the slot's name."""
    slots, where = set(), collections.defaultdict(set)
    for path in files("src"):
        code = code_of(path)
        slots |= set(re.findall(r"\(\*(\w+)\)\(", code))
        for name in re.findall(r"^static (?!const )[\w\s*]*?\b(\w+)\([^;{}]*?\)\n\{", code, re.M):
            where[name].add(path)
    return {k: v for k, v in where.items() if len(v) > 3 and k not in slots and not k.startswith("__")}


def words():
    """How many identifiers of src use each word for a part of some work."""
    identifiers = {name for path in files("src") for name in re.findall(r"\b[a-z]\w*\b", code_of(path))}
    count = collections.Counter()
    for name in identifiers:
        count.update({w for part in name.split("_") for w in WORDS if part in (w, w + "s")})
    return count


def crossings(build):
    """Functions and objects that a folder defines and another folder uses: folder -> names."""
    listed = (build / "tests/objects.txt").read_text().split()
    out = subprocess.run(["nm", "-A", "-P", *listed], capture_output=True, text=True, check=True, cwd=build).stdout
    owner, used = {}, []
    for line in out.splitlines():
        path, name, kind = re.fullmatch(r"(.+\.o): (\S+) (\S)(?: .*)?", line).groups()
        inside = re.sub(r"^.*\.dir/(\./)?", "", path)
        room = "cli" if "vhem_cli.dir" in path or "vhem_command.dir" in path else inside.split("/")[0] if "/" in inside else "src"
        if kind in "Uvw":
            used.append((room, name))
        elif kind.isupper():
            owner[name] = room
    crossing = collections.defaultdict(set)
    for room, name in used:
        if name.startswith("vh_") and owner.get(name, room) != room:
            crossing[owner[name]].add(name)
    return crossing


def rebuilt(build):
    """(objects that touching vhem.h makes anew, all objects) of the library."""
    out = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    blocks = [b for b in re.split(r"\n\n", out) if re.match(r"src/\S+\.o:", b.strip())]
    return sum("include/vhem.h\n" in b + "\n" for b in blocks), len(blocks)


def labels():
    return sum(p.read_text().count("\ndone:\n") for p in files("src", "cli", "mpi"))


def check():
    headers, all_of_them, twice = records()
    now = {"labels": labels(), "records": all_of_them, "records in headers": headers, "names of types given twice": len(twice), "static names in more than three files": len(statics()),
           "functions above complexity 20": sum(c > 20 for c, _, _ in complexities())}
    wrong = [f"{what}: {n}, at most {MOST[what]}" for what, n in now.items() if n > MOST[what]]
    for path in files("src"):
        for name in sorted(set(re.findall(r"\b(?:vh|VH)_\w+", code_of(path)))):
            if GONE.intersection(name.lower().split("_")):
                wrong.append(f"{path.relative_to(ROOT)}: {name} has a word that docs/code-words.md replaces")
    print("\n".join(wrong) or "no figure has risen: " + ", ".join(f"{what} {n} of {MOST[what]}" for what, n in now.items()))
    return bool(wrong)


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    lines = {folder: sum(p.read_bytes().count(b"\n") for p in (ROOT / folder).rglob("*") if p.is_file()) for folder in ("src", "cli")}
    print(f"lines        src {lines['src']}, cli {lines['cli']}, together {sum(lines.values())}")
    headers, all_of_them, twice = records()
    print(f"records      {headers} in headers, {all_of_them} in all; {len(twice)} names given more than once: "
          + ", ".join(f"{k} ({len(v)})" for k, v in sorted(twice.items(), key=lambda x: -len(x[1]))))
    print("statics      " + (", ".join(f"{k} ({len(v)})" for k, v in statics().items()) or "no name in more than three files"))
    count = words()
    print(f"words        {len(count)}: " + ", ".join(f"{w} {n}" for w, n in count.most_common()))
    found = sorted(complexities(), reverse=True)
    print(f"complexity   above 20: {sum(c > 20 for c, _, _ in found)}, above 15: {sum(c > 15 for c, _, _ in found)} of {len(found)}")
    for c, name, path in found:
        if c > 20:
            print(f"             {c} {name} ({path})")
    print(f"labels       {labels()}")
    crossing = crossings(pathlib.Path(sys.argv[1])) if len(sys.argv) > 1 else {}
    if crossing:
        print(f"crossings    {sum(map(len, crossing.values()))} functions and objects that another room uses")
        print("rebuild      {} of {} objects after touching vhem.h".format(*rebuilt(pathlib.Path(sys.argv[1]))))
    for room in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        inside = [p for p in room.rglob("*") if p.suffix in (".c", ".h", ".cu", ".cuh")]
        print(f"room         {room.name:10} {len(inside):4} files {sum(p.read_text().count(chr(10)) for p in inside):6} lines "
              f"{len(crossing.get(room.name, ())):4} used from outside")
    return 0


if __name__ == "__main__":
    sys.exit(main())
