"""Small changes of Python sources: operators, constants, conditions, arguments, statements."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_CALCULATED: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "+",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "|",
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "len"}


@dataclass(frozen=True)
class Change:
    """A piece of a source, and what stands there instead.

    Parameters
    ----------
    file : str
        The source, from the root.
    line : int
        Where the piece begins.
    begin, end : int
        The bytes of it.
    old, new : str
        The piece, and the other one.
    """

    file: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """File, line and change, in one line."""
        old, new = (re.sub(r"\s+", " ", text) for text in (self.old, self.new))
        return f"{self.file}:{self.line}: {old} -> {new}"

    def applied(self, source: bytes) -> bytes:
        """Return a source with the change."""
        return source[: self.begin] + self.new.encode() + source[self.end :]


def list_changes(root: Path, paths: Iterable[str]) -> list[Change]:
    """Return all changes of some files and of those in some folders, given from the root."""
    files = [
        file
        for path in paths
        for file in (sorted((root / path).rglob("*.py")) if (root / path).is_dir() else [root / path])
    ]
    return [
        change
        for file in dict.fromkeys(files)
        for change in _Finder(file.relative_to(root).as_posix(), file.read_bytes()).changes()
    ]


class _Finder:
    """Finds the possible changes of a source. Annotations, decorators, texts and error messages are not changed."""

    def __init__(self, file: str, source: bytes) -> None:
        self._file = file
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def changes(self) -> Iterator[Change]:
        found = {(change.begin, change.end, change.new): change for change in self._within(ast.parse(self._source))}
        yield from found.values()

    def _within(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.Raise():
                yield self._whole(node, "pass")
                return
        yield from self._of(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._within(child)

    def _of(self, node: ast.AST) -> Iterator[Change]:
        """Yield the changes of a node itself."""
        match node:
            case ast.Compare():
                for left, operator, right in zip(
                    [node.left, *node.comparators], node.ops, node.comparators, strict=False
                ):
                    yield self._between(left, right, _COMPARED[type(operator)])
            case ast.BinOp() if type(node.op) in _CALCULATED:
                yield self._between(node.left, node.right, _CALCULATED[type(node.op)])
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield self._between(left, right, "or" if isinstance(node.op, ast.And) else "and")
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield self._whole(node, self._text(node.operand))
            case ast.Constant(value=bool()):
                yield self._whole(node, str(not node.value))
            case ast.Constant(value=int() | float() as value):
                yield self._whole(node, repr(value + 1))
            case ast.If() | ast.IfExp():
                yield from (self._whole(node.test, value) for value in ("True", "False"))
            case ast.While():
                yield self._whole(node.test, "False")
            case ast.comprehension():
                yield from (self._whole(condition, "True") for condition in node.ifs)
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
                yield self._whole(node, "pass")
            case ast.Return(value=ast.expr() as value) if not _constant(value):
                yield self._whole(value, "None")
            case ast.Call():
                yield from self._of_call(node)

    def _of_call(self, call: ast.Call) -> Iterator[Change]:
        if isinstance(call.func, ast.Name) and call.func.id in _NAMES:
            yield self._whole(call.func, _NAMES[call.func.id])
        for first, second in zip(call.args, call.args[1:], strict=False):
            swapped = f"{self._text(second)}, {self._text(first)}"
            if self._text(first) != self._text(second) and not any(map(_text_or_star, (first, second))):
                yield self._change(self._begin(first), self._end(second), swapped)

    def _between(self, left: ast.expr, right: ast.expr, new: str) -> Change:
        """Return the change of the operator between two operands."""
        gap = self._source[self._end(left) : self._begin(right)]
        # Parentheses and comments may stand beside it.
        operator = re.search(rb"[^\s()\\#]+(?: (?:not|in)\b)?", re.sub(rb"#[^\n]*", lambda at: b" " * len(at[0]), gap))
        assert operator is not None
        return self._change(self._end(left) + operator.start(), self._end(left) + operator.end(), new)

    def _whole(self, node: ast.stmt | ast.expr, new: str) -> Change:
        return self._change(self._begin(node), self._end(node), new)

    def _change(self, begin: int, end: int, new: str) -> Change:
        line = self._source.count(b"\n", 0, begin) + 1
        return Change(self._file, line, begin, end, self._source[begin:end].decode(), new)

    def _begin(self, node: ast.stmt | ast.expr) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.stmt | ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self._source[self._begin(node) : self._end(node)].decode()


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _text_or_star(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred | ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
