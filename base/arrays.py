"""The kinds of NumPy arrays that signatures name, each by what its elements are.

A shape is not part of a type here; a docstring or the name of an argument says what a dimension
means. A module adds a name of its own where the elements mean more than their type says, as in
`Elements: TypeAlias = Bytes` for encoded elements of a group.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
Codes: TypeAlias = "np.ndarray[Any, Any]"  # each record's value as a number, of any integer type
Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Bits: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"  # each a 0 or a 1, not packed
Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
Blocks: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"  # each of 128 bits: two words
UInt32s: TypeAlias = "np.ndarray[Any, np.dtype[np.uint32]]"
Int32s: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"  # places of records in a table
Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
