"""Numbers and texts as columns of Arrow and back, by their buffers.

`pyarrow.array` and `to_numpy` import pandas, which may take longer than the run that is recorded.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["array_of", "numbers_of", "texts_of"]


def array_of(values: npt.NDArray[Any], kind: "pa.DataType") -> "pa.Array":
    """Return numbers as a column of a kind."""
    import pyarrow as pa

    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


def texts_of(values: Sequence[str]) -> "pa.Array":
    """Return a column of texts."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def numbers_of(column: "pa.Array") -> npt.NDArray[Any]:
    """Return a column of numbers, none of which is missing, as an array; not to be written to."""
    values = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return values[column.offset : column.offset + len(column)]
