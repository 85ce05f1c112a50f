# SPDX-License-Identifier: BSD-3-Clause
"""The binding against the library: what cffi makes of the header, and what a compiler does."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import vhem
from conftest import SOURCE
from vhem import _ffi, _header

HEADER = "".join((SOURCE / "include" / name).read_text()
                 for name in ("vhem/types.h", "vhem.h", "vhem/distributed.h", "vhem/classes.h", "vhem/analysis.h"))
PACKAGE = pathlib.Path(vhem.__file__).resolve().parents[1]  # the one under test, of the source or installed


def structs():
    """Every struct of the header that has fields, by name."""
    found = []
    for name in sorted(set(re.findall(r"\}\s*(vhem_\w+)\s*;", _header.declarations(HEADER)))):
        ctype = _ffi.ffi.typeof(name)
        if ctype.kind == "struct":
            found.append((name, ctype))
    return found


def test_layout_is_the_compilers(tmp_path):
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler):
        pytest.skip("no C compiler")
    lines = ["#include <vhem/vhem.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    expected = []
    for name, ctype in structs():
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {_ffi.ffi.sizeof(ctype)}")
        for key, field in ctype.fields:
            lines.append(f'    printf("{name}.{key} %zu %zu\\n", offsetof({name}, {key}), '
                         f"sizeof((({name} *)0)->{key}));")
            expected.append(f"{name}.{key} {field.offset} {_ffi.ffi.sizeof(field.type)}")
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("\n".join([*lines, "    return 0;", "}", ""]))
    subprocess.run([compiler, f"-I{SOURCE / 'include'}", source, "-o", program], check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == expected
    assert len(told) > 100                               # the header was not read as empty


OLDER = """
#include "vhem_older.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    static const double y[] = { 0, 0.1, 0.2, 5, 5.1, 5.3, 0.1, 0, 0.2, 5.2, 5, 5.1 };
    static const int64_t T[] = { 3, 3, 3, 3 };
    struct { vhem_cluster_options opt; unsigned char guard[64]; } x;
    const int64_t K = 2;
    vhem_ctx *ctx = NULL;
    vhem_data *data = NULL;
    vhem_models *models = NULL;
    vhem_tree *tree = NULL;
    int hit = 0;
    memset(&x, 0x5a, sizeof x);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &x.opt);
    x.opt.restarts = 2;
    for (int i = 0; i < 64; i++)
        hit += x.guard[i] != 0x5a;
    vhem_status st = vhem_ctx_new(NULL, &ctx);
    if (st == VHEM_OK)
        st = vhem_data_wrap(ctx, 4, T, 1, y, NULL, &data);
    if (st == VHEM_OK)
        st = vhem_fit(ctx, data, NULL, &models, NULL);
    const vhem_source source = { .models = models };
    if (st == VHEM_OK)
        st = vhem_cluster(ctx, &source, 1, &K, &x.opt, &tree);
    printf("%d %d %s\\n", hit, (int)st, vhem_ctx_error(ctx));
    return 0;
}
"""


def test_a_program_of_an_older_header_runs_with_this_library(tmp_path):
    """Its record of options lacks the last field: the library neither writes nor reads behind it."""
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler):
        pytest.skip("no C compiler")
    header = re.sub(r'^#include "[^\n]*\n', "", HEADER, flags=re.M)
    last = re.search(r"\n    \w+ +keep_tables;.*?\n\} vhem_cluster_options;", header, re.S)
    assert last
    (tmp_path / "vhem_older.h").write_text(header.replace(last[0], "\n} vhem_cluster_options;"))
    source, program = tmp_path / "older.c", tmp_path / "older"
    source.write_text(OLDER)
    library = _header.library_path()
    subprocess.run([compiler, source, "-o", program, library, f"-Wl,-rpath,{library.parent}"], check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert told.split()[:2] == ["0", "0"], told


def test_every_function_of_the_header_is_declared():
    declared = set(re.findall(r"VHEM_(?:API|RESULT)[^;(]*?(vhem_\w+)\s*\(", HEADER))
    assert len(declared) > 50
    known = set(re.findall(r"\b(vhem_\w+)\s*\((?!\*)", _header.declarations(HEADER)))
    assert declared == known
    for name in declared:
        getattr(_ffi.lib, name)                          # AttributeError: declared, but not in the library


def test_the_library_shows_its_functions_alone_and_has_the_version_in_its_name():
    """What an older program is linked against is not taken for this library, and no other name leaves it."""
    if not shutil.which("nm") or not shutil.which("readelf"):
        pytest.skip("no binutils")
    declared = set(re.findall(r"VHEM_(?:API|RESULT)[^;(]*?(vhem_\w+)\s*\(", HEADER))

    def asked(*command):
        done = subprocess.run([*command, _header.library_path()], capture_output=True, text=True, check=True)
        return done.stdout

    assert {line.split()[-1] for line in asked("nm", "-D", "--defined-only").splitlines()} == declared
    soname = re.search(r"SONAME.*\[(.*)\]", asked("readelf", "-d"))[1]
    series = ".".join(_header.version(HEADER).split(".")[:2])
    assert soname in (f"libvhem.so.{series}", "libvhem.so")              # the latter inside of a wheel


def test_every_function_is_used_or_known_to_be_covered():
    package = SOURCE / "python" / "vhem"
    used = " ".join((package / name).read_text() for name in ("_lib.py", "_tables.py", "_tasks.py", "_ffi.py"))
    page = (SOURCE / "docs" / "python-names.md").read_text().split("## From the names of the C library")[1]
    for name in re.findall(r"VHEM_(?:API|RESULT)[^;(]*?(vhem_\w+)\s*\(", HEADER):
        kind = "|".join(re.findall(r'f"vhem_\{kind\}_(\w+)"', used))          # one line for several kinds
        named = name in re.findall(r"vhem_\w+", used) or re.fullmatch(rf"vhem_\w+?_({kind})", name)
        assert named or f"`{name}`" in page, f"{name} cannot be reached from Python"


def test_filter():
    text = """
