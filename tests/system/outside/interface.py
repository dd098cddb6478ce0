"""The Python interface: what `cyscc` offers, its parameters and types, and what its classes offer."""

import inspect
import re
from typing import Any, is_typeddict

import numpy as np
import pandas as pd

import cyscc
from cyscc.host.specification.ask import Ask
from tests.system.outside.normal import Normal, shape

_PLACE = re.compile(r"\b(?:hw|sim|host|cyscc|numpy|np|pandas|pd|collections\.abc|typing|pathlib)(?:\.\w+)*\.(?=\w)")
"""Where a type lives, which users do not see."""


def _text(value: Any) -> str:
    return _PLACE.sub("", str(value))


def _bare(annotation: Any) -> Any:
    """Return the type of a parameter without its note."""
    noted = isinstance(next(iter(getattr(annotation, "__metadata__", ())), None), Ask)
    kind = annotation.__origin__ if noted else annotation
    return getattr(kind, "__forward_arg__", kind)


def _signature(value: Any) -> str:
    """Return the signature of a callable, with keywords expanded from a typed dictionary."""
    signature = inspect.signature(value)
    bare = [each.replace(annotation=_bare(each.annotation)) for each in signature.parameters.values()]
    text = _text(signature.replace(parameters=bare))
    for parameter in signature.parameters.values():
        for kind in getattr(parameter.annotation, "__args__", ()):
            if is_typeddict(kind):
                keywords = ", ".join(f"{name}: {_kind(_bare(each))}" for name, each in kind.__annotations__.items())
                text = text.replace(f"*{kind}", f"{kind.__name__} ({keywords})").replace(
                    f"*<class '{kind.__name__}'>", f"{kind.__name__} ({keywords})"
                )
    return text


def _kind(kind: Any) -> str:
    return kind.__name__ if type(kind) is type else _text(kind)


def _member(owner: type, name: str) -> str:
    """Return what a public attribute of a class is."""
    value = inspect.getattr_static(owner, name)
    if isinstance(value, property) or hasattr(value, "attrname"):
        function = value.fget if isinstance(value, property) else value.func
        returns = inspect.signature(function).return_annotation if function is not None else "?"
        returns = returns.__name__ if isinstance(returns, type) and not hasattr(returns, "__args__") else returns
        return f"property -> {_text(returns)}"
    if isinstance(value, classmethod | staticmethod):
        return f"{type(value).__name__}{_signature(getattr(owner, name))}"
    return _signature(value) if callable(value) else f"{type(value).__name__}"


def _members(owner: type) -> dict[str, str]:
    inherited = set(dir(Exception if issubclass(owner, Exception) else object))
    annotated = {
        name: f"field: {_text(kind)}" for each in reversed(owner.__mro__) for name, kind in _hints(each).items()
    }
    names = [name for name in dir(owner) if not name.startswith("_") and name not in inherited]
    # What is set when an object is made is nowhere but in the text of the class.
    begin = inspect.getsource(vars(owner)["__init__"]) if "__init__" in vars(owner) and not annotated else ""
    own = dict.fromkeys(re.findall(r"self\.([a-z]\w*)(?:: [^=\n]+)? = ", begin), "attribute")
    return dict(sorted({**{name: _member(owner, name) for name in names}, **own, **annotated}.items()))


def _hints(owner: type) -> dict[str, Any]:
    kinds = {name: kind for name, kind in vars(owner).get("__annotations__", {}).items() if not name.startswith("_")}
    return {name: _kind(kind) for name, kind in kinds.items()}


def _refusal(call: str, names: dict[str, Any]) -> str:
    try:
        found = eval(call, names)
    except Exception as error:
        return f"{type(error).__name__}: {_text(error)}"
    return f"returned {type(found).__name__}"


def _names() -> dict[str, Any]:
    """Return what calls may name: a graph, a recorded search, its record, and the components of the same graph."""
    graph = cyscc.graph_from_edges(4, [0, 0, 1, 2, 3], [1, 2, 3, 3, 1])
    cyscc.write_graph(graph, "g.gr")
    machine: dict[str, Any] = {"config": "test", "memory": "fixed:75", "threads": 1}
    names = {name: getattr(cyscc, name) for name in cyscc.__all__} | {"graph": graph, "np": np, "pd": pd}
    names["found"] = cyscc.bfs(graph, 0, record="record", **machine)
    return names | {"record": cyscc.Record("record"), "components": cyscc.scc("g.gr", **machine), "shape": shape}


def _shown(value: Any, normal: Normal) -> Any:
    """Return a value as a snapshot has it; of a data frame the types of its columns."""
    if hasattr(value, "dtypes"):
        kinds = {str(name): str(kind) for name, kind in value.dtypes.items()}
        return {"rows": len(value), "index": [str(name) for name in value.index.names], "columns": kinds}
    if isinstance(value, str):
        lines = normal.text(_text(value))
        return lines if len(lines) > 1 else "".join(lines)
    return normal.document(list(value) if isinstance(value, tuple) else value)


def interface(normal: Normal, known: dict[str, Any]) -> dict[str, Any]:
    """Return what the Python interface is made of, by name; the current folder is for its files.

    Parameters
    ----------
    normal : Normal
        Takes out what differs.
    known : dict
        The snapshot, whose keys are the calls to make, wrong and right ones.
    """
    names = _names()
    found: dict[str, Any] = {}
    for name in cyscc.__all__:
        value = getattr(cyscc, name)
        if isinstance(value, type):
            bases = [base.__name__ for base in value.__mro__[1:-1]]
            found[name] = {"class": _signature(value), "bases": bases, "members": _members(value)}
        elif callable(value):
            found[name] = f"def {_signature(value)}"
        else:
            found[name] = f"{type(value).__name__}: {', '.join(map(str, value))}"
    return {
        "names": sorted(dir(cyscc)),
        "offered": found,
        "wrong": {call: _refusal(call, names) for call in known["wrong"]},
        "used": {expression: _shown(eval(expression, names), normal) for expression in known["used"]},
    }
