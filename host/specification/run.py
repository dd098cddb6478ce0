"""Specification of a run: one value, from which options, keywords, sweep axes, documents and checkpoints derive.

The `Option` of a field of `RunSpec` describes it completely. A new option of a run takes a field here, and the code
where it takes effect.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, TypedDict, get_args, get_origin

from cyscc.host.output.files import STANDARD_OUTPUT
from cyscc.host.specification.overrides import NO_OVERRIDES, Overrides
from cyscc.host.specification.region import Region
from cyscc.hw.values import plain
from cyscc.sim.configuration import PRESETS, AcceleratorConfig, load_config
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.processors import available_cores
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.sim.memory import Profile

__all__ = [
    "ALGORITHMS",
    "DETAIL_INTERVAL",
    "OWN_RULES",
    "RECORD_INTERVAL",
    "Interval",
    "Option",
    "RunArguments",
    "RunSpec",
    "Setting",
    "SpecError",
    "check_numbers",
    "checked_number",
    "cycle_window",
    "option_of",
    "resolved_configuration",
    "resolved_profile",
    "run_options",
    "whole_number",
]

ALGORITHMS = ("bfs", "scc")
"""Algorithms of runs, by their commands."""

OWN_RULES = "the run used memory rules of its own ({}): name their file: --memory FILE.py"
"""Cause of the refusal of a run whose rules, which are code, the user has not named."""

RECORD_INTERVAL = 1024
"""Default cycles of an interval of a record."""
DETAIL_INTERVAL = 64
"""Default cycles of an interval of the record of a region in detail."""

_LARGEST = 1 << 64
_MADE_OF = ("graph", "config", "memory", "overrides")
"""Fields identified by the content that they refer to, not by their text."""
_CYCLE_UNITS = {"cycles": 1, "kcycles": 10**3, "Mcycles": 10**6, "Gcycles": 10**9}
_SECOND_UNITS = {"s": 1, "min": 60, "h": 3600}
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([A-Za-z]+)")
_LONGEST_INTERVAL = 10**15  # cycles or seconds
_OWN = "own"
"""Name of a configuration that is not a preset."""


class SpecError(ValueError):
    """An invalid value of a field of `RunSpec`.

    Parameters
    ----------
    name : str
        The field.
    message : str
        One line, which quotes the error.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.field = name


def whole_number(text: str, *, low: int, high: int | None = None) -> int:
    """Parse an integer such as 1000, 1e3 or 2^10.

    Raises
    ------
    ValueError
        The text is not an integer, or outside `low` to `high`.
    """
    base, power, exponent = text.partition("^")
    try:
        number = Decimal(base) ** (int(exponent) if power else 1)
        whole = number == number.to_integral_value()
    except (ValueError, ArithmeticError):
        whole = False
    if not whole:
        raise ValueError(f"{text!r} is not an integer")
    most = _LARGEST if high is None else high
    if number < low:
        raise ValueError(f"must be at least {low}, not {text}")
    if number > most:
        raise ValueError(f"must be at most {most}, not {text}")
    return int(number)


