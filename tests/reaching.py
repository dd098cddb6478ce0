"""Which test files reach a file of the project: by imports, also by name.

Usage: ``python -m tests.reaching FILE ...`` with paths from the root, such as ``host/graph/csr.py``. What is no module,
such as a header or a table, is reached where the modules beside it are, or above it.
"""

import re
import sys
from pathlib import Path

import grimp

from tests.conftest import ROOT

_NAMED = re.compile(r'"(cyscc(?:\.\w+)+)(\.\{)?')
"""A module in a text, or the package of modules whose names are computed."""


def reaching(*files: str) -> list[str]:
    """Return the test files that reach any of some files of the project, the nearest first."""
    graph = grimp.build_graph("cyscc", "tests", cache_dir=None)
    home = {module: _file_of(module) for module in graph.modules}
    inside = [module for module in home if module.startswith("cyscc")]
    imported = set().union(*map(graph.find_modules_directly_imported_by, inside))
    for module, place in home.items():
        for name, computed in _NAMED.findall(place.read_text()):
            # By a computed name is found what no module imports.
            below = {each for each in inside if computed and each.startswith(f"{name}.") and each not in imported}
            for other in below | ({name} & home.keys()) - {module}:
                graph.add_import(importer=module, imported=other)
    folders = {place.parent for place in home.values()}
    found: list[str] = []
    for file in files:
        folder = next(folder for folder in (ROOT / file).parents if folder in folders)
        own = [module for module, each in home.items() if each == ROOT / file]
        found += own or [module for module, each in home.items() if each.parent == folder]
    for module in found:
        found += sorted(graph.find_modules_that_directly_import(module) - set(found))
    return [str(home[each].relative_to(ROOT)) for each in dict.fromkeys(found) if home[each].name.startswith("test_")]


def _file_of(module: str) -> Path:
    """Return the file of a module or package of the project."""
    path = ROOT.joinpath(*module.split(".")[module.startswith("cyscc.") :])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


if __name__ == "__main__":
    if missing := [file for file in sys.argv[1:] if not (ROOT / file).is_file()]:
        sys.exit(f"{missing[0]}: no such file in {ROOT}")
    print(*reaching(*sys.argv[1:]), sep="\n")
