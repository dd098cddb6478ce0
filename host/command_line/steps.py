"""What only algorithms made of steps take: a device and an order of threads."""

import argparse

from host.algorithms.names import Kind
from host.options import UsageError

__all__ = ["check_steps"]


def check_steps(arguments: argparse.Namespace, name: str, kind: Kind) -> None:
    """Refuse a device or an order of threads for an algorithm that is not made of steps.

    Raises
    ------
    UsageError
        One was given, and it is not.
    """
    if kind.devices:
        return
    if arguments.device != "cpu":
        raise UsageError(f"{name} runs on --device cpu only")
    if arguments.order != "natural":
        raise UsageError(f"{name} is not made of steps, which --order is of")
