# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a source file includes what its layer must not see.

Rows, lowest first; a folder includes headers of lower rows only, never of a neighbour in the same row.
"""
import pathlib
import re
import sys

ROWS = [
    ["core"],
    ["math"],
    ["data", "model"],
    ["backend", "dist"],
    ["estimate", "reduce"],
    ["cluster", "eval"],
    ["annotate", "report"],
]
LEVEL = {folder: level for level, row in enumerate(ROWS) for folder in row}

# header pattern -> folders that may include it
ONLY = {
    r"(cblas|lapacke|openblas_config|arpack)\.h": {"math"},
    r"(cuda.*|cublas.*)\.h": {"backend/cuda"},
    r"mpi\.h": {"dist"},
    r"jansson\.h": {"model", "cluster", "annotate", "report"},
    r"hdf5(_hl)?\.h": {"model", "data"},
    r"xxhash\.h": {"core"},
}
NEVER = {("reduce", "data")}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def check(root):
    wrong = []
    seen = 0
    for path in sorted(root.glob("src/**/*.[ch]")) + sorted(root.glob("src/**/*.cu")):
        rel = path.relative_to(root / "src")
        folder = rel.parts[0]
        if folder not in LEVEL:
            wrong.append(f"src/{rel}: folder {folder} has no layer; add it to ROWS")
            continue
        for kind, header in INCLUDE.findall(path.read_text()):
            seen += 1
            top = header.split("/")[0]
            if kind == '"' and header != "vhem/vhem.h":
                if top not in LEVEL:
                    wrong.append(f'src/{rel}: "{header}" must be named by its folder, as in "core/ctx.h"')
                elif top != folder and LEVEL[top] >= LEVEL[folder]:
                    wrong.append(f'src/{rel}: layer {folder} may not include "{header}"')
                elif (folder, top) in NEVER:
                    wrong.append(f'src/{rel}: {folder} may never include "{header}"')
            for pattern, allowed in ONLY.items():
                inside = any(str(rel).startswith(a + "/") for a in allowed)
                if re.fullmatch(pattern, header.split("/")[-1]) and not inside:
                    wrong.append(f"src/{rel}: only {', '.join(sorted(allowed))} may include {header}")
    for path in sorted(root.glob("cli/*.[ch]")):
        for kind, header in INCLUDE.findall(path.read_text()):
            seen += 1
            local = kind == '"' and (path.parent / header).exists()
            if kind == '"' and header != "vhem/vhem.h" and not local:
                wrong.append(f'cli/{path.name}: the command sees "vhem/vhem.h" alone, not "{header}"')
    return wrong, seen


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong, seen = check(root)
    print("\n".join(wrong))
    print(f"{seen} includes, {len(wrong)} against the layers")
    return 1 if wrong or seen == 0 else 0


sys.exit(main())
