# SPDX-License-Identifier: BSD-3-Clause
"""Names for types that come up everywhere."""
from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
