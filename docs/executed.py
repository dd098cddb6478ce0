"""Runs the example notebooks and keeps their outputs: python -m docs.executed.

A notebook keeps, of each output, the richest form that any viewer shows without scripts.
"""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.formatters import DisplayFormatter
from nbclient import NotebookClient

__all__ = ["FORMS", "NOTEBOOKS", "lasting", "outputs_of", "write_executed"]

NOTEBOOKS = sorted((Path(__file__).resolve().parent / "notebooks").glob("*.ipynb"))

FORMS = ("image/svg+xml", "text/html", "text/plain")
"""Kinds of outputs that are kept, the richest first."""

_CHANGING = (
    r"load [\d.]+ s, build [^<]*? verify [\d.]+ s",
    r"\d{4}-\d\d-\d\dT[\d:]+\+00:00",
    r"\d+ threads?\b",
)
"""Patterns of what differs from computer to computer, and from run to run."""


def lasting(text: str) -> str:
    """Return an output without what differs from computer to computer; of a picture, its words."""
    if "<!DOCTYPE svg" in text:
        return "\n".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    return re.sub("|".join(_CHANGING), "...", text)


def _kept(data: dict[str, Any]) -> dict[str, str]:
    """Return the form of an output that is kept."""
    form = next(form for form in FORMS if form in data)
    return {form: data[form]}


def outputs_of(notebook: Any) -> list[dict[str, str]]:
    """Run the cells of a notebook in this process; return the form that is kept of each output, by its kind."""
    names: dict[str, Any] = {}
    found = []
    formatter = DisplayFormatter()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell.id, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), cell.id, "eval"), names)
            if value is None:
                continue
            found.append(_kept(formatter.format(value)[0]))
    return found


def write_executed(path: Path) -> None:
    """Run a notebook in a kernel of its own, and write it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.data = _kept(output.data)
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for each in NOTEBOOKS:
        write_executed(each)
        print(f"{each}: {each.stat().st_size:,} bytes")
