# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with matplotlib, which is imported when the first one is drawn.

Every function takes a fitted estimator, or a result or models, draws on ``ax`` (a new figure by default) and
returns the axes.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._inputs import as_models
from ._types import Array
from .data import is_path
from .errors import Error, InputError
from .model import Model, one_model
from .result import Clustering, Tree, as_tree


# Of states, as in the report.
COLORS = ("#332288", "#cc6677", "#44aa99", "#ac8e1f", "#a84293", "#83c9f2", "#4d7f44", "#afb243", "#882255", "#2d84b7")


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise Error("matplotlib is needed for plots: pip install 'vhem[plot]', or pip install matplotlib") from None
    return plt


def _axes(ax: Any, **size: Any) -> Any:
    return _pyplot().subplots(**size)[1] if ax is None else ax


def _picture(given: Any) -> Any:
    """A picture as an array, also of the path of its file."""
    if not is_path(given):
        return given
    try:
        return _pyplot().imread(given)
    except OSError as error:
        raise InputError(f"background is {str(given)!r}, which cannot be read as a picture: {error}") from None
    except (SyntaxError, ValueError):
        raise InputError(f"background is {str(given)!r}, which is not a picture that matplotlib reads") from None


def _level(result: Any, level: int) -> Clustering:
    if isinstance(result, Clustering):
        return result
    return as_tree(result)[level]


def bound(result: Any, level: int = 0, ax: Any = None) -> Any:
    """The objective after each iteration of the best start and, where known, of the others; and their ends."""
    c = _level(result, level)
    if c.bound is None:
        raise InputError(f"method {c.method} has no objective to plot")
    ax = _axes(ax)
    for run in c.runs:
        if run["bounds"] is not None:
            ax.plot(range(len(run["bounds"])), run["bounds"], color="0.8", linewidth=0.8)
    ax.plot(range(len(c.bound)), c.bound, marker=".", label="best start")
    ended = [run for run in c.runs if run["finished"]]
    ax.plot([run["n_iter"] for run in ended], [run["bound"] for run in ended], "x", color="0.5",
            label=f"ends of {len(ended)} starts")
    ax.set(xlabel="iteration", ylabel="bound (nats)", title=f"{c.n_clusters} clusters")
    ax.legend()
    return ax


def membership(result: Any, level: int = 0, ax: Any = None) -> Any:
    """How surely each input belongs to each cluster, sorted by cluster."""
    c = _level(result, level)
    if c.z is None:
        raise InputError(f"method {c.method} has no soft assignments to plot")
    order = np.lexsort((-c.z.max(axis=1), c.labels))
    ax = _axes(ax, figsize=(1 + 0.6 * c.n_clusters, 1 + 0.18 * min(len(order), 60)))
    image = ax.imshow(c.z[order], aspect="auto", vmin=0, vmax=1, cmap="Blues", interpolation="nearest")
    if len(order) <= 60:
        ax.set_yticks(range(len(order)))
        ax.set_yticklabels([c.names[i] or str(i) for i in order], fontsize=7)
    ax.set_xticks(range(c.n_clusters))
    ax.set(xlabel="cluster", title="membership z")
    ax.figure.colorbar(image, ax=ax)
    return ax


