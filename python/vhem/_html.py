# SPDX-License-Identifier: BSD-3-Clause
"""How models and results show themselves in a notebook: small tables without scripts."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, List, Sequence

if TYPE_CHECKING:
    from .model import Model, Models
    from .result import Clustering
    from .texture import Texture

_ROWS = 20                                   # more are counted, not shown


def _cell(value: Any) -> str:
    """A number with four digits; a probability also as a shade."""
    if isinstance(value, float):
        shade = f" style='background:rgba(31,119,180,{0.6 * value:.2f})'" if 0 <= value <= 1 else ""
        return f"<td{shade}>{value:.4g}</td>"
    return f"<td>{html.escape(str(value))}</td>"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines: List[str] = [
        "<table><thead><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr></thead>"
    ]
    lines += ["<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows]
    return "".join(lines) + "</table>"


def _title(text: str) -> str:
    return f"<p><b>{html.escape(text.strip('<>'))}</b></p>"


def _short(values: Any) -> str:
    found = [f"{v:.4g}" for v in values[:6]]
    return "(" + ", ".join(found) + (", ..." if len(values) > 6 else "") + ")"


def model(m: "Model") -> str:
    head = ["state", "pi", *(f"to {s}" for s in range(m.S))] + (["mean"] if m.mu is not None else [])
    rows = []
    for s in range(m.S):
        row: List[Any] = [s, float(m.pi[s]), *map(float, m.A[s])]
        rows.append(row + ([_short(m.c[s] @ m.mu[s])] if m.mu is not None else []))
    return _title(repr(m)) + _table(head, rows)


def texture(dt: "Texture") -> str:
    """The matrix that moves the state, row by row."""
    return _title(repr(dt)) + _table(["", *map(str, range(dt.n))], [[k, *map(float, dt.A[k])] for k in range(dt.n)])


def models(of: "Models[Any]") -> str:
    shown = [of[i] for i in range(min(len(of), _ROWS))]
    sizes = ["S", "M"] if hasattr(shown[0], "S") else ["n"]
    rows = [[i, m.name, m.label, m.omega, *(getattr(m, size) for size in sizes)] for i, m in enumerate(shown)]
    more = f"<p>and {len(of) - _ROWS} more</p>" if len(of) > _ROWS else ""
    return _title(repr(of)) + _table(["", "name", "label", "omega", *sizes], rows) + more


def clustering(c: "Clustering") -> str:
    rows = []
    for j in range(c.n_clusters):
        members = [c.names[i] or str(i) for i in range(len(c.labels)) if c.labels[i] == j]
        names = ", ".join(members[:8]) + (", ..." if len(members) > 8 else "")
        weight = c.centers[j].omega if c.centers is not None else float("nan")
        rows.append([j, len(members), weight, names])
    tables = _title(repr(c)) + _table(["cluster", "size", "omega", "members"], rows)
    return tables + (_table(c.graphs[0]._fields, c.graphs) if c.graphs else "")
