# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a recipe of docs/extending.md names a file, a function or a table that is not there.

    recipes.py [FILE]        the page to check; docs/extending.md

Paths in backticks must exist, with at least one file where they say <name>; names of C (vh_..., vhem_..., cli_..., a table[],
a CONSTANT) must occur in the sources.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "cli", "tests", "docs", "scripts", "share", "man")
NAME = re.compile(r"(?:vh|vhem|cli|cmd)_\w*[a-z]|[A-Z][A-Z_]{3,}|\w+(?=\[\])")


def sources():
    files = [p for folder in ("src", "include", "cli", "tests") for p in (ROOT / folder).rglob("*")
             if p.suffix in (".c", ".h", ".py", ".txt")]
    return "\n".join(p.read_text(errors="replace") for p in files)


def check(page):
    text, code, wrong, seen = page.read_text(), sources(), [], 0
    for quoted in re.findall(r"`([^`\n]+)`", text):
        word = quoted.split()[0]
        if word.split("/")[0] in FOLDERS and "/" in word:
            seen += 1
            if not any(ROOT.glob(re.sub(r"<\w+>", "*", word.rstrip("/")))):
                wrong.append(f"there is no {word}")
        elif "<" not in quoted and NAME.fullmatch(quoted.removesuffix("[]")):
            seen += 1
            if not re.search(rf"\b{re.escape(quoted.removesuffix('[]'))}\b", code):
                wrong.append(f"{quoted} is nowhere in the sources")
    return wrong, seen


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/extending.md"
    wrong, seen = check(page)
    print("\n".join(wrong))
    print(f"{page.name}: {seen} files and names, {len(wrong)} of them not there")
    return 1 if wrong or seen < 40 else 0


sys.exit(main())
