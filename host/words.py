"""Numbers with their nouns."""

__all__ = ["counted"]


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 edge``, ``2,000 edges``; `many` is the plural where it is not `one` with an s behind."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