def checked_number(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return a whole number of any library, or the one that a text describes, as Python's own.

    Raises
    ------
    ValueError
        It is none, or outside `low` to `high`. One line, which begins with the name.
    """
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    try:
        return whole_number(str(value), low=low, high=high)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def check_numbers(checked: Any, **lows: int) -> None:
    """Check fields of a frozen dataclass that are whole numbers from a number on, or None; see `checked_number`."""
    for name, low in lows.items():
        if (value := getattr(checked, name)) is not None:
            object.__setattr__(checked, name, checked_number(name, value, low=low))


def cycle_window(text: str) -> tuple[int, int]:
    """Parse a range of cycles such as 100:200; return its first and last cycle.

    Raises
    ------
    ValueError
        The text is not a range, or the last cycle precedes the first.
    """
    first, colon, last = text.partition(":")
    if not colon:
        raise ValueError(f"{text!r} is not FIRST:LAST")
    return _in_order(whole_number(first, low=0), whole_number(last, low=0))


def _in_order(first: int, last: int) -> tuple[int, int]:
    if first > last:
        raise ValueError(f"the first cycle must not come after the last: '{first}:{last}'")
    return first, last


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Interval between checkpoints or lines, in simulated cycles or seconds of real time.

    Parameters
    ----------
    cycles : int or None
        Simulated cycles, if given in cycles.
    seconds : float or None
        Seconds of real time, if given in time.
    """

    cycles: int | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Interval":
        """Parse an interval such as 2Mcycles, 30s or 5min.

        Raises
        ------
        ValueError
            The text is not an interval.
        """
        match = _INTERVAL.fullmatch(text)
        if match is None or match[2] not in {**_CYCLE_UNITS, **_SECOND_UNITS}:
            raise ValueError(f"{text!r} is not an interval such as 2Mcycles, 30s or 5min")
        unit = match[2]
        amount = Decimal(match[1]) * {**_CYCLE_UNITS, **_SECOND_UNITS}[unit]
        if not 0 < amount <= _LONGEST_INTERVAL or (unit in _CYCLE_UNITS and amount != amount.to_integral_value()):
            raise ValueError(f"{text!r} is no interval: it must be above 0, not above 10^15, and whole cycles")
        return cls(cycles=int(amount)) if unit in _CYCLE_UNITS else cls(seconds=float(amount))


@dataclass(frozen=True, kw_only=True)
class Option:
    """Description of a field of `RunSpec`.

    Parameters
    ----------
    help : str
        Meaning and unit; ``{default}`` stands for the default.
    metavar : str or None
        Placeholder of the value in help texts.
    name : str
        Name in options, documents and sweeps, if it differs from the field's.
    flag : str
        Name on the command line, if it differs from ``--`` with the name.
    low, high : int or None
        Range of an integer.
    choices : tuple of str
        Allowed values, if there are few.
    parse : callable or None
        Parser of the text; raises ValueError.
    form : callable or None
        Parser of a text that is kept as it is; raises ValueError if it does not have the form.
    repeated : bool
        Whether the option may be given several times.
    algorithms : tuple of str
        Algorithms whose runs have the option.
    affects_result : bool
        Whether the result depends on it.
    stored : bool or None
        Whether checkpoints and records store it, so that resuming and replaying a run takes it from there; None means
        the same as `affects_result`.
    changeable : bool
        Whether a resumed run may have another value.
    varies : bool or None
        Whether a sweep can vary it; None means the same as `affects_result`.
    keyword : bool
        Whether the functions of the Python interface take it.
    path : bool
        Whether it may name a file, relative to the working folder of the run.
    takes : tuple of type
        Types of its values, those of the field.
    positional : bool
        Whether it is a positional argument on the command line.
    switch : bool or None
        For booleans: the value that the flag sets.
    """

    help: str
    metavar: str | None = None
    name: str = ""
    flag: str = ""
    low: int | None = None
    high: int = _LARGEST
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None
    form: Callable[[str], Any] | None = None
    repeated: bool = False
    algorithms: tuple[str, ...] = ALGORITHMS
    affects_result: bool = False
    stored: bool | None = None
    changeable: bool = True
    varies: bool | None = None
    keyword: bool = True
    path: bool = False
    takes: tuple[Any, ...] = (object,)
    positional: bool = False
    switch: bool | None = None

    def read(self, text: str) -> Any:
        """Parse the text of a value.

        Raises
        ------
        ValueError
            The text is not a valid value. One line, without the name.
        """
        if self.low is not None:
            return whole_number(text, low=self.low, high=self.high)
        if self.form is not None:
            self.form(text)
        return text if self.parse is None else self.parse(text)

    def checked(self, value: Any) -> Any:
        """Validate a value that is not None; parse it if it is the text of a number.

        Raises
        ------
        ValueError
            The value is invalid. One line.
        """
        value = plain(value)
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name} must be {' or '.join(self.choices)}, not {value!r}")
        if self.switch is not None and not isinstance(value, bool):
            raise ValueError(f"{self.name} must be true or false, not {value!r}")
        if self.low is not None:
            return checked_number(self.name, value, low=self.low, high=self.high)
        if self.form is not None and isinstance(value, str):
            self.form(value)
        return value

    def check_stored(self, value: Any) -> None:
        """Refuse a value of a document that is of another type; `checked` looks at numbers and switches.

        Raises
        ------
        ValueError
            The value is of another type. One line.
        """
        if value is None or self.low is not None or self.switch is not None:
            return
        kind = dict if self.repeated else str
        if not isinstance(value, kind):
            raise ValueError(f"{self.name} must be a {'table' if self.repeated else 'text'}, not {value!r}")


