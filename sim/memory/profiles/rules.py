"""Files of memory rules, which are code: loaded only when the user of this process names them, and checked then.

A file has one class that inherits a profile, and replaces single rules of it: methods marked by `rule`, which numba
compiles, or a C++ header that the class names in `header`. A rule in Python has parameters by name: `self`, the
profile's parameters; `own` or `shared`, the words of state that the class names, see `Profile`; the numbers of the
rule, see `RULES`, as far as it wants them; and `inherited`, the answer of the rule that it replaces, which otherwise
is not asked. A rule that answers nothing is called after the one that it replaces.
"""

import dis
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, fields
from functools import cache, wraps
from hashlib import sha256
from inspect import Parameter, signature
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, get_type_hints

import numpy as np

from cyscc.sim.caching.numba_code import numba
from cyscc.sim.documents import LONGEST_SETTING, read_plain
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory.profiles.profile import INHERITED, OUTSIDE, RULES, Contention, Profile, rules_of
from cyscc.sim.memory.records import ErrorCode, context_of
from cyscc.sim.trust import GivenText, rules_file

_LONGEST = 1_000_000
"""Most cycles of the least latencies."""
_MOST_IN_FLIGHT = 1 << 17
"""Most reads in flight at a port."""
_WORD = 2**63
_PAGE = "docs/adding-a-memory-profile.md"
_MOST_WORDS = 1 << 16
"""Most words of a field of state."""
_FIXED = ("describe", "check_clock", "__str__")
"""Methods on which identity and messages depend."""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False}
"""Options of numba for rules."""


_headers: dict[str, str] = {}
"""Digests of the headers of the files that were loaded, by name of the module."""


def load_rules(text: str, *, taken: tuple[str, ...]) -> type[Profile]:
    """Return the profile class that a file of rules defines; equal contents give the same class.

    Parameters
    ----------
    text : str
        Text that names the file.
    taken : tuple of str
        Names of profiles that it cannot have.

    Raises
    ------
    ValueError
        The text is not from the user, and may not have code loaded; or the file is no valid profile. One line, which
        names the file and the function.
    """
    path = rules_file(text)
    if not isinstance(text, GivenText):
        raise ValueError(f"{path} has rules, which are code: name their file: --memory FILE.py")
    assert path is not None
    try:
        source = read_plain(path, most=LONGEST_SETTING)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    name = f"{OUTSIDE}{sha256(source).hexdigest()[:16]}"
    known = sys.modules.get(name)
    # Of the same file with another header it is another class.
    if known is not None and _digest_of_header(path, known) != _headers[name]:
        name += _digest_of_header(path, known)
        known = sys.modules.get(name)
    module = known or ModuleType(name)
    if known is None:
        sys.modules[name] = module
        try:
            _run(source, path, module)
            _check(path, _defined(path, module), taken)
            _headers[name] = _digest_of_header(path, module)
        except BaseException:
            del sys.modules[name]
            raise
    return _defined(path, module)


def _digest_of_header(path: str, module: ModuleType) -> str:
    """Return a digest of the header beside a file that its class names; empty without one."""
    header = _defined(path, module).header
    beside = Path(path).with_name(header or "nothing")
    return sha256(beside.read_bytes()).hexdigest()[:16] if header and beside.is_file() else ""


def rule_at_fault(profile: type[Profile], code: int, kind: int) -> str | None:
    """Return file and rule of an error of the memory, if the profile is from a file of rules."""
    if not profile.__module__.startswith(OUTSIDE):
        return None
    before = ("serve", "enter")
    if code == ErrorCode.PLACE:
        names: tuple[str, ...] = ("place_of", "link_of")
    elif code == ErrorCode.OVERBOOKED:
        names = before if kind & 4 else ("enter",)
    else:
        # The rule of the base answers what an earlier one did.
        names = (("read_back", *before), ("written", *before), ("flushed",))[kind & 3]
    own = [name for name in names if name in rules_of(profile)]
    return f"{sys.modules[profile.__module__].__file__}: {(own or names)[0]}"


@cache
def addresses_of(profile: type[Profile]) -> list[int]:
    """Return the addresses of a profile's rules in Python, compiled now, in the order of `RULES`; 0 for others."""
    own = rules_of(profile)
    return [_callable(profile, name, own[name]).address if name in own else 0 for name in RULES]