/* one VHEM_API comment
   # define in a comment */
#ifndef X
#define LONG \\
    continued(
#ifdef __cplusplus
extern "C" {
#endif
VHEM_API int f(const char *a);   /* after */
#ifdef __cplusplus
}
#endif
#endif
"""
    assert _header.declarations(text).split() == "int f(const char *a);".split()
    assert _header.version('#define VHEM_VERSION "1.2.3"') == "1.2.3"
    assert _header.number("#define X 0x10   /* that */", "X") == 16
    with pytest.raises(ImportError, match="no Y"):
        _header.number("#define X 1", "Y")


def test_record_is_a_struct():
    kind = _ffi.record("vhem_choice")
    assert kind.itemsize == _ffi.ffi.sizeof("vhem_choice")
    rows = np.zeros(2, kind)
    _ffi.ffi.from_buffer("vhem_choice[]", rows)[1].bic = 2.5
    assert rows["bic"].tolist() == [0, 2.5]


def test_version_and_names():
    assert vhem.__version__ == _header.version(HEADER)
    assert vhem.backends()[-1] == "ref"
    assert vhem.methods()[0] == "vhem"


def run_import(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})


def test_import_says_what_is_missing(tmp_path):
    done = run_import("import vhem", VHEM_LIBRARY=str(tmp_path / "none.so"))
    assert done.returncode == 1 and "none.so" in done.stderr


def test_import_leaves_the_heavy_things_out():
    done = run_import("import vhem, sys; print([m for m in ('matplotlib', 'tqdm', 'hmmlearn') "
                      "if m in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a script cannot stand for a program of Windows")
def test_command_of_the_package_imports_nothing_of_it(tmp_path):
    """The program stands in the package; what begins it is outside, since NumPy and scikit-learn take long."""
    shutil.copytree(SOURCE / "python" / "vhem_command", tmp_path / "vhem_command")
    (tmp_path / "vhem").mkdir()
    program = tmp_path / "vhem" / "vhem"
    program.write_text("#!/bin/sh\necho \"$0 $*\"\n")
    program.chmod(0o755)
    code = ("import sys; from vhem_command import main; slow = {'numpy', 'sklearn', 'cffi', 'vhem'}; "
            "print(sorted(slow & set(sys.modules)), flush=True); sys.argv[1:] = ['info', 'x']; main()")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"]})
    assert done.stdout.splitlines() == ["[]", f"{program} info x"], done.stderr
    program.unlink()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "install the package again" in done.stderr
