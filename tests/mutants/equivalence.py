"""The second part of the campaign: mutants that are the same hardware, in every state and on every input."""

import re
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.faults import BASE, Mutant
from tests.mutants.yosys import run_yosys

__all__ = ["equivalent"]

_ANSWERS = "answers.txt"
_PROVEN = "SAT proof finished - no model found: SUCCESS!"
_SECONDS = 20
_REGISTERED = frozenset({"DATA"})
"""Pins behind a fault of which the register that it belongs to is no longer found by its name."""


def equivalent(folder: Path, mutants: Sequence[Mutant]) -> set[str]:
    """Return the names of those mutants that are proven to be the same hardware as without them.

    The mutant's module, with all that is in it, is compared with itself without the fault: registers and memories are
    inputs with what they hold, and outputs with what they will hold. If both have the same outputs whatever the inputs,
    then they go on alike from reset on.

    Parameters
    ----------
    folder : Path
        Where `tests.mutants.faults.prepare` has written the design.
    mutants : sequence of Mutant
        The mutants.
    """
    proven: set[str] = set()
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        own = [each for each in mutants if each.module == module and each.option("port") not in _REGISTERED]
        if own:
            answers = folder / _ANSWERS
            answers.unlink(missing_ok=True)
            run_yosys(folder, _script(module, own))
            told = re.split(r"^PLACE (\d+)$", answers.read_text(), flags=re.MULTILINE)[1:]
            proven |= {
                own[int(place)].name for place, text in zip(told[::2], told[1::2], strict=True) if _PROVEN in text
            }
    return proven


def _script(module: str, mutants: Sequence[Mutant]) -> list[str]:
    opened = ["dffunmap", "opt_clean", "expose -evert-dff", "opt_clean"]
    script = [
        f"read_rtlil {BASE}",
        f"hierarchy -top {module}",
        "flatten",
        "memory_map",
        "opt_clean",
        "design -save sound",
        *opened,
        f"rename {module} gold",
        "design -stash gold",
    ]
    for place, mutant in enumerate(mutants):
        script += [
            "design -load sound",
            f"mutate {mutant.options}",
            *opened,
            f"rename {module} gate",
            "design -copy-from gold -as gold gold",
            "miter -equiv -flatten gold gate miter",
            f"tee -a {_ANSWERS} log PLACE {place}",
            f"tee -a {_ANSWERS} sat -prove trigger 0 -timeout {_SECONDS} miter",
        ]
    return script
