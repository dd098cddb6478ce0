"""Parts of a machine for which tables have a row in every interval or instruction: AEs, kernels and their FIFOs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.record.tables import MODULES, table_of


class Units:
    """The parts of a machine, as the columns that name them in the rows of a table, in the order of these rows.

    Parameters
    ----------
    engines : int
        Number of AEs.
    kernels : mapping of str to int
        Kernels of an AE by module.
    fifos : mapping of str to sequence of str
        Names of the FIFOs of a kernel by module.

    Attributes
    ----------
    fifos : tuple of str
        Names of all FIFOs; a FIFO's index is its category code.
    """

    def __init__(self, engines: int, kernels: Mapping[str, int], fifos: Mapping[str, Sequence[str]]) -> None:
        self.fifos = tuple(dict.fromkeys(name for own in fifos.values() for name in own))
        codes = {module: [self.fifos.index(name) for name in own] for module, own in fifos.items()}
        modules = list(enumerate(MODULES))
        every = [
            (engine, number, kernel)
            for engine in range(engines)
            for number, module in modules
            for kernel in range(kernels[module])
        ]
        rows: dict[tuple[str, ...], list[tuple[int, ...]]] = {
            ("engine",): [(engine,) for engine in range(engines)],
            ("engine", "module", "kernel"): [*every],
            ("engine", "module", "kernel", "fifo"): [
                (*kernel, fifo) for kernel in every for fifo in codes[MODULES[kernel[1]]]
            ],
            ("module", "fifo"): [(number, fifo) for number, module in modules for fifo in codes[module]],
        }
        self._rows = {names: np.array(found, np.uint8).reshape(-1, len(names)) for names, found in rows.items()}

    def of(self, name: str, module: str | None = None) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of the parts that a table has rows of, or of those of a module; categories as codes."""
        table = table_of(name)
        kinds = {column.name: "int8" if column.kind == "category" else column.kind for column in table.columns}
        rows = self._rows[table.units]
        if module is not None:
            rows = rows[rows[:, table.units.index("module")] == MODULES.index(module)]
        return {unit: values.astype(kinds[unit]) for unit, values in zip(table.units, rows.T, strict=True)}
