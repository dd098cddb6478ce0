"""Files of requests to a memory: clock, address, whether it writes, and channel, as CSV or Parquet."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import open_output

COLUMNS = ("clock", "address", "write", "channel")
"""Clock of the memory, or of the machine if it has none, in which a request arrives at its channel; byte address; 1 of
a write; channel, a controller of `hc2`."""

_MOST = {"clock": 1 << 40, "address": 1 << 48, "write": 2, "channel": 1 << 16}
"""Upper bound of the numbers of each column, exclusive."""


def write_traffic(rows: pd.DataFrame, path: str) -> None:
    """Write requests to a file, as CSV, or as Parquet if its name ends in ``.parquet``.

    Raises
    ------
    InputError
        It could not be written.
    """
    with open_output(path) as file:
        if path.endswith(".parquet"):
            rows.to_parquet(file, index=False)
        else:
            rows.to_csv(file, index=False)


def read_traffic(path: str, *, clocks: bool) -> pd.DataFrame:
    """Return the requests of a file by arrival.

    Parameters
    ----------
    path : str
        The file; as of `write_traffic`.
    clocks : bool
        Whether it must have clocks.

    Raises
    ------
    InputError
        It cannot be read, lacks a column, or has another value than a whole number in range. One line that names it.
    """
    with refusing(OSError, pa.ArrowException, ValueError, path=path):
        read = pd.read_parquet if Path(path).suffix == ".parquet" else pd.read_csv
        rows = read(path)
    for name in ("address", "write", *(["clock"] if clocks else [])):
        if name not in rows:
            raise InputError(f"has no column {name}: a file of requests has {', '.join(COLUMNS)}", path=path)
    if rows.empty:
        raise InputError("has no requests", path=path)
    rows = rows[[name for name in COLUMNS if name in rows]]
    for name in rows:
        numbers = pd.to_numeric(rows[name], errors="coerce")
        wrong = numbers.isna() | (numbers < 0) | (numbers >= _MOST[name]) | (numbers % 1 != 0)
        if wrong.any():
            place = int(wrong.to_numpy().argmax())
            text = f"{name} must be a whole number from 0 to {_MOST[name] - 1}, not {rows[name].iloc[place]}"
            raise InputError(text, path=path, line=place + 2)
    rows = rows.astype("int64")
    return rows.sort_values("clock", kind="stable", ignore_index=True) if clocks else rows
