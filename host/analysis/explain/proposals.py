"""Proposals: settings whose change would make a recorded run take fewer cycles, and how many fewer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Proposal"]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A change of settings, with its predicted effect.

    Parameters
    ----------
    changes : mapping
        Values of the changed settings by name, as in a study: ``word_depth``, ``memory.banks``, ``simplify``.
    cause : str
        The cause of which it lowers the cycles most.
    cycles : int
        Predicted cycles of the run with the change.
    reason : str
        Why it would help, in a sentence.
    """

    changes: Mapping[str, Any]
    cause: str
    cycles: int
    reason: str
