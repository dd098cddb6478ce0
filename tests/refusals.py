"""Errors, by all that they say."""

import re

import pytest


def refused(kind: type[Exception], message: str) -> "pytest.RaisesExc[Exception]":
    """Expect an error with this message, to the letter."""
    return pytest.raises(kind, match=rf"\A{re.escape(message)}\Z")
