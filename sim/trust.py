"""Text that names code: only text that the user of this process gave can have a file of memory rules loaded."""

_RULES = ".py"


class GivenText(str):
    """Text of a memory profile as the command line or a Python call gives it; only such text can name code to load.

    Text from documents, TOML files and folders is a plain `str`. So is whatever is made of a `GivenText`.
    """

    __slots__ = ()


def rules_file(text: str) -> str | None:
    """Return the file of memory rules that the text of a profile names, or None."""
    name = text.partition(" (")[0].partition(":")[0]
    return name if name.endswith(_RULES) else None
