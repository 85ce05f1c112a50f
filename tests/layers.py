# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a source file includes a header, or uses a function, that its layer must not see.

    layers.py [OBJECTS]        check the includes of the source, and the symbols of the object files listed in OBJECTS
    layers.py --self-test      check that planted breaches are found

Rows, lowest first: a room, which is a folder of src, sees its own files and those of lower rows, never those of a neighbour
in the same row.  Files of src that are in no folder see everything.
Many files include vhem.h, so includes alone prove little; the symbols tell who calls whom.  A file of src that is made
during the build (report_assets.c) counts as part of the folder its name begins with.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = "src"  # files in no room: context.c, load.c
ROWS = [
    ["os"],
    ["core"],
    ["parallel"],
    ["math"],
    ["data", "emission"],
    ["data/formats", "hmm"],
    ["prior"],
    ["files"],
    ["vhem", "fit"],
    ["distance"],
    ["simd"],
    ["cuda", "dtm"],
    ["models"],
    ["distributed", "search"],
    ["methods"],
    ["cluster", "classify"],
    ["analysis", "report"],
    [TOP],
]
# They use the library as programs do: of lower rows they see those without models, and what vhem.h has.
USERS = {"analysis", "report"}
LOWEST = {"os", "core", "parallel", "math"}
LEVEL = {folder: level for level, row in enumerate(ROWS) for folder in row}

# header pattern -> folders that may include it
ONLY = {
    r"(cblas|lapacke|openblas_config)\.h": {"math"},
    r"(cuda.*|cublas.*)\.h": {"cuda"},
    r"mpi\.h": set(),
    r"jansson\.h": {"files", "report"},
    r"hdf5(_hl)?\.h": {"core", "files", "data/formats"},
    r"xxhash\.h": {"core"},
}
# Headers of one system: the files of os alone include them, so that the rest compiles everywhere.  CUDA is for Linux.
SYSTEM = re.compile(r"(sys|arpa|netinet|net|mach|bits)/.*|(unistd|fcntl|dirent|locale|xlocale|pthread|signal|sched|dlfcn|poll|spawn"
                    r"|termios|pwd|malloc|windows|io|direct|process|conio|time|libgen|fnmatch|glob)\.h")
# Conditions on the system or its C library, and names that only some systems have.
SYSTEM_CONDITION = re.compile(r"^\s*#\s*(?:el)?if.*\b(_WIN\w*|__MINGW\w*|__APPLE__|__linux\w*|__GLIBC__|__unix\w*|__EMSCRIPTEN__|__wasi__)\b"
                              r"|^\s*#\s*define\s+(_GNU_SOURCE|_DEFAULT_SOURCE|_POSIX_C_SOURCE|_DARWIN_C_SOURCE)\b", re.M)
# C library function -> the only file of the library that calls it: elsewhere a file could get the number of a closed
# standard stream, or be left behind.
OPENS = {name: "src/os/posix.c" for name in ("open", "open64", "openat", "fopen", "fopen64", "creat", "freopen", "mkstemp",
                                          "mkstemp64", "mkostemp", "mkostemp64", "tmpfile")}
