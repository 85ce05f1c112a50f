# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with matplotlib, which is imported when the first one is drawn.

Every function takes a fitted estimator, or a result or models, draws on ``ax`` (a new figure by default) and
returns the axes.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._inputs import as_models
from .errors import Error, InputError
from .model import Model, one_model
from .result import Clustering, Tree, as_tree


def _axes(ax: Any, **size: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise Error("matplotlib is needed for pictures: pip install 'vhem[plot]', or pip install matplotlib") from None
    return plt.subplots(**size)[1]


def _level(result: Any, level: int) -> Clustering:
    if isinstance(result, Clustering):
        return result
    return as_tree(result)[level]


def bound(result: Any, level: int = 0, ax: Any = None) -> Any:
    """The objective after each iteration of the best start and, where known, of the others; and their ends."""
    c = _level(result, level)
    if c.bound is None:
        raise InputError(f"method {c.method} has no objective to draw")
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
        raise InputError(f"method {c.method} has no soft assignments to draw")
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
        raise InputError(f"there are {len(known)} classes, {len(tree[0].labels)} items were clustered")
    names, codes = np.unique(known, return_inverse=True)
    ax = _axes(ax, figsize=(8, 1 + 1.5 * len(tree)))
    import matplotlib.pyplot as plt
    colors = plt.get_cmap("tab20")(np.arange(len(names)) % 20)
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


def model(hmm: Any, dims: Tuple[int, int] = (0, 1), background: Any = None, ax: Any = None) -> Any:
    """The states of an HMM in two of its dimensions: ellipses of two standard deviations, and transitions.

    ``background`` is a picture, such as what people looked at, with its origin in the upper left.  An HMM of
    one dimension is drawn as densities.
    """
    m = one_model(hmm)
    if m.mu is None:
        raise InputError(f"the emission is {m.emission}, only Gaussians are drawn")
    ax = _axes(ax)
    if background is not None:
        ax.imshow(background)
    if m.d == 1:
        return _densities(m, ax)
    import matplotlib.pyplot as plt
    colors = plt.get_cmap("tab10")
    centers = np.einsum("sm,smd->sd", m.c, m.mu)[:, list(dims)]
    for s in range(m.S):
        for k in range(m.M):
            ax.add_patch(_ellipse(m.mu[s, k][list(dims)], _cov(m, s, k, dims), alpha=0.1 + 0.4 * m.c[s, k],
                                  facecolor=colors(s % 10), edgecolor=colors(s % 10)))
        ax.plot(*centers[s], "o", color=colors(s % 10), markersize=3 + 9 * float(m.pi[s]))
        ax.annotate(str(s), centers[s], xytext=(4, 4), textcoords="offset points")
    for s in range(m.S):
        for r in range(m.S):
            if s != r and m.A[s, r] >= 0.05:
                ax.annotate("", centers[r], centers[s],
                            arrowprops={"arrowstyle": "->", "lw": 3 * float(m.A[s, r]), "alpha": 0.6,
                                        "connectionstyle": "arc3,rad=0.15"})
    ax.set(title=m.name or "HMM", xlabel=f"dimension {dims[0]}", ylabel=f"dimension {dims[1]}")
    ax.autoscale_view()
    return ax


def _densities(m: Model, ax: Any) -> Any:
    mean, sd = m.mu[..., 0], np.sqrt(m.cov.reshape(m.S, m.M))
    x = np.linspace((mean - 4 * sd).min(), (mean + 4 * sd).max(), 400)
    for s in range(m.S):
        density = (m.c[s] / sd[s] / np.sqrt(2 * np.pi) *
                   np.exp(-0.5 * ((x[:, None] - mean[s]) / sd[s])**2)).sum(axis=1)
        ax.plot(x, density, label=f"state {s}, pi = {m.pi[s]:.2f}, stays {m.A[s, s]:.2f}")
    ax.set(title=m.name or "HMM", xlabel="dimension 0", ylabel="density")
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
                ax.text(*middle, f"{p:.2f}", fontsize=8, ha="center", va="center")
        ax.text(*at[s], f"{s}\n{m.A[s, s]:.2f}", ha="center", va="center",
                bbox={"boxstyle": "circle", "fc": "white", "lw": 1 + 3 * float(m.pi[s])})
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), title=m.name or "transitions")
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def centers(result: Any, dims: Tuple[int, int] = (0, 1), background: Any = None, level: int = 0) -> List[Any]:
    """Every centre of a level, or every HMM of a set, side by side."""
    import matplotlib.pyplot as plt
    if isinstance(result, (Clustering, Tree)) or hasattr(result, "result_"):
        found: Any = _level(result, level).centers
    else:
        found = as_models(result)
    if found is None:
        raise InputError("the method has no centres to draw")
    figure, axes = plt.subplots(1, len(found), figsize=(4 * len(found), 4), squeeze=False, sharex=True,
                                sharey=True)
    for j, (m, ax) in enumerate(zip(found, axes[0])):
        model(m, dims, background, ax)
        ax.set_title(f"{m.name or f'centre {j}'}, omega = {m.omega:.2f}")
    figure.tight_layout()
    return list(axes[0])


def dendrogram(models: Any, *, tau: Optional[int] = None, method: str = "average", ax: Any = None,
               **more: Any) -> Any:
    """Models joined by their divergence in both directions; for a fitted VHEM its models."""
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