def _callable(profile: type[Profile], name: str, function: Callable[..., Any]) -> Any:
    """Return a rule as numba's function for callers in C, with the rule's own parameters in their order."""
    compiler = numba()
    types = compiler.types
    answers = {"nothing": types.void, "two masks, integers": types.UniTuple(types.int64, 2)}
    answer = answers.get(RULES[name].answer, types.int64)
    compiled = compiler.cfunc(answer(*_types_of(profile, name, function)), **_OPTIONS)(function)
    _compiled.append(compiled)
    return compiled


_compiled: list[Any] = []
"""Rules that C++ calls, which live as long as the process."""


def _types_of(profile: type[Profile], name: str, function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return numba's types of a rule's parameters; records are at an address."""
    compiler, rule = numba(), RULES[name]
    integer = compiler.types.int64
    kinds = {"self": compiler.from_dtype(profile.dtype)}
    if rule.state:
        side, service, _ = context_of(profile)  # type: ignore[arg-type]
        record = side.dtype["own"] if rule.state == "own" else service.dtype["shared"]
        kinds[rule.state] = compiler.from_dtype(record[list(getattr(profile, rule.state))])
    if rule.answer == "two masks, integers":
        kinds[INHERITED] = compiler.types.UniTuple(integer, 2)
    return tuple(kinds.get(each, integer) for each in signature(function).parameters)


def _is_of_compiler(error: Exception) -> bool:
    return isinstance(error, numba().NumbaError)


def _run(source: bytes, path: str, module: ModuleType) -> None:
    """Run a file of rules as a module."""
    module.__file__ = path
    with _naming(path, ValueError):
        try:
            exec(compile(source, path, "exec"), vars(module))
        except ImportError as error:
            # Of a file for an older version.
            raise ImportError(f"{error}, see {_PAGE}" if (error.name or "").startswith("cyscc.") else error) from None


def _defined(path: str, module: ModuleType) -> type[Profile]:
    """Return the profile class of a module."""
    found = {each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__}
    profiles = [each for each in found if issubclass(each, Profile)]
    if len(profiles) != 1:
        raise ValueError(f"{path}: must define one profile, not {len(profiles)}")
    return profiles[0]


@contextmanager
def _naming(place: str, kind: type[Exception]) -> Iterator[None]:
    """Turn any error of the foreign code in the block into one line that names the place."""
    try:
        yield
    except (KeyboardInterrupt, SimulationError):
        raise
    except BaseException as error:
        raise kind(f"{place}: {_cause(error)}") from None


def _cause(error: BaseException) -> str:
    """Return an error of foreign code in one line."""
    try:
        lines = str(error).split("\n")
    except Exception:
        lines = []
    return ": ".join([type(error).__name__, *(line.strip() for line in lines[:1] if line.strip())])


def _check(path: str, profile: type[Profile], taken: tuple[str, ...]) -> None:
    """Refuse a class that is no valid profile, and have the errors of its functions name file and function."""
    if "__dataclass_params__" not in vars(profile):
        raise ValueError(f"{path}: {profile.__name__} is no dataclass: it needs @dataclass(frozen=True, kw_only=True)")
    name = getattr(profile, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{path}: name must be a word, not {name!r}")
    for each in _FIXED:
        if _is_own(getattr(profile, each), profile):
            raise ValueError(f"{path}: {each}: no file of rules can define it")
    if name in taken:
        raise ValueError(f"{path}: name: {name!r} is that of a profile of the program")
    _check_parameters(path, profile)
    for state in ("Own", "Shared"):
        if state in vars(profile):
            raise ValueError(
                f"{path}: {state}: a file names words of state: {state.lower()} = {{'turns': 1}}, see {_PAGE}"
            )
    _check_words(path, profile)
    _guard(path, profile)
    if profile.header:
        _check_header(path, profile)
    elif profile.__mro__[1] is Profile and "flushed" not in vars(profile):
        raise ValueError(f"{path}: flushed: is missing: every profile needs this rule")
    for rule, member in vars(profile).items():
        if rule in RULES:
            _check_rule(path, profile, rule, member)
        elif hasattr(member, "rule"):
            raise ValueError(f"{path}: {rule}: there is no such rule, see {_PAGE}")


def _check_words(path: str, profile: type[Profile]) -> None:
    """Refuse words of state that have no name, no number, or the name of a profile's own."""
    for state, base in (("own", profile.Own), ("shared", profile.Shared)):
        words = getattr(profile, state)
        if not isinstance(words, dict):
            raise ValueError(f"{path}: {state} must be a dict of numbers of words by name, not {words!r}")
        for name, count in words.items():
            if not isinstance(name, str) or not name.isidentifier() or name in base.members:
                raise ValueError(f"{path}: {state}: {name!r} can be no name of words")
            if type(count) is not int or not 1 <= count <= _MOST_WORDS:
                raise ValueError(f"{path}: {state}: {name} must have from 1 to {_MOST_WORDS} words, not {count!r}")


def _check_header(path: str, profile: type[Profile]) -> None:
    """Refuse a header that is no file beside the profile's."""
    header = profile.header
    if not isinstance(header, str) or header != Path(header).name or not header.endswith(".h"):
        raise ValueError(f"{path}: header must be the name of a file beside it that ends in .h, not {header!r}")
    if not Path(path).with_name(header).is_file():
        raise ValueError(f"{path}: header: there is no {header} beside it")


def _check_parameters(path: str, profile: type[Profile]) -> None:
    """Refuse fields that are not integers made by `parameter`, with a range of words and a default within."""
    hints = get_type_hints(profile)
    for each in fields(profile):
        if hints[each.name] is not int or "low" not in each.metadata:
            raise ValueError(f"{path}: {each.name} must be an int made by parameter()")
        low, high = each.metadata["low"], each.metadata["high"]
        bounds = [low, high, *([] if each.default is MISSING else [each.default])]
        if not all(type(value) is int for value in bounds) or not -_WORD <= low <= high < _WORD:
            raise ValueError(f"{path}: {each.name}: there are no integers from {low!r} to {high!r} of 64 bits")
        if each.default is not MISSING and not low <= each.default <= high:
            raise ValueError(f"{path}: {each.name}: the default must be from {low} to {high}, not {each.default}")
    for kind in ("short", "clock"):
        if (named := getattr(profile, kind)) and named not in {each.name for each in fields(profile)}:
            raise ValueError(f"{path}: {kind}: there is no parameter {named!r}")


def _guard(path: str, profile: type[Profile]) -> None:
    """Have the errors of a profile's methods in Python name file and method."""

    def guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            with _naming(f"{path}: {name}", SimulationError):
                found = function(*arguments, **keywords)
            if (wanted := _METHODS[name](found)) is not None:
                raise SimulationError(f"{path}: {name}: must return {wanted}, not {found!r}")
            return found

        return call

    made = profile.__post_init__

    def check(self: Profile) -> None:
        with _naming(f"{path}: __post_init__", ValueError) if _is_own(made, profile) else nullcontext():
            made(self)
        _check_times(path, self)

    profile.__post_init__ = check  # type: ignore[method-assign]
    for name in _METHODS:
        function = getattr(profile, name)
        if name == "build" or _is_own(function, profile):
            setattr(profile, name, guarded(name, function))


def _wanted_statistics(found: Any) -> str | None:
    try:
        valid = isinstance(found, dict) and bool(json.dumps(found))
    except (TypeError, ValueError, RecursionError):
        valid = False
    return None if valid else "a dict for JSON"


def _wanted_openings(found: Any) -> str | None:
    return None if found is None or isinstance(found, np.ndarray) else "an array or None"


_METHODS: dict[str, Callable[[Any], str | None]] = {
    "build": lambda found: None if found is None else "nothing",
    "statistics": _wanted_statistics,
    "openings": _wanted_openings,
    "reset_statistics": lambda found: None,
}
"""Methods in Python that are called with the machine's state; each with what it must return, if it does not."""


def _check_times(path: str, profile: Profile) -> None:
    """Refuse a profile whose properties are not what the memory needs."""
    values: dict[str, Any] = {}
    limits = {"unloaded_latency": _LONGEST, "flush_latency": _LONGEST, "reads_in_flight_limit": _MOST_IN_FLIGHT}
    limits |= {"write_latency": _LONGEST, "quantum": _LONGEST, "contention": 0}
    for name, most in limits.items():
        with _naming(f"{path}: {name}", ValueError):
            value = values[name] = getattr(profile, name)
        if name == "contention":
            if value is not None:
                _check_contention(path, value)
            continue
        least = 0 if name == "write_latency" else 1
        if name == "quantum":
            most = min(values["unloaded_latency"], values["flush_latency"])
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{path}: {name}: must be an integer from {least} to {most}, not {value!r}")


def _check_contention(path: str, found: Any) -> None:
    """Refuse shared resources whose numbers do not fit together: compiled code has no bounds checks."""
    if not isinstance(found, Contention):
        raise ValueError(f"{path}: contention: must be a Contention or None, not {found!r}")
    counts = {name: getattr(found, name) for name in ("links", "banks", "controllers", "bank_busy")}
    for name, value in counts.items():
        if type(value) is not int or not 1 <= value <= 1 << 16:
            raise ValueError(f"{path}: contention: {name} must be an integer from 1 to {1 << 16}, not {value!r}")
    if found.banks % found.controllers:
        raise ValueError(f"{path}: contention: {found.banks} banks cannot be shared by {found.controllers} controllers")
    for name, most in (("link_by_word", found.links), ("bank_by_word", found.banks), ("bank_by_place", found.banks)):
        words = getattr(found, name)
        if words is None and name == "bank_by_place":
            continue
        valid = isinstance(words, np.ndarray) and words.dtype == np.int64 and words.ndim == 1
        if not valid or words.size.bit_count() != 1 or not 0 <= words.min() <= words.max() < most:
            raise ValueError(f"{path}: contention: {name} must be a power of two of int64 numbers below {most}")


def _check_rule(path: str, profile: type[Profile], name: str, function: Callable[..., Any]) -> None:
    """Refuse a rule that has other parameters, raises, cannot be compiled, or answers another type."""
    rule, given = RULES[name], signature(function).parameters
    answers = [INHERITED] if rule.answer != "nothing" else []
    known = ["self", *([rule.state] if rule.state else []), *rule.numbers, *answers]
    plain = all(each.kind is Parameter.POSITIONAL_OR_KEYWORD for each in given.values())
    if not plain or next(iter(given), "") != "self" or not set(given) <= set(known):
        raise ValueError(
            f"{path}: {name}: may have the parameters {', '.join(known)}, see {_PAGE}: it has {signature(function)}"
        )
    if not hasattr(function, "rule"):
        raise ValueError(f"{path}: {name}: is not marked as a @rule")
    if _raises(function.__code__):
        raise ValueError(f"{path}: {name}: has raise or assert, which compiled rules cannot have")
    try:
        compiled = numba().njit(_types_of(profile, name, function), **_OPTIONS)(function)
        answer = compiled.nopython_signatures[0].return_type
    except Exception as error:
        cause = _told(error) if _is_of_compiler(error) else _cause(error)
        raise ValueError(f"{path}: {name}: cannot be compiled: {cause}") from None
    _check_answer(f"{path}: {name}", answer, rule.answer)


def _check_answer(place: str, answer: Any, wanted: str) -> None:
    """Refuse a rule's answer of another type."""
    types = numba().types
    integer = isinstance(answer, types.Integer)
    masks = isinstance(answer, types.BaseTuple) and len(answer.types) == 2
    valid = {
        "an integer": integer,
        "whether": integer or isinstance(answer, types.Boolean),
        "nothing": isinstance(answer, types.NoneType),
        "two masks, integers": masks and all(isinstance(each, types.Integer) for each in answer.types),
    }
    if not valid[wanted]:
        raise ValueError(f"{place}: must answer {wanted}, not {answer}")


def _is_own(function: Any, profile: type[Profile]) -> bool:
    return getattr(function, "__module__", None) == profile.__module__


def _raises(code: CodeType) -> bool:
    return any(each.opname == "RAISE_VARARGS" for each in dis.get_instructions(code))


def _told(error: Exception) -> str:
    """Return the cause of an error of numba in one line."""
    lines = [line.strip() for line in str(error).split("\n")]
    return next((line for line in lines if line and not line.startswith("Failed in")), type(error).__name__)
