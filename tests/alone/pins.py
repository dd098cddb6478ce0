"""Pinned responses of components. After an intended change: ``python -m tests.alone.pins``."""

import json
from pathlib import Path

from tests.alone.parts import all_parts
from tests.alone.surroundings import stimuli_of
from tests.alone.traces import trace

_PINS = Path(__file__).with_name("pins.json")


def pins() -> dict[str, str]:
    """Return the digest of each component's trace by its name, see `tests.alone.parts.all_parts`."""
    found: dict[str, str] = json.loads(_PINS.read_text())
    return found


def _main() -> None:
    found = {name: trace(stimuli_of(part, name)).digest for name, part in all_parts().items()}
    _PINS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    _main()
