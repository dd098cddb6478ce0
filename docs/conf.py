"""How Sphinx builds the documentation (``make docs``)."""

from importlib import metadata

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
