"""Specification of a run: one value, from which options, keywords, sweep axes, documents and checkpoints derive.

The `Option` of a field of `RunSpec`, in `run.toml`, describes it completely. A new option of a run takes a field here,
its description there, and the code where it takes effect.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, TypedDict, get_args, get_origin

from cyscc.host.output.files import STANDARD_OUTPUT
from cyscc.host.specification.ask import Ask, described, refusing_value
from cyscc.host.specification.overrides import NO_OVERRIDES, Overrides
from cyscc.host.specification.place import Place
from cyscc.sim.configuration import PRESETS, AcceleratorConfig, load_config
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.processors import available_cores
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.sim.memory import Profile

ALGORITHMS = ("bfs", "scc")
"""Algorithms of runs, by their commands."""
PRESET_NAMES = ", ".join(PRESETS)

OWN_RULES = "the run used memory rules of its own ({}): name their file: --memory FILE.py"
"""Cause of the refusal of a run whose rules, which are code, the user has not named."""

RECORD_INTERVAL = 1024
"""Default cycles of an interval of a record."""
DETAIL_INTERVAL = 64
"""Default cycles of an interval of the record of a place in detail."""

_MADE_OF = ("graph", "config", "memory", "overrides")
"""Fields identified by the content that they refer to, not by their text."""
_CYCLE_UNITS = {"cycles": 1, "kcycles": 10**3, "Mcycles": 10**6, "Gcycles": 10**9}
_SECOND_UNITS = {"s": 1, "min": 60, "h": 3600}
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([A-Za-z]+)")
_LONGEST_INTERVAL = 10**15  # cycles or seconds
_OWN = "own"
"""Name of a configuration that is not a preset."""


def _window(text: str) -> tuple[int, int] | None:
    """Return the cycles of a place."""
    return Place.parse(text).taken("wave-window").cycles


def _place_in_detail(text: str) -> Place:
    return Place.parse(text).taken("record-detail")


def _waves_file(text: str) -> None:
    """Refuse a file that no waveforms can be written to."""
    if text == STANDARD_OUTPUT:
        raise ValueError("needs a file, not standard output")
    if Path(text).suffix not in ("", ".vcd", ".fst"):
        raise ValueError(f"writes FST and VCD files, which end in .fst or .vcd: {text}")


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
class Option(Ask):
    """Description of a field of `RunSpec`.

    Parameters
    ----------
    name : str
        Name in options, documents and sweeps, if it differs from the field's.
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
    path : bool
        Whether it may name a file, relative to the working folder of the run.
    takes : tuple of type
        Types of its values, those of the field.
    positional : bool
        Whether it is a positional argument on the command line.
    """

    name: str = ""
    algorithms: tuple[str, ...] = ALGORITHMS
    affects_result: bool = False
    stored: bool | None = None
    changeable: bool = True
    varies: bool | None = None
    path: bool = False
    takes: tuple[Any, ...] = (object,)
    positional: bool = False

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


_interval, _given = Interval.parse, GivenText


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

    algorithm: str
    graph: str
    labels: str | None = None
    source: int | None = None
    levels: str | None = None
    roofline: bool = False
    roofline_plot: str | None = None
    config: str | AcceleratorConfig = "hc2"
    memory: "str | Profile" = "hc2"
    executor: str = EXECUTORS[0]
    overrides: Overrides = NO_OVERRIDES
    threads: int = field(default_factory=available_cores)
    verify: bool = True
    undirected: bool = False
    simplify: bool = False
    cycle_limit: int | None = None
    queue_slack: int | None = None
    waves: str | None = None
    wave_window: tuple[int, int] | None = None
    scopes: tuple[str, ...] = ()
    wave_view: bool = False
    checkpoint: str | None = None
    checkpoint_every: str | None = None
    resume: str | None = None
    record: str | None = None
    record_interval: int | None = None
    record_detail: str | None = None
    record_detail_interval: int | None = None
    trace: str | None = None
    live: str | Callable[[dict[str, Any]], None] | None = None
    live_every: str | None = None

    def __post_init__(self) -> None:
        for name, option in _OPTIONS.items():
            value = getattr(self, name)
            with refusing_value(name):
                if isinstance(value, PathLike):
                    value = fspath(value)
                elif name == "overrides":
                    value = Overrides.given(value)
                elif isinstance(value, list) or getattr(value, "ndim", False):
                    value = tuple(value)
                if value is not None:
                    value = option.checked(option.name, value)
                    object.__setattr__(self, name, value)
                    if not isinstance(value, option.takes):
                        kinds = " or ".join(each.__name__ for each in option.takes)
                        raise ValueError(f"{option.name} must be {kinds}, not {value!r}")
                if self.algorithm not in option.algorithms and value:
                    which = "searches have" if "bfs" in option.algorithms else "components have"
                    raise ValueError(f"{option.name}: only {which} one")
        if self.wave_window is not None:
            with refusing_value("wave_window", "wave_window: "):
                object.__setattr__(self, "wave_window", Place(cycles=self.wave_window).cycles)
        for rule in _RULES:
            rule.check(lambda name: bool(getattr(self, name)), lambda name: option_of(name).flag)
        if self.record_interval is None and (self.record is not None or self.trace is not None):
            object.__setattr__(self, "record_interval", RECORD_INTERVAL)
        if self.roofline_plot is not None:
            object.__setattr__(self, "roofline", True)

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
            with refusing_value("config"):
                configuration.require("finds_components", name=self.config_text)
        if self.roofline:
            with refusing_value("roofline"):
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
    def outputs(self) -> dict[str, str]:
        """Files that the run writes, by option."""
        given = {name: getattr(self, name) for name, option in _OPTIONS.items() if option.writes is not None}
        return {option_of(name).flag: path for name, path in given.items() if isinstance(path, str)}

    @property
    def folders(self) -> dict[str, str | None]:
        """Folders that the run writes, by option."""
        return {"--checkpoint": self.checkpoint, "--record": self.record}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: memory rules loaded from a file cannot be pickled."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _chosen(self, wanted: Callable[[Option], bool], without: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of some of the algorithm's options, by field."""
        options = run_options(self.algorithm).items()
        return {name: getattr(self, name) for name, option in options if wanted(option) and name not in without}

    def document(self) -> dict[str, Any]:
        """Return the stored options by name, JSON-able; configuration and memory by name only."""
        named = {"overrides": self.overrides.values(), "config": self.config_name, "memory": self.memory_name}
        values = self._chosen(lambda option: bool(option.stored)) | named
        return {option_of(name).name: value for name, value in values.items()}

    def result_options(self) -> dict[str, Any]:
        """Return the options that the result depends on besides graph and machine, by name, JSON-able."""
        values = self._chosen(lambda option: option.affects_result, without=_MADE_OF)
        return {option_of(name).name: value for name, value in values.items()}

    def identity(self, graph: str) -> dict[str, Any]:
        """Return the identity of a run, which resuming must not change, JSON-able.

        Parameters
        ----------
        graph : str
            Digest of the graph as placed on the machine.
        """
        return {
            "graph": graph,
            "configuration": asdict(self.configuration),
            "memory": self.profile.describe(),
            "options": self._chosen(lambda option: not option.changeable),
        }

    def varied(self) -> dict[str, Any]:
        """Return the options that a sweep can vary, by name, JSON-able; machine and memory with all their values."""
        values = self._chosen(lambda option: bool(option.varies), without=_MADE_OF)
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
                with refusing_value(name):
                    option.check_stored(value)
                named = name in ("config", "memory") and not str(value).endswith((".toml", ".py"))
                if option.path and value and folder != Path.cwd() and not named:
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
        with refusing_value("config"):
            config = load_config(config)
    with refusing_value("overrides"):
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
        with refusing_value("memory"):
            memory = parse_profile(memory if isinstance(memory, str) else str(memory))
    with refusing_value("overrides"):
        return overrides.applied_to_memory(memory)