def levels(result: Any, classes: Optional[Sequence[Any]] = None, ax: Any = None) -> Any:
    """For every level, lowest first, a bar for each cluster, stacked by known classes."""
    tree = as_tree(result)
    known = np.asarray(["all"] * len(tree[0].labels) if classes is None else classes)
    if len(known) != len(tree[0].labels):
        raise InputError(f"there are {len(known)} classes, but {len(tree[0].labels)} items were clustered; give one "
                         "class for each item")
    names, codes = np.unique(known, return_inverse=True)
    ax = _axes(ax, figsize=(8, 1 + 1.5 * len(tree)))
    colors = _pyplot().get_cmap("tab20")(np.arange(len(names)) % 20)
    for l, level in enumerate(tree):
        counts = np.zeros((level.n_clusters, len(names)))
        np.add.at(counts, (level.base_labels, codes), 1)
        share = counts / max(1.0, counts.sum(axis=1).max())
        x = (np.arange(level.n_clusters) + 0.5) / level.n_clusters
        below = np.full(level.n_clusters, float(l))
        for k in range(len(names)):
            ax.bar(x, 0.8 * share[:, k], 0.8 / level.n_clusters, bottom=below, color=colors[k],
                   label=names[k] if l == 0 and classes is not None else None)
            below = below + 0.8 * share[:, k]
    ax.set_yticks(np.arange(len(tree)))
    ax.set_yticklabels([f"level {l + 1}: {level.n_clusters}" for l, level in enumerate(tree)])
    ax.set_xticks([])
    ax.set(title="clusters of each level")
    if classes is not None:
        ax.legend(fontsize=7, bbox_to_anchor=(1, 1), loc="upper left")
    return ax


def _ellipse(mean: Any, cov: Any, **style: Any) -> Any:
    """Two standard deviations around a mean."""
    from matplotlib.patches import Ellipse
    values, vectors = np.linalg.eigh(cov)
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    width, height = 4 * np.sqrt(np.maximum(values[::-1], 0))
    return Ellipse((float(mean[0]), float(mean[1])), float(width), float(height), angle=float(angle), **style)


def _cov(m: Model, s: int, k: int, dims: Tuple[int, int]) -> Any:
    pick = list(dims)
    return m.cov[s, k][np.ix_(pick, pick)] if m.cov.ndim == 4 else np.diag(m.cov[s, k][pick])


def _dimensions(m: Model, dims: Sequence[Any]) -> Tuple[List[int], List[str]]:
    """Two dimensions by number or by name, and what to write at their axes."""
    known = [column["name"] for column in m.columns]
    found = []
    for dim in dims:
        if isinstance(dim, str) and dim not in known:
            raise InputError(f"there is no column {dim!r}; the columns are "
                             f"{', '.join(filter(None, known)) or 'not named'}")
        k = known.index(dim) if isinstance(dim, str) else int(dim)
        if not 0 <= k < m.d:
            raise InputError(f"there is no dimension {k}; the HMM has {m.d}, counted from 0")
        found.append(k)
    return found, [(known[k] if k < len(known) else "") or f"dimension {k}" for k in found]


def _draw_states(m: Model, dims: List[int], ax: Any) -> Array:
    """Ellipses, with a dot at the mean of each state, as large as it is likely at the start."""
    means: Array = np.einsum("sm,smd->sd", m.c, m.mu)[:, dims]
    for s in range(m.S):
        color = COLORS[s % len(COLORS)]
        for k in range(m.M):
            ax.add_patch(_ellipse(m.mu[s, k][dims], _cov(m, s, k, (dims[0], dims[1])), alpha=0.1 + 0.4 * m.c[s, k],
                                  facecolor=color, edgecolor=color))
        ax.plot(*means[s], "o", color=color, markersize=3 + 9 * float(m.pi[s]))
    ax.autoscale_view()
    return means


def _bend(at: Array, s: int, r: int) -> float:
    """How far the arrow from s to r leaves the straight line, in its length: more if another state is on it."""
    ahead = at[r] - at[s]
    length = float(np.hypot(*ahead))
    along = (at - at[s]) @ ahead / length
    apart = np.abs((at - at[s]) @ (ahead[::-1] * [1, -1])) / length
    others = np.delete(np.arange(len(at)), [s, r])
    return 0.5 if np.any((along[others] > 0) & (along[others] < length) & (apart[others] < 15)) else 0.2