def _option(default: Any = MISSING, *, help: str, default_factory: Any = MISSING, **about: Any) -> Any:
    return field(
        default=default,
        default_factory=default_factory,
        metadata={"option": Option(help=help, **about)},
    )


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Complete specification of a run.

    All values are validated on construction. Files are not: the run reads the graph and creates its outputs.

    Attributes
    ----------
    configuration : AcceleratorConfig
    profile : Profile
        The machine and its memory, with overrides.

    Raises
    ------
    SpecError
        A value is invalid, or the machine cannot run the algorithm.
    """

    algorithm: str = _option(
        help="search (bfs) or components (scc)",
        choices=ALGORITHMS,
        affects_result=True,
        changeable=False,
        keyword=False,
    )
    graph: str = _option(
        help="the graph", metavar="GRAPH", positional=True, affects_result=True, varies=False, keyword=False, path=True
    )
    source: int | None = _option(
        None,
        help="vertex to start from, as the graph's file names it",
        metavar="ID",
        low=0,
        high=1 << 63,
        algorithms=("bfs",),
        affects_result=True,
        changeable=False,
        keyword=False,
    )
    roofline: bool = _option(
        False,
        help="compare each level with the limits of ports, links, banks, ring and latency",
        algorithms=("bfs",),
        stored=True,
        changeable=False,
        keyword=False,
    )
    config: str | AcceleratorConfig = _option(
        "hc2",
        help=f"machine: {', '.join(PRESETS)}, or a TOML file (default: {{default}})",
        metavar="NAME|FILE.toml",
        affects_result=True,
        path=True,
    )
    memory: "str | Profile" = _option(
        "hc2",
        help="memory: hc2 (default), hbm2, fixed:CYCLES, stress, stress:SEED, a TOML file, or a Python file of rules",
        metavar="PROFILE|FILE.toml|FILE.py",
        parse=GivenText,
        affects_result=True,
        path=True,
    )
    executor: str = _option(
        EXECUTORS[0],
        help="simulator of the hardware: compiled (default), or amaranth, in Python, for small machines",
        choices=EXECUTORS,
        stored=True,
        varies=True,
    )
    overrides: Overrides = _option(
        NO_OVERRIDES,
        help="override a single value: neighbour_depth=64, memory.bank_busy=20; may be repeated",
        metavar="KEY=VALUE",
        name="set",
        repeated=True,
        affects_result=True,
        varies=False,
    )
    threads: int = _option(
        default_factory=available_cores,
        help="threads that the executor may use (default: the cores, {default})",
        metavar="N",
        low=1,
        high=1024,
    )
    verify: bool = _option(True, help="do not check the result", flag="--no-verify")
    undirected: bool = _option(
        False, help="read each edge of the graph in both directions, self-loops once", affects_result=True
    )
    simplify: bool = _option(
        False, help="drop repeated edges and self-loops before the graph is loaded", affects_result=True
    )
    cycle_limit: int | None = _option(
        None, help="stop after this many cycles", metavar="N", low=1, stored=True, varies=True
    )
    queue_slack: int | None = _option(
        None,
        help="queue entries beyond one per vertex, for vertices pushed twice (default: 65536 + vertices / 4)",
        metavar="N",
        low=0,
        high=1 << 40,
        affects_result=True,
        changeable=False,
    )
    waves: str | None = _option(
        None,
        help="write the hardware's waveforms, compressed or as text (large without a window)",
        metavar="OUT.fst|OUT.vcd",
    )
    wave_window: tuple[int, int] | None = _option(
        None, help="cycles recorded in the waveforms (default: all)", metavar="FIRST:LAST", parse=cycle_window
    )
    scopes: tuple[str, ...] = _option(
        (),
        help="signals to record, as engine0.bfs3.allocator or '*.token_*'; may be repeated (default: all)",
        metavar="GLOB",
        name="scope",
        repeated=True,
    )
    wave_view: bool = _option(False, help="write views for GTKWave and Surfer beside the waveforms")
    checkpoint: str | None = _option(
        None, help="write checkpoints to this folder, so that the run can be resumed", metavar="DIR", keyword=False
    )
    checkpoint_every: str | None = _option(
        None,
        help="interval between checkpoints: 2Mcycles, 30s, 5min (default: 1min)",
        metavar="INTERVAL",
        form=Interval.parse,
        stored=True,
        keyword=False,
    )
    resume: str | None = _option(
        None,
        help="resume from the checkpoint in this folder; options that are not given are those of the run",
        metavar="DIR",
        keyword=False,
    )
    record: str | None = _option(
        None,
        help="write a record of the activity over time to this folder, for explain, report, events and replay",
        metavar="DIR",
        stored=True,
        path=True,
    )
    record_interval: int | None = _option(
        None,
        help=f"length of the record's intervals in cycles (default: {RECORD_INTERVAL})",
        metavar="CYCLES",
        low=16,
        high=LONGEST_INTERVAL,
        stored=True,
        changeable=False,
        varies=True,
    )
    record_detail: str | None = _option(
        None,
        help="record this region in detail, too, to the record's folder 'detail': level=3, level=3-5,iteration=1, "
        "phase=backward, or cycles 100000:120000",
        metavar="REGION",
        form=Region.parse,
        stored=True,
    )
    record_detail_interval: int | None = _option(
        None,
        help=f"length of the intervals there in cycles (default: {DETAIL_INTERVAL})",
        metavar="CYCLES",
        low=16,
        high=LONGEST_INTERVAL,
        stored=True,
    )
    trace: str | None = _option(
        None, help="write the activity over time as a trace for Perfetto", metavar="OUT.pftrace"
    )
    live: str | Callable[[dict[str, Any]], None] | None = _option(
        None,
        help="write a line of JSON about the run to this file or pipe each interval ('-': standard output)",
        metavar="FILE",
    )
    live_every: str | None = _option(
        None,
        help="interval between these lines: 100kcycles, 10s (default: an interval of the record; 1s without one)",
        metavar="INTERVAL",
        form=Interval.parse,
    )

    def __post_init__(self) -> None:
        for name, option in _OPTIONS.items():
            value = getattr(self, name)
            with _refused(name):
                if value is not None:
                    value = option.checked(value)
                    object.__setattr__(self, name, value)
                    if not isinstance(value, option.takes):
                        kinds = " or ".join(each.__name__ for each in option.takes)
                        raise ValueError(f"{option.name} must be {kinds}, not {value!r}")
                if self.algorithm not in option.algorithms and value:
                    raise ValueError(f"{option.name}: only searches have one")
        if self.wave_window is not None:
            with _refused("wave_window"):
                window = tuple(checked_number("wave_window", each, low=0) for each in self.wave_window)
                if len(window) != 2:
                    raise ValueError(f"wave_window must be its first and last cycle, not {self.wave_window!r}")
                object.__setattr__(self, "wave_window", _in_order(*window))
        for name in ("wave_window", "scopes", "wave_view"):
            if getattr(self, name) and self.waves is None:
                raise SpecError(name, f"{option_of(name).flag} needs --waves")
        if self.waves == STANDARD_OUTPUT:
            raise SpecError("waves", "--waves needs a file")
        if self.waves is not None and Path(self.waves).suffix not in ("", ".vcd", ".fst"):
            raise SpecError("waves", f"--waves writes FST and VCD files, which end in .fst or .vcd: {self.waves}")
        if self.checkpoint is None and self.checkpoint_every is not None:
            raise SpecError("checkpoint_every", "--checkpoint-every needs --checkpoint")
        if self.live is None and self.live_every is not None:
            raise SpecError("live_every", "--live-every needs --live")
        if self.record is None and self.trace is None and self.record_interval is not None:
            raise SpecError("record_interval", "--record-interval needs --record or --trace")
        if self.record is None and self.record_detail is not None:
            raise SpecError("record_detail", "--record-detail needs --record")
        if self.record_detail is None and self.record_detail_interval is not None:
            raise SpecError("record_detail_interval", "--record-detail-interval needs --record-detail")
        if self.record_interval is None and (self.record is not None or self.trace is not None):
            object.__setattr__(self, "record_interval", RECORD_INTERVAL)
        if self.record is None and self.trace is not None and self.checkpoint is not None:
            raise SpecError("trace", "--trace of a run that is kept needs --record")

    @cached_property
    def configuration(self) -> AcceleratorConfig:
        """The configuration, with overrides. Raises `SpecError` if it does not exist."""
        return resolved_configuration(self.config, self.overrides)

    @cached_property
    def profile(self) -> "Profile":
        """The memory profile, with overrides. Raises `SpecError` if it does not exist."""
        return resolved_profile(self.memory, self.overrides)

    def checked(self) -> "RunSpec":
        """Check that the machine exists and can run the algorithm; return the specification itself.

        Raises
        ------
        SpecError
            The machine does not exist, or cannot run the algorithm.
        """
        configuration, _ = self.configuration, self.profile
        if self.algorithm == "scc":
            with _refused("config"):
                configuration.require("finds_components", name=self.config_text)
        if self.roofline:
            with _refused("roofline"):
                configuration.require("keeps_reach_queue", name=self.config_text)
        return self

    @property
    def config_name(self) -> str:
        """Name of the configuration in results, without overrides."""
        if isinstance(self.config, str):
            return self.config
        return next((name for name, preset in PRESETS.items() if preset == self.config), _OWN)

    @property
    def memory_name(self) -> str:
        """Name of the memory profile in results, without overrides."""
        return str(self.memory) if isinstance(self.memory, str) else self.memory.name

    @property
    def config_text(self) -> str:
        """Display text of configuration and overrides: ``hc2 (word_depth=64)``."""
        return self.overrides.config_text(self.config_name)

    @property
    def machine_text(self) -> str:
        """Display text of configuration and memory: ``hc2 (word_depth=64), memory hc2``."""
        return f"{self.config_text}, memory {self.overrides.memory_text(self.memory_name)}"

    @property
    def waves_path(self) -> Path | None:
        """File of the waveforms."""
        return None if self.waves is None else Path(self.waves)

    @property
    def folders(self) -> dict[str, str | None]:
        """Folders that the run writes, by option."""
        return {"--checkpoint": self.checkpoint, "--record": self.record}

    @property
    def recorded(self) -> bool:
        """Whether the run is recorded, to a folder or in memory only."""
        return self.record is not None or self.roofline

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: memory rules loaded from a file cannot be pickled."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def document(self) -> dict[str, Any]:
        """Return the stored options by name, JSON-able; configuration and memory by name only."""
        named = {"overrides": self.overrides.values(), "config": self.config_name, "memory": self.memory_name}
        return {
            option.name: named.get(name, getattr(self, name))
            for name, option in run_options(self.algorithm).items()
            if option.stored
        }

    def result_options(self) -> dict[str, Any]:
        """Return the options that the result depends on besides graph and machine, by name, JSON-able."""
        return {
            option.name: getattr(self, name)
            for name, option in run_options(self.algorithm).items()
            if option.affects_result and name not in _MADE_OF
        }

    def identity(self, graph: str) -> dict[str, Any]:
        """Return the identity of a run, which resuming must not change, JSON-able.

        Parameters
        ----------
        graph : str
            Digest of the graph as placed on the machine.
        """
        same = [name for name, option in run_options(self.algorithm).items() if not option.changeable]
        return {
            "graph": graph,
            "configuration": asdict(self.configuration),
            "memory": self.profile.describe(),
            "options": {name: getattr(self, name) for name in same},
        }

    def varied(self) -> dict[str, Any]:
        """Return the options that a sweep can vary, by name, JSON-able; machine and memory with all their values."""
        values = {
            name: getattr(self, name)
            for name, option in run_options(self.algorithm).items()
            if option.varies and name not in _MADE_OF
        }
        return {**values, "configuration": asdict(self.configuration), "memory": self.profile.describe()}

    def changed(self, settings: Mapping[str, Any]) -> "RunSpec":
        """Return the specification with some settings changed.

        Parameters
        ----------
        settings : mapping
            Values by name, as in a study: ``word_depth``, ``memory.banks``, ``simplify``.

        Raises
        ------
        SpecError
            A value is invalid, or the machine cannot run the algorithm.
        """
        options = {name: value for name, value in settings.items() if name in run_options(self.algorithm)}
        others = {name: value for name, value in settings.items() if name not in options}
        return replace(self, **options, overrides=Overrides.of({**self.overrides.values(), **others}))

    @classmethod
    def of_record(cls, document: Mapping[str, Any], **values: Any) -> "RunSpec":
        """Return the specification of a recorded run, without its outputs and without verification.

        Parameters
        ----------
        document : dict
            The document of a record, or of a failed run.
        **values
            Fields that replace those of the record, at least the memory profile.
        """
        run = document["run"]
        kept = cls.stored_values({**run["options"], "algorithm": document["command"]}, Path(run["folder"]))
        own = {
            "config": AcceleratorConfig(**document["configuration"]),
            "overrides": NO_OVERRIDES,
            "verify": False,
            **dict.fromkeys(
                ("record", "record_interval", "record_detail", "record_detail_interval", "checkpoint_every"), None
            ),
            "roofline": False,
        }
        return cls(**{**kept, **own, "graph": str(Path(run["folder"], run["graph"])), **values})

    @classmethod
    def stored_values(cls, document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return values of fields from a stored `document`; relative paths refer to the folder of the run.

        Parameters
        ----------
        document : mapping
            Options by name, as returned by `document`.
        folder : Path
            Working folder of the run.

        Raises
        ------
        SpecError
            A value is of another type.
        """
        values = {}
        for name, option in run_options(document["algorithm"]).items():
            if option.stored and option.name in document:
                value = document[option.name]
                with _refused(name):
                    option.check_stored(value)
                if option.path and value and folder != Path.cwd() and _is_file(name, value):
                    value = str(folder / value)
                values[name] = Overrides.of(value) if name == "overrides" else value
        return values