def _completed(each: "Field[Any]", option: Option) -> Option:
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


_DESCRIBED, _RULES = described(globals(), "run", Option)
_OPTIONS = {each.name: _completed(each, _DESCRIBED[each.name]) for each in fields(RunSpec)}


def option_of(name: str) -> Option:
    """Return the description of a field of `RunSpec`."""
    return _OPTIONS[name]


def run_options(algorithm: str) -> dict[str, Option]:
    """Return the descriptions of the fields that apply to an algorithm, by field."""
    return {name: option for name, option in _OPTIONS.items() if algorithm in option.algorithms}


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
    """Keywords of `cyscc.bfs` and `cyscc.scc`: the fields of `RunSpec` that both have, described there."""

    config: str | AcceleratorConfig
    memory: "str | Profile"
    executor: str
    overrides: Mapping[str, Any]
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
    checkpoint: str | PathLike[str] | None
    checkpoint_every: str | None
    resume: str | PathLike[str] | None
    record: str | PathLike[str] | None
    record_interval: int | None
    record_detail: str | None
    record_detail_interval: int | None
    trace: str | PathLike[str] | None
    live: str | PathLike[str] | Callable[[dict[str, Any]], None] | None
    live_every: str | None


class ComponentArguments(RunArguments, total=False):
    """Keywords of `cyscc.scc`."""

    labels: str | PathLike[str] | None


class SearchArguments(RunArguments, total=False):
    """Keywords of `cyscc.bfs`."""

    levels: str | PathLike[str] | None
    roofline: bool
    roofline_plot: str | PathLike[str] | None