def _join_states(m: Model, means: Array, ax: Any) -> None:
    """An arrow with its probability for each likely transition between means that are far enough apart to see it, and
    the number of each state where no other is.  Call it when the limits of the axes are settled."""
    from matplotlib.patheffects import withStroke
    at = ax.transData.transform(means) * 72 / ax.figure.dpi
    for s in range(m.S):
        for r in range(m.S):
            if s == r or m.A[s, r] < 0.05 or np.hypot(*(at[r] - at[s])) < 30:
                continue
            bend = _bend(at, s, r)
            ax.annotate("", means[r], means[s], arrowprops={
                "arrowstyle": "->", "lw": 0.5 + 2.5 * float(m.A[s, r]), "alpha": 0.7,
                "connectionstyle": f"arc3,rad={bend}"})
            ahead = at[r] - at[s]
            side = ahead[::-1] * [1, -1]
            third = ahead / 3 + (4 / 9 * bend + 7 / np.hypot(*side)) * side     # beside the first third of the arrow
            ax.annotate(f"{m.A[s, r]:.2f}", means[s], xytext=third, textcoords="offset points", fontsize=8, ha="center",
                        va="center", path_effects=[withStroke(linewidth=2, foreground="white")])
    taken: List[Any] = []
    for s in range(m.S):
        ring = [(9 + 8 * k) * np.array([np.cos(t), np.sin(t)]) for k in range(4)
                for t in np.pi / 4 + np.pi / 8 * np.arange(16)]
        free = [step for step in ring if all(np.hypot(*(at[s] + step - other)) > 13 for other in taken)]
        step = free[0] if free else ring[0]
        taken.append(at[s] + step)
        ax.annotate(str(s), means[s], xytext=step, textcoords="offset points", ha="center", va="center",
                    weight="bold", color=COLORS[s % len(COLORS)],
                    bbox={"boxstyle": "round,pad=0.1", "fc": "white", "alpha": 0.7, "lw": 0},
                    arrowprops={"arrowstyle": "-", "lw": 0.6, "color": "0.3"})


def model(hmm: Any, dims: Sequence[Any] = (0, 1), background: Any = None, ax: Any = None, y_down: bool = False) -> Any:
    """The states of an HMM in two of its dimensions: ellipses of two standard deviations, and transitions.

    ``dims`` are numbers or names of columns.  ``background`` is a picture, an array or the path of a file, such as what
    people looked at, with its origin in the upper left; ``y_down`` turns the axis without a picture.  An HMM of one
    dimension is drawn as densities.
    """
    m = one_model(hmm)
    ax = _axes(ax)
    means = _draw_model(m, dims, background, ax, y_down)
    if means is not None:
        _join_states(m, means, ax)
    return ax


def _draw_model(m: Model, dims: Sequence[Any], background: Any, ax: Any, y_down: bool) -> Optional[Array]:
    """All but transitions and numbers of states; the means of the states, None of an HMM of one dimension."""
    if m.mu is None:
        raise InputError(f"the emission is {m.emission}, but only Gaussians can be plotted; the report shows all "
                         "families")
    if m.d == 1:
        _densities(m, ax)
        return None
    if background is not None:
        ax.imshow(_picture(background))
    found, names = _dimensions(m, dims)
    means = _draw_states(m, found, ax)
    ax.set(title=m.name or "HMM", xlabel=names[0], ylabel=names[1])
    if y_down and not ax.yaxis_inverted():
        ax.invert_yaxis()
    return means


def _densities(m: Model, ax: Any) -> Any:
    mean, sd = m.mu[..., 0], np.sqrt(m.cov.reshape(m.S, m.M))
    x = np.linspace((mean - 4 * sd).min(), (mean + 4 * sd).max(), 400)
    for s in range(m.S):
        density = (m.c[s] / sd[s] / np.sqrt(2 * np.pi) *
                   np.exp(-0.5 * ((x[:, None] - mean[s]) / sd[s])**2)).sum(axis=1)
        ax.plot(x, density, color=COLORS[s % len(COLORS)],
                label=f"state {s}, pi = {m.pi[s]:.2f}, stays {m.A[s, s]:.2f}")
    ax.set(title=m.name or "HMM", xlabel=m.columns[0]["name"] or "dimension 0", ylabel="density")
    ax.legend(fontsize=7)
    return ax


