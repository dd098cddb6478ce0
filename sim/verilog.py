"""Export of the hardware as Verilog files."""

import tempfile
from pathlib import Path

from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = ["export_verilog"]


def export_verilog(config: AcceleratorConfig, directory: Path) -> list[Path]:
    """Write one Application Engine as Verilog: a file per kind of kernel, the engine, and a list of the files.

    All AEs are the same; each gets its number by the input ``engine``.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    directory : Path
        Where to; made if it does not exist. Files of the same names are replaced, all or none.

    Returns
    -------
    list of Path
        The files, in an order in which they can be read.

    Raises
    ------
    OSError
        The directory cannot be written.
    """
    texts = {f"{name}.v": kernel_verilog(kind, config) for kind, name in KERNEL_NAMES.items()}
    texts["application_engine.v"] = application_engine_verilog(config)
    texts["files.f"] = "".join(f"{name}\n" for name in texts)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".verilog-", dir=directory) as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        return [(Path(folder) / name).replace(directory / name) for name in texts]
