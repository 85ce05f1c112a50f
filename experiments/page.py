#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts the tables and claims of every experiments/NAME/expected.json into the pages of docs/ that have marks for them.

usage: page.py [--check]       --check: changes nothing; exit status 1 when a page is not up to date

Between <!-- NAME KEY --> and <!-- end --> stands the table with that key, or, for the key `claims`, what the paper
claims and whether it holds.  Everything else on a page is written by hand.
"""
import argparse
import json
import pathlib
import re
import sys

from common import SOURCE, cell

PAGES = sorted((SOURCE / "docs").glob("*.md"))
MARK = re.compile(r"(<!-- (\w+) (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def as_table(columns, rows):
    lines = [columns, ["---"] * len(columns), *([cell(c) for c in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def block(page, name, key):
    """The text that belongs between the marks of a page."""
    path = SOURCE / "experiments" / name / "expected.json"
    if not path.exists():
        sys.exit(f"{page}: there is no {path}")
    found = json.loads(path.read_text())
    if key == "claims":
        rows = [[c["text"], "yes" if c["holds"] else "**no**", c["measured"]] for c in found["claims"]]
        return as_table(["claim", "holds here", "measured"], rows)
    tables = {t["key"]: t for t in found["tables"]}
    if key not in tables:
        sys.exit(f"{page}: experiment {name} has no table '{key}'; it has {', '.join(tables)}")
    t = tables[key]
    return f"{t['title']}:\n\n{as_table(t['columns'], t['rows'])}" + (f"\n\n{t['note']}" if t["note"] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    named = set()
    for page in PAGES:
        old = page.read_text()
        new = MARK.sub(lambda m, page=page: f"{m[1]}\n{block(page, m[2], m[3])}\n\n{m[4]}", old)
        named |= {m[2] for m in MARK.finditer(old)}
        if not check and new != old:
            page.write_text(new)
        elif new != old:
            sys.exit(f"{page} is not up to date: run python3 {pathlib.Path(__file__).relative_to(SOURCE)}")
    there = {p.parent.name for p in (SOURCE / "experiments").glob("*/expected.json")}
    if there - named:
        sys.exit(f"no page of docs/ shows anything of {', '.join(sorted(there - named))}")


if __name__ == "__main__":
    main()
