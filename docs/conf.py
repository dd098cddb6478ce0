"""How Sphinx builds the documentation (``make docs``)."""

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs.generated import generated

project = "cyscc"
copyright = "2026, cyscc authors"
version = release = metadata.version("cyscc")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = f"cyscc {release}"
html_copy_source = False


def setup(app: Any) -> None:
    """Insert the generated tables before a page is parsed."""

    def read(_app: Any, _page: str, source: list[str]) -> None:
        source[0] = generated(source[0])

    app.connect("source-read", read)