OPENS["rename"] = OPENS["linkat"] = "src/os/posix.c"
# A reduction sees no sequences, nor does what it is made of.
NEVER = {(room, data) for room in ("emission", "hmm", "prior", "files", "vhem") for data in ("data", "data/formats")}
PUBLIC = {"vhem.h", "vhem/types.h", "vhem/classes.h", "vhem/analysis.h", "vhem/distributed.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    """The room of a path inside src: "data/formats" of data/formats/npy.c; a made file's name begins with its room."""
    folder, name = os.path.split(str(path))
    made = name.split("_")[0]
    return folder or (made if made in LEVEL else TOP)


def allowed(user, used, public=False):
    """May a file of room user see what room used has?  public: it is a function of vhem.h."""
    if user in USERS:
        return public or used == user or used in LOWEST
    return user == used or (LEVEL[used] < LEVEL[user] and (user, used) not in NEVER)


# ---- the system --------------------------------------------------------------------------------------------------

def check_system(rel, text):
    """What a file outside os has of one system."""
    wrong = [f"{rel}: only src/os may include <{header}>" for kind, header in INCLUDE.findall(text)
             if kind == "<" and SYSTEM.fullmatch(header)]
    return wrong + [f"{rel}: only src/os may depend on the system: {m[0].strip()}" for m in SYSTEM_CONDITION.finditer(text)]


# ---- includes ----------------------------------------------------------------------------------------------------

def check_source(rel, text):
    """What is wrong with the includes of src/rel, and how many there are."""
    folder = room_of(rel)
    if folder not in LEVEL:
        return [f"src/{rel}: folder {folder} has no layer; add it to ROWS"], 0
    wrong = []
    found = INCLUDE.findall(text)
    for kind, header in found:
        top = os.path.dirname(header)
        if kind == '"' and header not in PUBLIC:
            if top not in LEVEL:
                wrong.append(f'src/{rel}: "{header}" must be named by its folder, as in "core/ctx.h"')
            elif not allowed(folder, top):
                wrong.append(f'src/{rel}: layer {folder} may not include "{header}"')
        for pattern, folders in ONLY.items():
            if kind == "<" and re.fullmatch(pattern, header.split("/")[-1]) and folder not in folders:
                who = f"only {', '.join(sorted(folders))}" if folders else "no file of the library"
                wrong.append(f"src/{rel}: {who} may include {header}")
    for line in text.replace("\\\n", " ").splitlines():
        if re.match(r"\s*#\s*pragma\s+omp\s+parallel", line) and "vh_threads_allowed(" not in line:
            wrong.append(f"src/{rel}: a parallel loop must have num_threads(vh_threads_allowed(...)), or a forked child hangs")
    if folder not in ("os", "cuda"):
        wrong += check_system(f"src/{rel}", text)
    return wrong, len(found)


def check_includes(root):
    wrong = []
    seen = 0
    for path in sorted(root.glob("src/**/*.[ch]")) + sorted(root.glob("src/**/*.cu")):
        bad, n = check_source(path.relative_to(root / "src"), path.read_text())
        wrong += bad
        seen += n
    for path in sorted(root.glob("mpi/*.[ch]")):
        wrong += check_system(f"mpi/{path.name}", path.read_text())
    for path in sorted(root.glob("cli/*.[ch]")):
        text = path.read_text()
        wrong += check_system(f"cli/{path.name}", text)
        for kind, header in INCLUDE.findall(text):
            seen += 1
            local = kind == '"' and ((path.parent / header).exists() or header.startswith("os/"))
            if kind == '"' and header not in PUBLIC and not local:
                wrong.append(f'cli/{path.name}: the command sees the public headers and os, not "{header}"')
    return wrong, seen


# ---- symbols -----------------------------------------------------------------------------------------------------

def place(path):
    """(room, source file) of an object file: ("analysis", "src/analysis/judge.c")."""
    inside = re.sub(r"^.*\.dir/(\./)?", "", path)
    source = re.sub(r"\.o$", "", inside)
    if "/vhem_os.dir/" in path:
        return "os", f"src/{source}"
    if "/vhem_command.dir/" in path or "/vhem_cli.dir/" in path:
        return "cli", f"cli/{source}"
    return room_of(source), f"src/{source}"


def read_symbols(objects):
    """Global symbols: name -> folder that defines it, and a list of (folder, source file, name used)."""
    listed = subprocess.run(["nm", "-A", "-P", *objects], capture_output=True, text=True, check=True).stdout
    defined, used = {}, []
    for line in listed.splitlines():
        path, name, kind = re.fullmatch(r"(.+\.o): (\S+) (\S)(?: .*)?", line).groups()
        folder, source = place(path)
        if kind in "Uvw":
            used.append((folder, source, name))
        elif kind.isupper():
            defined[name] = folder
    return defined, used


def check_symbols(objects):
    wrong = []
    defined, used = read_symbols(objects)
    calls = [(user, source, name, defined[name]) for user, source, name in used if name in defined]
    for user, source, name, owner in calls:
        if user == "cli":
            if owner not in ("cli", "os") and not name.startswith("vhem_"):
                wrong.append(f"{source}: the command may not use {name} of {owner}, which is not in vhem.h")
        elif user not in LEVEL:
            wrong.append(f"{source}: folder {user} has no layer; add it to ROWS")
        elif owner == "cli" or not allowed(user, owner, name.startswith("vhem_")):
            wrong.append(f"{source}: layer {user} may not use {name} of {owner}")
    for user, source, name in used:
        if user != "cli" and OPENS.get(name, source) != source:
            wrong.append(f"{source}: only {OPENS[name]} may call {name}")
    return sorted(set(wrong)), len(calls)


# ---- self-test ---------------------------------------------------------------------------------------------------

PLANTED = {
    "vhem_objects.dir/report/page.c": "int vhem_page(void); int vhem_page(void) { return 1; }",
    "vhem_objects.dir/math/rand.c": "int vh_rand(void); int vh_rand(void) { return 1; }",
    "vhem_objects.dir/data/formats/set.c": "int vh_set(void); int vh_set(void) { return 1; }",
    "vhem_objects.dir/data/open.c": "int open(void); int vh_open(void); int vh_open(void) { return open(); }",
    "vhem_objects.dir/core/bad.c": "int vhem_page(void); int vh_bad(void); int vh_bad(void) { return vhem_page(); }",
    "vhem_objects.dir/data/size.c": "int vhem_size(void); int vhem_size(void) { return 1; }",
    "vhem_objects.dir/data/bad.c": "int vh_set(void); int vh_up(void); int vh_up(void) { return vh_set(); }",
    "vhem_objects.dir/analysis/good.c": "int vhem_size(void); int vh_mean(void); int vh_mean(void) { return vhem_size(); }",
    "vhem_objects.dir/analysis/bad.c": "int vh_set(void); int vh_sum(void); int vh_sum(void) { return vh_set(); }",
    "vhem_objects.dir/vhem/bad.c": "int vh_set(void); int vh_see(void); int vh_see(void) { return vh_set(); }",
    "vhem_objects.dir/report/bad.c": "int vh_see(void); int vh_run(void); int vh_run(void) { return vh_see(); }",
    "vhem_objects.dir/classify/good.c": "int vh_rand(void); int vh_tag(void); int vh_tag(void) { return vh_rand(); }",
    "vhem_objects.dir/context.c": "int vh_set(void); int vhem_new(void); int vhem_new(void) { return vh_set(); }",
    "vhem_command.dir/main.c": "int vh_rand(void); int vhem_page(void); int main(void) { return vh_rand() + vhem_page(); }",
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, text in PLANTED.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
            objects.append(f"{path}.o")
            subprocess.run([os.environ.get("CC") or "cc", "-c", str(path), "-o", objects[-1]], check=True)
        wrong, seen = check_symbols(objects)
    assert seen == 10, seen
    assert wrong == ["cli/main.c: the command may not use vh_rand of math, which is not in vhem.h",
                     "src/analysis/bad.c: layer analysis may not use vh_set of data/formats",
                     "src/core/bad.c: layer core may not use vhem_page of report",
                     "src/data/bad.c: layer data may not use vh_set of data/formats",
                     "src/data/open.c: only src/os/posix.c may call open",
                     "src/report/bad.c: layer report may not use vh_see of vhem",
                     "src/vhem/bad.c: layer vhem may not use vh_set of data/formats"], wrong
    for rel, text, found in [("core/bad.c", '#include "report/report.h"', 1), ("report/good.c", '#include "core/ctx.h"', 0),
                             ("analysis/bad.c", "#include <cblas.h>", 1), ("analysis/bad.c", '#include "ctx.h"', 1),
                             ("analysis/bad.c", '#include "data/data.h"', 1), ("report/bad.c", '#include "analysis/judge.h"', 1),
                             ("hmm/bad.c", '#include "data/data.h"', 1), ("odd/bad.c", "", 1), ("context.c", '#include "cuda/gpu.h"', 0),
                             ("data/bad.c", '#include "data/formats/zip.h"', 1), ("data/formats/good.c", '#include "data/data.h"', 0),
                             ("core/bad.c", "#pragma omp parallel for \\\n num_threads(n)", 1),
                             ("core/good.c", "#pragma omp parallel for \\\n num_threads(vh_threads_allowed(n))", 0),
                             ("core/bad.c", "#include <unistd.h>", 1), ("os/good.c", "#include <unistd.h>", 0),
                             ("core/bad.c", "#if defined(_WIN32)", 1), ("core/bad.c", "#define _GNU_SOURCE", 1)]:
        bad, _ = check_source(pathlib.PurePath(rel), text)
        assert len(bad) == found, (rel, bad)
    print("planted breaches are found")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, seen = check_includes(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(wrong))
    print(f"{seen} includes, {len(wrong)} against the layers")
    bad = len(wrong) + (seen == 0)
    if len(sys.argv) > 1:
        wrong, seen = check_symbols(pathlib.Path(sys.argv[1]).read_text().split())
        print("\n".join(wrong))
        print(f"{seen} uses of a symbol, {len(wrong)} against the layers")
        bad += len(wrong) + (seen == 0)
    return 1 if bad else 0


sys.exit(main())
