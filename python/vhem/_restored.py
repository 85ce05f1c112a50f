# SPDX-License-Identifier: BSD-3-Clause
"""The parameters of the estimator that made what is in a file, for its load.

A file of this package says in its provenance what was asked for; one of the command has the options that were used.
"""
from __future__ import annotations

from typing import Any, Collection, Dict, Mapping, Optional

from ._tables import option_table

_CLUSTERS = ("ModelClustering", "VHEM", "VHEMTree", "VBHEM")
_CLASSES = ("HMMClassifier", "TagModel")
_STARTS = ("auto", "base", "far", "emissions", "pooled", "dealt")
_PIECE = {"K": "n_piece", "S": "n_states", "M": "n_mix", "restarts": "n_init", "emission": "covariance_type",
          "prior": "fit_prior"}


def _asked(provenance: Any, estimators: Collection[str]) -> Optional[Dict[str, Any]]:
    """The options that one of these estimators was given; None when something else made the file."""
    made = provenance if isinstance(provenance, Mapping) else {}
    options = made.get("options")
    by = str(made.get("command")).rpartition(".")[2]
    known = made.get("program") == "vhem (Python)" and by in estimators and isinstance(options, Mapping)
    return dict(options) if known else None  # type: ignore[arg-type]


def _seed(provenance: Any) -> Dict[str, Any]:
    """random_state; 0 is that of None."""
    seed = provenance.get("seed") if isinstance(provenance, Mapping) else None
    return {"random_state": seed} if isinstance(seed, int) and seed > 0 else {}


def _set(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options that have a value: to the library -1 is none."""
    return {key: value for key, value in options.items()
            if value is not None and not (isinstance(value, (int, float)) and value < 0)}


def _covariance_type(emission: str) -> str:
    return emission[len("gaussian-"):] if emission.startswith("gaussian-") else emission


def of_clusters(known: Collection[str], tree: Any, for_sequences: Optional[str]) -> Dict[str, Any]:
    """Parameters, of those that are known, from a tree; for_sequences is the method of sequences without one."""
    lowest, made = tree[0], tree.provenance
    asked = _asked(made, _CLUSTERS)
    options = _used(lowest, for_sequences) if asked is None else asked
    names = {"S": "n_states" if "n_states" in known else "n_states_max", "M": "n_mix", "restarts": "n_init",
             "emission": "covariance_type"}
    if isinstance(options.get("emission"), str):
        options["emission"] = _covariance_type(options["emission"])
    found = {names.get(key, key): value for key, value in options.items() if names.get(key, key) in known}
    further = {key: value for key, value in options.items() if names.get(key, key) not in known and key != "method"}
    if asked is not None and further:
        found["options"] = further
    sizes = tuple(max(level.n_clusters, level.n_clusters_max) for level in tree)
    found["n_clusters" if "n_clusters" in known else "n_clusters_max"] = sizes if len(sizes) > 1 else sizes[0]
    return {**found, **_seed(made)}


def _takes(method: str, option: str) -> bool:
    row = option_table("cluster").get(option)
    return row is None or row["methods"] is None or method in row["methods"].split()


def _used(level: Any, for_sequences: Optional[str]) -> Dict[str, Any]:
    """Options that a level was made with; its neighbours follow from the number of models, the shape of the centres of
    "auto" from what was found."""
    options = {key: value for key, value in _set(level.options).items() if _takes(level.method, key)}
    for name in ("neighbours", *(("S", "M", "topology") if level.method == "auto" else ())):
        options.pop(name, None)
    if options.get("init") not in _STARTS:
        options.pop("init", None)
    if options.get("method") in (("vhem", "hem-dtm") if for_sequences is None else (for_sequences,)):   # the default
        del options["method"]
    if "prune" in options:
        options["prune"] = bool(options["prune"])
    return options


def of_classes(known: Collection[str], classes: Any) -> Dict[str, Any]:
    """Parameters, of those that are known, from models of classes; their store is a file of its own."""
    made = classes.provenance
    asked = _asked(made, _CLASSES)
    if asked is None or "piece" not in asked:
        return {**_used_by_classes(classes.options), **_seed(made)}
    piece, reduce = asked.pop("piece"), asked.pop("reduce", {})
    found = {_PIECE.get(key, key): value for key, value in piece.items() if _PIECE.get(key, key) in known}
    found.update({key: reduce[key] for key in ("tau", "nv") if key in reduce})
    found.update({key: asked[key] for key in ("estimator", "chunk", "prior") if key in asked})
    if "K" in asked:
        found["n_components"] = asked["K"]
    if "covariance_type" in found:
        found["covariance_type"] = _covariance_type(found["covariance_type"])
    further = {key: value for key, value in asked.items()
               if key not in ("K", "estimator", "chunk", "prior", "by_group", "store")}
    for part, given in ("piece", piece), ("reduce", reduce):
        rest = {key: value for key, value in given.items()
                if key != "emission" and found.get(_PIECE.get(key, key)) != value}
        further.update({part: rest} if rest else {})
    return {**found, **({"options": further} if further else {}), **_seed(made)}


def _used_by_classes(options: Mapping[str, Any]) -> Dict[str, Any]:
    piece, reduce, whole = _set(options["piece"]), _set(options["reduce"]), _set(options)
    found = {"n_components": whole.get("K"), "estimator": whole.get("estimator"), "chunk": whole.get("chunk"),
             "prior": whole.get("prior"), "n_piece": piece.get("K"), "n_states": piece.get("S"),
             "model": piece.get("model"), "tau": reduce.get("tau"), "nv": reduce.get("nv")}
    if piece.get("model") != "dtm":
        found.update(n_mix=piece.get("M"), topology=piece.get("topology"),
                     covariance_type=_covariance_type(piece.get("emission") or "gaussian-diag"),
                     fit_prior="none" if piece.get("prior") == "none" else None)      # another one is learned anew
    return found
