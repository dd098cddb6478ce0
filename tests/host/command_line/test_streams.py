"""Standard output in a plain locale."""

import io
import sys

import pytest

from cyscc.host.command_line.streams import open_missing


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_characters_that_the_locale_lacks_are_escaped(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii", errors=errors))
    open_missing()
    print("2 × 3", flush=True)
    assert printed.getvalue() == b"2 \\xd7 3\n"
