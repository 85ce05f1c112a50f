# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a file or function of the C source has outgrown its limits (docs/style.md, section 6).

    shape.py                check include, src, cli, mpi, tests and bench
    shape.py --self-test    check that planted breaches are found

A function ends at the first line that is a closing brace alone, which .clang-format sees to.  In a function of more than
MAX_PARAMETERS some of its arguments belong together: a record that says what they are is easier to read and to call.
"""
import pathlib
import re
import sys

MAX_FILE = 900        # lines; a file holds one idea, whatever its length
MAX_LINE = 110        # characters
LONG = ("include/vhem/types.h",)         # all records there are may have more lines
MAX_FUNCTION = 60     # lines, from its name to its closing brace
MAX_PARAMETERS = 7
MAX_PUBLIC = 85       # functions of the public headers: a wish for one more is usually an option
MAX_VHEM = 45         # of them in vhem.h
MAX_EXCEPTIONS = 24   # functions of src and cli that may have more: those of the public header, BLAS, a few others
FUNCTION = re.compile(r"^(?!typedef|struct|enum|union)\w[\w\s*]*?\b(\w+)\(([^;{}]*?)\)\n\{\n(.*?)^\}$", re.M | re.S)


def functions(text):
    """(name, number of parameters, lines from the head to the closing brace) of each function that text defines."""
    for m in FUNCTION.finditer(text):
        depth, count = 0, 1
        for c in m[2]:
            depth += (c == "(") - (c == ")")
            count += c == "," and depth == 0
        yield m[1], 0 if m[2].strip() in ("", "void") else count, m[0].count("\n") + 1


def check(name, text):
    """What is too large in a file, and its functions of too many parameters."""
    lines = text.count("\n")
    wrong = [f"{name}: {lines} lines, at most {MAX_FILE} are allowed"] if lines > MAX_FILE and name not in LONG else []
    wrong += [f"{name}:{n}: {len(line)} characters, at most {MAX_LINE} are allowed"
              for n, line in enumerate(text.split("\n"), 1) if len(line) > MAX_LINE]
    many = []
    for function, parameters, length in functions(text):
        if length > MAX_FUNCTION:
            wrong.append(f"{name}: {function} has {length} lines, at most {MAX_FUNCTION} are allowed")
        if parameters > MAX_PARAMETERS:
            many.append(f"{name}: {function} has {parameters} parameters")
    return wrong, many


def self_test():
    body = "    f();\n"
    long = f"int long_one(void)\n{{\n{body * 58}}}\n"
    assert check("a.c", long) == (["a.c: long_one has 61 lines, at most 60 are allowed"], [])
    assert check("a.c", long.replace(body, "", 1)) == ([], [])
    many = "static int\nmany(int a, int b, int c, int d, int e, int (*f)(int, int), int g, int h)\n{\n}\n"
    assert check("a.c", many) == ([], ["a.c: many has 8 parameters"])
    assert check("a.c", many.replace(", int h", "")) == ([], [])
    assert len(check("a.c", "\n" * 901)[0]) == 1 and not check("a.c", "\n" * 900)[0]
    assert check("a.c", "x" * 111) == (["a.c:1: 111 characters, at most 110 are allowed"], [])
    print("planted breaches are found")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    counts = {p: len(re.findall(r"^VHEM_(?:API|RESULT) ", p.read_text(), re.M)) for p in (root / "include").rglob("*.h")}
    public, core = sum(counts.values()), counts.get(root / "include/vhem.h", 0)
    wrong, many, seen = [], [], 0
    if core > MAX_VHEM:
        wrong.append(f"include/vhem.h: {core} functions, at most {MAX_VHEM} are allowed")
    if not 0 < public <= MAX_PUBLIC:
        wrong.append(f"include: {public} functions, at most {MAX_PUBLIC} are allowed")
    for folder in ("include", "src", "cli", "mpi", "tests", "bench"):
        for path in sorted(root.glob(f"{folder}/**/*.[ch]")) + sorted(root.glob(f"{folder}/**/*.cu")):
            name, text = str(path.relative_to(root)), path.read_text()
            large, wide = check(name, text)
            wrong += large
            many += wide if folder in ("src", "cli") else []
            seen += sum(1 for _ in functions(text))
    print("\n".join(wrong))
    print(f"{seen} functions, {public} of them public; {len(wrong)} limits exceeded")
    print(f"{len(many)} functions of more than {MAX_PARAMETERS} parameters, at most {MAX_EXCEPTIONS} are allowed:")
    print("\n".join(many))
    return 1 if wrong or len(many) > MAX_EXCEPTIONS or seen == 0 else 0


sys.exit(main())
