# SPDX-License-Identifier: BSD-3-Clause
"""vhem: cluster hidden Markov models, and time series through them.

    sequences --cluster--> groups, and a model of each
    sequences --fit_each--> models --VHEM--> clusters and centres --VHEMTree--> hierarchy

The same library as the command ``vhem``: the same seed gives the same numbers.
"""
from __future__ import annotations

from . import datasets, metrics, plot
from ._ffi import version as _version
from ._lib import backends, methods
from ._run import set_backend
from .classify import Classes, CrossValidation, HMMClassifier, TagModel
from .cluster import VBHEM, VHEM, ModelClustering, VHEMTree, cluster
from .data import Sequences
from .errors import Error, FileError, InputError, VhemWarning
from .estimate import HMM, HMMMixture, fit_each, fit_pieces
from .files import load
from .model import H3M, Model
from .result import Clustering, Tree
from .scale import SequenceScaler
from .texture import Texture, Textures, fit_textures
from . import distributed  # isort: skip

__version__ = _version()
__all__ = [
    "Classes", "Clustering", "CrossValidation", "Error", "FileError", "H3M", "HMM", "HMMClassifier",
    "HMMMixture", "InputError", "Model", "ModelClustering", "SequenceScaler", "Sequences", "TagModel",
    "Texture", "Textures", "Tree", "VBHEM", "VHEM", "VHEMTree", "VhemWarning", "backends", "cluster", "datasets",
    "distributed", "fit_each", "fit_pieces", "fit_textures", "load", "methods", "metrics", "plot", "set_backend",
]
