"""Write anew what users see, all of it or the parts that are named."""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# A number of cores, a width or a colour of the terminal, and settings of one's own stand in what is printed.
# Bytecode of a user's rules would be a new file.
_FIXED = {
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",
}
_OWN = ("CYSCC_CACHE",)


def _settle() -> None:
    """Give this process the surroundings that are the same everywhere."""
    for name in [each for each in os.environ if each.startswith("CYSCC_") and each not in _OWN]:
        del os.environ[name]
    os.environ.update(_FIXED)
    # Nor in this process, which has read that variable.
    sys.dont_write_bytecode = True
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    cores = sorted(os.sched_getaffinity(0))
    # Not all on the same one where several run side by side.
    os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def main() -> None:
    """Run the program."""
    _settle()
    from tests.system.outside.collecting import PARTS, collect
    from tests.system.outside.normal import written

    parser = argparse.ArgumentParser(prog="python -m tests.system.outside", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--to", type=Path, default=Path(__file__).parent, metavar="DIR", help="the folder to write to")
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        if part not in PARTS:
            parser.error(f"no part {part!r}: there are {', '.join(PARTS)}")
    folder = arguments.to.resolve()
    for part in arguments.parts or PARTS:
        (folder / f"{part}.json").write_text(written(collect(part)))
        print(f"{part}.json", file=sys.stderr)


if __name__ == "__main__":
    main()
