"""Files of memory rules, which are code: loaded only when the user of this process names them, and checked then."""

import dis
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, fields
from functools import wraps
from hashlib import sha256
from inspect import Parameter, isfunction, signature
from types import CodeType, ModuleType
from typing import Any, get_type_hints

import numpy as np

from cyscc.sim.caching.code import njit
from cyscc.sim.documents import LONGEST_SETTING, read_plain
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.profiles.profile import OUTSIDE, Contention, Profile, State
from cyscc.sim.memory.records import ErrorCode, Request, context_of
from cyscc.sim.memory.structures import Address, Record
from cyscc.sim.trust import GivenText, rules_file

_LONGEST = 1_000_000
"""Most cycles of the least latencies."""
_MOST_IN_FLIGHT = 1 << 17
"""Most reads in flight at a port."""
_WORD = 2**63
_FIXED = ("describe", "check_clock", "__str__")
"""Methods on which identity and messages depend."""
_RULES = {
    name: list(signature(member).parameters)
    for name, member in vars(Profile).items()
    if isfunction(member) and (hasattr(member, "rule") or name == "flushed")
}
"""The parameters of each rule that is called."""


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
    module = sys.modules.get(name)
    if module is None:
        module = sys.modules[name] = ModuleType(name)
        try:
            _run(source, path, module)
            _check(path, _defined(path, module), taken)
        except BaseException:
            del sys.modules[name]
            raise
    return _defined(path, module)


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
    own = [name for name in names if _is_own(getattr(profile, name), profile)]
    return f"{sys.modules[profile.__module__].__file__}: {(own or names)[0]}"


@contextmanager
def compiling(profile: type[Profile]) -> Iterator[None]:
    """Turn errors of a block that compiles the memory for a profile from a file of rules into one line.

    Raises
    ------
    SimulationError
        The rules cannot be compiled together.
    """
    try:
        yield
    except Exception as error:
        if not profile.__module__.startswith(OUTSIDE) or not _is_of_compiler(error):
            raise
        file = sys.modules[profile.__module__].__file__
        raise SimulationError(f"{file}: cannot be compiled: {_told(error)}") from None


def _is_of_compiler(error: Exception) -> bool:
    from numba.core.errors import NumbaError

    return isinstance(error, NumbaError)


def _run(source: bytes, path: str, module: ModuleType) -> None:
    """Run a file of rules as a module."""
    module.__file__ = path
    with _naming(path, ValueError):
        exec(compile(source, path, "exec"), vars(module))


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
        kind = getattr(profile, state)
        if not isinstance(kind, type) or not issubclass(kind, Record):
            raise ValueError(f"{path}: {state} must be a class of Record, not {kind!r}")
    _guard(path, profile)
    if profile.flushed is Profile.flushed:
        raise ValueError(f"{path}: flushed: is missing: every profile needs this rule")
    for each in _RULES:
        if _is_own(function := getattr(profile, each), profile):
            _check_rule(path, profile, each, function)


def _is_own(function: Callable[..., Any], profile: type[Profile]) -> bool:
    return function.__module__ == profile.__module__


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
            if name == "build":
                _check_build(path, profile, found, arguments[1])
            elif (wanted := _METHODS[name](found)) is not None:
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
    "build": lambda found: None,
    "statistics": _wanted_statistics,
    "openings": _wanted_openings,
    "reset_statistics": lambda found: None,
}
"""Methods in Python that are called with the machine's state; each with what it must return, if it does not."""


def _check_build(path: str, profile: type[Profile], answer: Any, state: State) -> None:
    """Refuse a `build` that answers something, or leaves a link without an array, which compiled code would follow."""
    if answer is not None:
        raise SimulationError(f"{path}: build: must return nothing, not {answer!r}")
    for kind, records in ((profile.Own, state.own), (profile.Shared, state.shared)):
        for name, (_, field, access) in kind.address.fields.items():
            if access == "constant" and isinstance(field, Address) and not records[name].all():
                raise SimulationError(f"{path}: build: makes no array for {name} of {kind.__name__}")


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
    wanted, given = _RULES[name], signature(function).parameters
    plain = all(each.kind is Parameter.POSITIONAL_OR_KEYWORD for each in given.values())
    if len(wanted) != len(given) or not plain:
        raise ValueError(f"{path}: {name}: must have the parameters {', '.join(wanted)}: it has {signature(function)}")
    if not hasattr(function, "rule"):
        raise ValueError(f"{path}: {name}: is not marked as a @rule")
    if _raises(function.__code__):
        raise ValueError(f"{path}: {name}: has raise or assert, which compiled rules cannot have")
    from cyscc.sim.memory.addresses import type_of

    side, service, _ = context_of(profile)  # type: ignore[arg-type]
    kinds = {
        "self": profile.address,
        "side": side.address,
        "shared": service.address.fields["shared"][1],
        "request": Request.address,
    }
    arguments = tuple(type_of(kinds.get(parameter, int)) for parameter in wanted)
    try:
        compiled = njit(cache=True, stamp=profile.digest, **OPTIONS)(function)
        compiled.compile(arguments)
        answer = compiled.overloads[arguments].signature.return_type
    except Exception as error:
        cause = _told(error) if _is_of_compiler(error) else _cause(error)
        raise ValueError(f"{path}: {name}: cannot be compiled: {cause}") from None
    _check_answer(f"{path}: {name}", answer, get_type_hints(getattr(Profile, name))["return"])


def _check_answer(place: str, answer: Any, wanted: Any) -> None:
    """Refuse a rule's answer of another type."""
    from numba import types

    masks = isinstance(answer, types.BaseTuple) and len(answer.types) == 2
    valid, text = {
        int: (isinstance(answer, types.Integer), "an integer"),
        bool: (isinstance(answer, types.Integer | types.Boolean), "whether"),
        type(None): (isinstance(answer, types.NoneType), "nothing"),
    }.get(wanted, (masks and all(isinstance(each, types.Integer) for each in answer.types), "two masks, integers"))
    if not valid:
        raise ValueError(f"{place}: must answer {text}, not {answer}")


def _raises(code: CodeType) -> bool:
    return any(each.opname == "RAISE_VARARGS" for each in dis.get_instructions(code))


def _told(error: Exception) -> str:
    """Return the cause of an error of numba in one line."""
    lines = [line.strip() for line in str(error).split("\n")]
    return next((line for line in lines if line and not line.startswith("Failed in")), type(error).__name__)