def resolved_configuration(config: str | AcceleratorConfig, overrides: Overrides = NO_OVERRIDES) -> AcceleratorConfig:
    """Resolve a preset's name, a TOML file, or a configuration, and apply overrides.

    Raises
    ------
    SpecError
        The configuration does not exist, or is invalid.
    """
    if isinstance(config, str):
        with _refused("config"):
            config = load_config(config)
    with _refused("overrides"):
        return overrides.applied_to(config)


def resolved_profile(memory: "str | Profile", overrides: Overrides = NO_OVERRIDES) -> "Profile":
    """Resolve a memory profile's text, a TOML file, a file of rules, or a profile, and apply overrides.

    Raises
    ------
    SpecError
        The memory profile does not exist, or is invalid.
    """
    from cyscc.sim.memory import Profile, parse_profile

    if not isinstance(memory, Profile):
        with _refused("memory"):
            memory = parse_profile(memory if isinstance(memory, str) else str(memory))
    with _refused("overrides"):
        return overrides.applied_to_memory(memory)


def _is_file(name: str, value: Any) -> bool:
    return name not in ("config", "memory") or str(value).endswith((".toml", ".py"))


def _completed(each: "Field[Any]") -> Option:
    option: Option = each.metadata["option"]
    name = option.name or each.name
    default = each.default_factory() if each.default_factory is not MISSING else each.default
    kinds = get_args(each.type) if isinstance(each.type, UnionType) else (each.type,)
    return replace(
        option,
        name=name,
        flag=(option.metavar if option.positional else option.flag) or f"--{name.replace('_', '-')}",
        help=option.help.format(default=default),
        switch=not default if isinstance(default, bool) else None,
        # A type in quotes is not known here.
        takes=(object,) if isinstance(each.type, str) else tuple(get_origin(kind) or kind for kind in kinds),
        stored=option.affects_result if option.stored is None else option.stored,
        varies=option.affects_result if option.varies is None else option.varies,
    )


