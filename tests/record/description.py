"""The tables of a record as Markdown, for the documentation."""

from host.record.tables import TABLES

__all__ = ["tables_text"]


def tables_text() -> str:
    """Return a section for each table: what a row is, and its columns."""
    parts = []
    for table in TABLES:
        lines = [
            f"### `{table.name}`",
            "",
            table.about,
            "",
            "| column | type | unit | what it says |",
            "|---|---|---|---|",
        ]
        lines += [f"| `{each.name}` | {each.kind} | {each.unit} | {each.about} |" for each in table.columns]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