def transitions(hmm: Any, ax: Any = None) -> Any:
    """Transition probabilities as a graph: states on a circle, arrows as thick as they are likely."""
    m = one_model(hmm)
    ax = _axes(ax)
    turn = 2 * np.pi * np.arange(m.S) / m.S
    at = np.column_stack([np.sin(turn), np.cos(turn)])
    for s in range(m.S):
        for r in range(m.S):
            p = float(m.A[s, r])
            if s != r and p >= 0.01:
                ax.annotate(
                    "", at[r], at[s], arrowprops={
                        "arrowstyle": "-|>", "lw": 0.5 + 4 * p, "alpha": 0.3 + 0.7 * p, "shrinkA": 16,
                        "shrinkB": 16, "connectionstyle": "arc3,rad=0.18"
                    })
                middle = 0.5 * (at[s] + at[r]) + 0.18 * 0.5 * (at[r] - at[s])[::-1] * [1, -1]
                ax.text(*middle, f"{p:.2f}", fontsize=8, ha="center", va="center",
                        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "lw": 0})
        ax.text(*at[s], f"{s}\n{m.A[s, s]:.2f}", ha="center", va="center",
                bbox={"boxstyle": "circle", "fc": "white", "ec": COLORS[s % len(COLORS)],
                      "lw": 1 + 3 * float(m.pi[s])})
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), title=m.name or "transitions")
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def centers(result: Any, dims: Sequence[Any] = (0, 1), background: Any = None, level: int = 0,
            y_down: bool = False) -> List[Any]:
    """Every centre of a level, or every HMM of a set, side by side: its states, and below them its transitions.

    ``dims``, ``background`` and ``y_down`` are those of :func:`model`.  Returns the axes of the states.
    """
    if isinstance(result, (Clustering, Tree)) or hasattr(result, "result_"):
        found: Any = _level(result, level).centers
    else:
        found = as_models(result)
    if found is None:
        raise InputError("the method has no centres to plot")
    background = _picture(background)
    figure = _pyplot().figure(figsize=(4 * len(found), 7))
    grid = figure.add_gridspec(2, len(found), height_ratios=(4, 3))
    first = figure.add_subplot(grid[0, 0])
    axes = [first] + [figure.add_subplot(grid[0, j], sharex=first, sharey=first) for j in range(1, len(found))]
    means = [_draw_model(m, dims, background, ax, y_down) for m, ax in zip(found, axes)]
    for j, (m, ax) in enumerate(zip(found, axes)):
        ax.set_title(f"{m.name or f'centre {j}'}, omega = {m.omega:.2f}")
        transitions(m, figure.add_subplot(grid[1, j])).set_title("")
    figure.tight_layout()
    for m, ax, mean in zip(found, axes, means):
        if mean is not None:
            _join_states(m, mean, ax)
    return axes


def dendrogram(models: Any, *, tau: Optional[int] = None, method: str = "average", ax: Any = None,
               **more: Any) -> Any:
    """Models joined by their divergence in both directions; for a fitted VHEM its models, for clusters of sequences,
    which have no model each, the centres."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    from .metrics import distance
    found = as_models(models.models_ if hasattr(models, "models_") else models)
    D = np.maximum(distance(found, tau=tau, symmetric=True), 0)
    D = 0.5 * (D + D.T)
    np.fill_diagonal(D, 0)
    ax = _axes(ax, figsize=(8, 4))
    names = [name or str(i) for i, name in enumerate(found.names)]
    hierarchy.dendrogram(hierarchy.linkage(squareform(D, checks=False), method), labels=names, ax=ax,
                         **{"leaf_rotation": 90, **more})
    ax.set_ylabel("divergence (nats)")
    return ax
