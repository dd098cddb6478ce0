"""Limits that the system has set to the process, looked at before what would end it without a word is loaded."""

import resource

from host.options import UsageError

__all__ = ["LEAST", "check_limits"]

LEAST = 1 << 30
"""Bytes of address space without which the libraries cannot be loaded, and a simulation makes no sense."""

_LIMITS = (("address space (ulimit -v)", resource.RLIMIT_AS), ("data (ulimit -d)", resource.RLIMIT_DATA))


def check_limits() -> None:
    """Refuse to go on with too little address space: compiled libraries end the process when they get none.

    Raises
    ------
    UsageError
        There is too little; with both numbers.
    """
    for name, number in _LIMITS:
        bytes_ = resource.getrlimit(number)[0]
        if bytes_ != resource.RLIM_INFINITY and bytes_ < LEAST:
            raise UsageError(f"the process may have {bytes_ >> 20:,} MiB of {name}, and needs {LEAST >> 20:,} MiB")