_OPTIONS = {each.name: _completed(each) for each in fields(RunSpec)}


def option_of(name: str) -> Option:
    """Return the description of a field of `RunSpec`."""
    return _OPTIONS[name]


def run_options(algorithm: str) -> dict[str, Option]:
    """Return the descriptions of the fields that apply to an algorithm, by field."""
    return {name: option for name, option in _OPTIONS.items() if algorithm in option.algorithms}


@contextmanager
def _refused(name: str) -> Iterator[None]:
    """Turn errors of a block that reads a configuration or memory into a `SpecError` of the field."""
    try:
        yield
    except ValueError as error:
        raise SpecError(name, str(error)) from None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Setting of a run: specification, graph size, and machine.

    Parameters
    ----------
    spec : RunSpec
        The run.
    vertices, edges : int
        Size of the graph, as read.
    dropped_edges : int or None
        Edges dropped before the graph was placed; None if dropping was not requested.
    clock_hz : float
        Clock of the coprocessor in hertz.
    uploaded_bytes : int
        Bytes of the graph, in every direction needed, in coprocessor memory.
    """

    spec: RunSpec
    vertices: int
    edges: int
    dropped_edges: int | None = None
    clock_hz: float
    uploaded_bytes: int

    def machine_document(self) -> dict[str, Any]:
        """Return the machine and its memory as a JSON document."""
        spec = self.spec
        return {
            "config": spec.config_name,
            "configuration": asdict(spec.configuration),
            "memory": spec.memory_name,
            "memory_profile": spec.profile.describe(),
            "set": spec.overrides.values(),
            "executor": spec.executor,
            "threads": spec.threads,
            "clock_hz": self.clock_hz,
        }

    def seconds(self, cycles: int) -> float:
        """Return the simulated time of a number of cycles."""
        return cycles / self.clock_hz

    def gteps(self, edges: int, cycles: int) -> float:
        """Return 10**9 traversed edges per simulated second; 0 if no cycles were simulated."""
        return edges / self.seconds(cycles) / 1e9 if cycles else 0.0


class RunArguments(TypedDict, total=False):
    """Keywords of `cyscc.bfs` and `cyscc.scc`; all are optional.

    They are the fields of `RunSpec` that are keywords, described there, and

    Attributes
    ----------
    progress : bool
        Show progress on standard error if it is a terminal.
    name : str
        Name of the graph in results; its file by default.
    """

    config: str | AcceleratorConfig
    memory: "str | Profile"
    overrides: Mapping[str, Any]
    executor: str
    threads: int
    verify: bool
    undirected: bool
    simplify: bool
    cycle_limit: int | None
    queue_slack: int | None
    waves: str | PathLike[str] | None
    wave_window: tuple[int, int] | None
    scopes: tuple[str, ...]
    wave_view: bool
    record: str | PathLike[str] | None
    record_interval: int | None
    record_detail: str | None
    record_detail_interval: int | None
    trace: str | PathLike[str] | None
    live: str | PathLike[str] | Callable[[dict[str, Any]], None] | None
    live_every: str | None
    progress: bool
    name: str
