"""Values of settings, which may be numbers of any library."""

import operator
from numbers import Integral, Real
from typing import Any


def plain(value: Any) -> Any:
    """Return a number or a truth value of any library as Python's own, which documents can store; others as they are.

    A whole number is what can be an index. Truth values are none, whatever their library says.
    """
    if getattr(value, "shape", None) == () and str(getattr(value, "dtype", "")).endswith("bool"):
        return bool(value)
    try:
        return value if isinstance(value, bool) else operator.index(value)
    except TypeError:
        # A time span of numpy claims to be integral.
        return float(value) if isinstance(value, Real) and not isinstance(value, Integral) else value
