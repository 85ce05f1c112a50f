# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a recipe of docs/extending.md names a file, a function or a table that is not there.

    recipes.py [FILE]        the page to check; docs/extending.md

Paths in backticks must exist, with at least one file where they say <name>; names of C (vh_..., vhem_..., cli_..., a table[],
a CONSTANT) must occur in the sources.  Each recipe is followed for something that was made by it: every file that a step
begins with, or that stands before a colon, must have its name.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "cli", "tests", "docs", "scripts", "share", "man")
NAME = re.compile(r"(?:vh|vhem|cli|cmd)_\w*[a-z]|[A-Z][A-Z_]{3,}|\w+(?=\[\])")

EXAMPLES = {"An emission family": "poisson", "A clustering method": "hem_gmm", "An input format": "npz", "A backend": "cuda",
            "A figure in the report": "levels", "An option of a command": "refine", "A command": "compare"}


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


def follow(page):
    """Steps that were not taken for the examples, and how many files all steps name."""
    wrong, seen = [], 0
    for title, name in EXAMPLES.items():
        recipe = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page.read_text(), re.M | re.S)
        steps = re.findall(r"^\d+\. .*?(?=^\d+\. |^\S|\Z)", recipe.group(1) if recipe else "", re.M | re.S)
        files = [f for step in steps for f in re.findall(r"^\d+\. `(\S+?)`|`(\S+?)`:", step)]
        files = [f for f in map("".join, files) if "/" in f]
        if not files:
            wrong.append(f"{title}: the recipe names no file")
        for file in dict.fromkeys(files):
            path, seen = ROOT / file.replace("<name>", name), seen + 1
            if not path.is_dir() and not (path.is_file() and name in path.read_text().replace("-", "_")):
                wrong.append(f"{title}: {name} is not in {path.relative_to(ROOT)}")
    return wrong, seen


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/extending.md"
    wrong, seen = check(page)
    missed, followed = follow(page)
    wrong += missed
    print("\n".join(wrong))
    print(f"{page.name}: {seen} files and names, {followed} files of steps; {len(wrong)} are wrong")
    return 1 if wrong or seen < 40 or followed < 25 else 0


sys.exit(main())
