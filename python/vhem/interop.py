# SPDX-License-Identifier: BSD-3-Clause
"""Models of other programs: hmmlearn objects, and the .mat files of the EMHMM toolbox.

Nothing here is imported before it is used: hmmlearn and SciPy are needed only by those who have such models.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

import numpy as np

from . import _mat
from .errors import Error, InputError

if TYPE_CHECKING:
    from .model import H3M, Model

# ---- hmmlearn ----------------------------------------------------------------------------------------------


def is_hmmlearn(x: Any) -> bool:
    """Is this a fitted hmmlearn model, or something with the same attributes?"""
    gaussian = all(
        hasattr(x, name) for name in ("startprob_", "transmat_", "means_", "covars_", "covariance_type"))
    return gaussian or is_hmmlearn_counts(x)


def from_hmmlearn(hmm: Any) -> Dict[str, Any]:
    """The arrays of a fitted GaussianHMM or GMMHMM, as keywords of :class:`vhem.Model`.

    Spherical covariances become diagonal ones and tied covariances full ones: the same distributions.
    """
    mu, kind = np.asarray(hmm.means_, np.float64), hmm.covariance_type
    covars = np.asarray(hmm.covars_, np.float64)
    S, d = mu.shape[0], mu.shape[-1]
    if mu.ndim == 2:
        if kind == "spherical":  # covars_ of hmmlearn 0.3 has d copies too many
            each = np.reshape(getattr(hmm, "_covars_", covars), (S, -1))
            cov = np.broadcast_to(each[:, :1], (S, d))
        elif kind == "diag":
            cov = covars if covars.ndim == 2 else np.diagonal(covars, axis1=1, axis2=2)
        else:
            cov = np.broadcast_to(covars, (S, d, d))
        c = None
    else:
        shapes = {
            "spherical": covars[..., None] if covars.ndim == 2 else covars, "diag": covars, "full": covars,
            "tied": covars[:, None] if covars.ndim == 3 else covars
        }
        if kind not in shapes:
            raise InputError(f"covariance_type is {kind!r}, must be one of {', '.join(shapes)}")
        cov = np.broadcast_to(shapes[kind], mu.shape + (() if kind in ("spherical", "diag") else (d,)))
        c = hmm.weights_
    return {"pi": hmm.startprob_, "A": hmm.transmat_, "mu": mu, "cov": np.array(cov), "c": c}


def is_hmmlearn_counts(x: Any) -> bool:
    """Is this a fitted PoissonHMM or CategoricalHMM?  A MultinomialHMM has emissionprob_ too, and n_trials."""
    chain = all(hasattr(x, name) for name in ("startprob_", "transmat_"))
    return chain and (hasattr(x, "lambdas_") or hasattr(x, "emissionprob_")) and not hasattr(x, "n_trials")


def params_of_hmmlearn(hmm: Any) -> Dict[str, Any]:
    """The arrays of a fitted PoissonHMM or CategoricalHMM, as keywords of :meth:`vhem.Model.from_params`.

    Symbols are named 0, 1, ..., as hmmlearn numbers them.
    """
    told: Dict[str, Any] = {"pi": hmm.startprob_, "A": hmm.transmat_}
    if hasattr(hmm, "lambdas_"):
        return {**told, "emission": "poisson", "rate": hmm.lambdas_}
    p = np.asarray(hmm.emissionprob_, np.float64)
    return {**told, "emission": "categorical", "p": p, "symbols": [str(v) for v in range(p.shape[1])]}


def _counts_to_hmmlearn(hmmlearn: Any, model: "Model") -> Any:
    if model.emission == "poisson":
        made = hmmlearn.PoissonHMM(model.S, init_params="")
        made.lambdas_, made.n_features = model.rates[:, 0].copy(), model.d
    else:
        made = hmmlearn.CategoricalHMM(model.S, init_params="")
        made.emissionprob_, made.n_features = model.probabilities[:, 0].copy(), model.probabilities.shape[2]
    made.startprob_, made.transmat_ = model.pi.copy(), model.A.copy()
    return made


def to_hmmlearn(model: "Model") -> Any:
    """A fitted hmmlearn object with the parameters of an HMM."""
    try:
        from hmmlearn import hmm as hmmlearn  # type: ignore[import-untyped]
    except ImportError:
        raise Error("hmmlearn is not installed: pip install hmmlearn") from None
    if model.emission == "categorical" or (model.emission == "poisson" and model.M == 1):
        return _counts_to_hmmlearn(hmmlearn, model)
    if model.mu is None:
        raise InputError(f"the emission is {model.emission} with n_mix = {model.M}, but hmmlearn has only Gaussian "
                         "mixtures, symbols, and counts with one component")
    kind = "full" if model.emission == "gaussian-full" else "diag"
    if model.M == 1:
        made = hmmlearn.GaussianHMM(model.S, covariance_type=kind, init_params="")
        made.means_, made.covars_ = model.mu[:, 0].copy(), model.cov[:, 0].copy()
    else:
        made = hmmlearn.GMMHMM(model.S, model.M, covariance_type=kind, init_params="")
        made.means_, made.covars_, made.weights_ = model.mu.copy(), model.cov.copy(), model.c.copy()
    made.startprob_, made.transmat_, made.n_features = model.pi.copy(), model.A.copy(), model.d
    return made


# ---- EMHMM -------------------------------------------------------------------------------------------------
# An HMM of the toolbox is a struct with prior [S], trans [S][S] and pdf, a cell of S structs with mean [d]
# and cov [d][d]; a file holds one, a cell of them, or a group struct whose field hmms is that cell.


def _plain(x: Any) -> Any:
    """What SciPy reads with structs as dictionaries, and arrays of them and cell arrays as lists."""
    if not isinstance(x, np.ndarray) or not (x.dtype.names or x.dtype == object):
        return x
    if x.dtype == object:
        return [_plain(inner) for inner in x.ravel()]
    structs = [{name: _plain(one[name]) for name in x.dtype.names} for one in x.ravel()]
    return structs[0] if len(structs) == 1 else structs


def _structs(x: Any) -> List[Dict[str, Any]]:
    """Every HMM inside x, in the order of the file."""
    if isinstance(x, dict) and {"prior", "trans", "pdf"} <= set(x):
        return [x]
    inside = x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    return [struct for value in inside for struct in _structs(value)]


def _pdf_list(pdf: Any) -> List[Dict[str, Any]]:
    return [pdf] if isinstance(pdf, dict) else list(pdf)


def _hmm_of_struct(struct: Dict[str, Any], name: str) -> "Model":
    from .model import Model
    pdf = _pdf_list(struct["pdf"])
    mu = np.array([np.ravel(p["mean"]) for p in pdf], np.float64)
    d = mu.shape[1]
    cov = [np.asarray(p["cov"], np.float64) for p in pdf]
    full = np.array([np.diag(np.ravel(v)) if v.size == d and d > 1 else v.reshape(d, d) for v in cov])
    return Model(np.ravel(struct["prior"]), np.reshape(struct["trans"], (len(mu), len(mu))), mu, full,
                 name=name)


def models_in(content: Dict[str, Any]) -> List["Model"]:
    """The HMMs among the variables of a .mat file: those of the EMHMM toolbox, or of anyone who writes such structs."""
    found = _structs({name: _plain(value) for name, value in content.items()})
    return [_hmm_of_struct(struct, f"hmm{i + 1}") for i, struct in enumerate(found)]


def models_of_mat(path: Any) -> List["Model"]:
    content = _mat.contents(path)
    found = models_in(content)
    if not found:
        raise InputError(
            f"{path}: no struct has the fields prior, trans and pdf; the file holds {', '.join(content) or 'nothing'}")
    return found


def save_mat(h3m: "H3M", path: Any) -> None:
    """Writes a cell array ``hmms`` of structs as the toolbox has them, with full covariances."""
    from scipy.io import savemat
    hmms = np.empty(len(h3m), dtype=object)
    for i, m in enumerate(h3m):
        if m.mu is None or m.M != 1:
            raise InputError(
                f"HMM {i} has {m.M} components per state, but a .mat file has one Gaussian per state; save as .json "
                "or .h5")
        pdf = np.empty(m.S, dtype=object)
        for s in range(m.S):
            cov = m.cov[s, 0] if m.cov.ndim == 4 else np.diag(m.cov[s, 0])
            pdf[s] = {"mean": m.mu[s, 0], "cov": cov}
        hmms[i] = {"prior": m.pi[:, None], "trans": m.A, "pdf": pdf}
    savemat(path, {"hmms": hmms})
