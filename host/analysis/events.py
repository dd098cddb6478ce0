"""Events of a record: its hottest moments, full FIFOs, vertices pushed twice, and overflows.

A record counts by interval and by instruction. So an event's cycle is the first one of its interval or instruction;
only a replay knows more.
"""

import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cyscc.host.analysis.event_kinds import KINDS, EventQuery
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record, memory_parts
from cyscc.host.specification.place import INSTRUCTION, KERNEL, Place
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSES

_NAMED = 0.2
"""Least share of a bank's accesses with which an array is named."""

_COLUMNS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Nearest(NamedTuple):
    """The event nearest to those asked for, if there are none: a sentence, and the command that shows it, if any."""

    text: str
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class FoundEvents:
    """Events that were found in a recorded run.

    Parameters
    ----------
    record : Record
        The record.
    frame : pandas.DataFrame
        The events, a row each; what a kind does not have is missing.
    found : dict of str to int
        Number of events of each kind, those left out included.
    kernels : pandas.DataFrame
        Of waits and full FIFOs, for each kernel and each cause or FIFO (`name`): number of events (`found`), cycle of
        the `first`, cycles of the `longest`, and its first cycle (`longest_at`).
    nearest : dict of str to Nearest
        Of a kind without events: what comes nearest.
    hottest : pandas.DataFrame or None
        If the run was made again, what was accessed in the bank of the first event of this kind, in its interval:
        `array`, `address`, `vertex`, `accesses`, cycle of the `first`, and mean `latency`.
    """

    record: Record
    frame: pd.DataFrame
    found: dict[str, int]
    kernels: pd.DataFrame
    nearest: dict[str, Nearest]
    hottest: pd.DataFrame | None = None

    def of(self, kind: str) -> pd.DataFrame:
        """Return the events of a kind."""
        return self.frame[self.frame["kind"] == kind]


class RecordEvents:
    """Finds events in the tables of a record.

    Parameters
    ----------
    record : Record
        The record.
    query : EventQuery
        The events that are looked for.

    Raises
    ------
    InputError
        The run has no such place.
    """

    def __init__(self, record: Record, query: EventQuery) -> None:
        self.record = record
        self.query = query
        self.place = place = query.place
        record.check_names(place)
        rows = place.rows_of(record.select(place), ["module"])
        if rows.empty:
            raise InputError(f"ran no instruction of the module {place.module} there", path=record.folder)
        self.rows = rows
        """The instructions to which the events are restricted."""
        self._all_instructions = len(place.rows_of(record.instructions)) == len(record.instructions)

    def events(self) -> FoundEvents:
        """Return the events.

        Raises
        ------
        InputError
            A table cannot be read.
        """
        frames: list[pd.DataFrame] = []
        found: dict[str, int] = {}
        nearest: dict[str, Nearest] = {}
        kernels = [_BY_KERNEL]
        for name in self.query.chosen:
            frame, nearest[name] = self.finders[name]()
            found[name] = len(frame)
            if name in _NAMES:
                kernels.append(_by_kernel(name, frame))
            if len(frame):
                frames.append(self.completed(name, frame))
                del nearest[name]
        frame = pd.concat([_NONE, *frames], ignore_index=True)
        return FoundEvents(
            record=self.record,
            frame=frame.reindex(columns=list(_COLUMNS)).astype(_COLUMNS),
            found=found,
            kernels=pd.concat(kernels, ignore_index=True),
            nearest=nearest,
        )

    @property
    def finders(self) -> dict[str, Callable[[], tuple[pd.DataFrame, Nearest]]]:
        """Functions that return the events of a kind, see `completed`, and what is nearest if there are none."""
        return {
            "cause": self._causes,
            "fifo": self._fifos,
            **{kind: partial(self._of_memory, kind) for kind in ("bank", "controller", "link")},
            "port": self._ports,
            "latency": self._latencies,
            "duplicate": self._duplicates,
            "overflow": self._overflows,
        }

    def completed(self, kind: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the first events of a kind in the order that is asked for, with the columns that all kinds have.

        Parameters
        ----------
        kind : str
            The kind.
        frame : pandas.DataFrame
            Events with `cycle`, `cycles`, `instruction` (-1: none), `amount`, and columns of the kind's own.
        """
        frame = frame.sort_values("cycle", kind="stable")
        if self.query.order == "size":
            frame = frame.sort_values("amount", ascending=False, kind="stable")
        frame = frame.head(self.query.top).reset_index(drop=True)
        places = self.record.attempts[list(INSTRUCTION)].reindex(frame["instruction"]).reset_index(drop=True)
        frame = frame.assign(kind=kind, unit=KINDS[kind].unit, **{name: places[name] for name in INSTRUCTION})
        # An intersection has no level, and the search of `cyscc bfs` no iteration.
        frame["level"] = frame["level"].where(frame["level"] >= 0)
        frame["iteration"] = frame["iteration"].where(frame["iteration"] > 0)
        if kind == "bank":
            frame["about"] = self._arrays_of(frame)
            frame["array"] = [text.partition(" ")[0] or None for text in frame["about"]]
        if "exact" not in frame:
            frame["exact"] = False
        if "at" not in frame:
            frame["at"] = frame["cycle"].astype(str)
        frame["command"] = [
            self.command(row["at"], row["cycles"], exact=row["exact"]) for row in frame.to_dict("records")
        ]
        return frame

    def command(self, at: Any, cycles: int, *, exact: bool = False) -> str:
        """Return the command that shows so many cycles from a point on, and before an exact one what led to it."""
        folder = printable(shlex.quote(str(self.record.folder)))
        before, shown = (" --before 50", cycles + 100) if exact else ("", max(cycles, 100))
        return f"cyscc replay {folder} --at {at}{before} --cycles {min(shown, 10_000)}"

    @cached_property
    def _intervals(self) -> pd.DataFrame:
        """The intervals to which events are restricted, by first cycle: `cycles`, and `instruction`, or -1 of the host.

        An interval in which several instructions ran counts for the one with most of its cycles, unless instructions
        were chosen that have no interval so.
        """
        record, pairs = self.record, self.record.overlaps
        main = pairs.sort_values("both").drop_duplicates("cycle", keep="last")
        chosen = main[main["instruction"].isin(self.rows.index)]
        if self._all_instructions:
            host = np.setdiff1d(np.arange(0, record.cycles, record.interval), main["cycle"])
            chosen = pd.concat([chosen, pd.DataFrame({"cycle": host, "instruction": -1})])
        elif chosen.empty:
            chosen = pairs[pairs["instruction"].isin(self.rows.index)].drop_duplicates("cycle")
        frame = chosen.set_index("cycle").sort_index()
        lengths = np.minimum(record.cycles - frame.index, record.interval)
        cycles, _ = self.place.widened(record.interval)
        return frame[["instruction"]].assign(cycles=lengths).loc[slice(*(cycles or (None, None)))]

    def _interval_rows(self, table: str) -> pd.DataFrame:
        """Return the rows of a table in the chosen intervals and kernels, with `cycles` and `instruction`."""
        frame = self.record.frame(table)
        frame = self.place.rows_of(frame[frame["cycle"].isin(self._intervals.index)], KERNEL)
        return frame.join(self._intervals, on="cycle")

    def _causes(self) -> tuple[pd.DataFrame, Nearest]:
        names = [cause.name for cause in CAUSES if cause.kind == "limit"]
        if self.query.cause is not None:
            names = [self.query.cause]
        rows, keys = self._interval_rows("kernels").astype({"module": str}), ["module", "cycle"]
        groups = rows.groupby(keys)
        sums = groups[names].sum()
        share = sums.max(axis=1) / (groups.size() * groups["cycles"].first())
        told = pd.DataFrame({"cause": sums.idxmax(axis=1), "amount": share})
        rows = rows.join(told[told["amount"] > 0], on=keys, how="inner")
        own = rows[names].to_numpy()[np.arange(len(rows)), pd.Index(names).get_indexer(rows["cause"])]
        rows = rows.assign(use=own / rows["cycles"])
        most = rows.loc[rows.groupby(keys)["use"].idxmax()]
        columns = [*keys, "cycles", "instruction", "engine", "kernel", "cause", "amount", "use"]
        return most[columns], Nearest("no kernel waits there")

    def _fifos(self) -> tuple[pd.DataFrame, Nearest]:
        record = self.record
        depths = {
            (module, each["name"]): int(each["depth"])
            for module, fifos in record.machine["fifos"].items()
            for each in fifos
        }
        rows = self._interval_rows("fifos").astype({"module": str, "fifo": str})
        rows = self.place.rows_of(rows, ["fifo"])
        depth = pd.Series([depths[key] for key in zip(rows["module"], rows["fifo"], strict=True)], index=rows.index)
        rows = rows.assign(depth=depth, use=rows["most"] / depth)
        full = rows[rows["most"] >= rows["depth"]]
        keys = ["engine", "module", "kernel", "fifo"]
        full = full.sort_values([*keys, "cycle"])
        # Neighbouring intervals of one FIFO are one event.
        new = (full[keys] != full[keys].shift()).any(axis=1) | (full["cycle"].diff() != record.interval)
        spells = full.groupby(new.cumsum())
        frame = spells[[*keys, "cycle", "instruction", "depth"]].first()
        frame["amount"] = frame["cycles"] = spells["cycles"].sum()
        most = spells["most"].max()
        frame["about"] = [
            f"{of}+{held - of} of {of}" if held > of else f"{held} of {of}"
            for held, of in zip(most, frame["depth"], strict=True)
        ]
        first = ~frame.sort_values("cycle").duplicated(keys)
        frame["at"] = [
            str(Place(event="full", fifo=row.fifo, engine=row.engine, module=row.module, kernel=row.kernel))
            if first[row.Index] and self._all_instructions and self.place.cycles is None
            else str(row.cycle)
            for row in frame.itertuples()
        ]
        nearest = Nearest("no FIFO held an entry there")
        if frame.empty and rows["most"].any():
            row = rows.loc[rows["use"].idxmax()]
            nearest = Nearest(
                "no FIFO is full there; nearest: "
                f"{row['fifo']} of engine{row['engine']}.{row['module']}{row['kernel']} held {row['most']} of "
                f"{row['depth']} in the interval from cycle {row['cycle']:,} on",
                self.command(row["cycle"], row["cycles"]),
            )
        return frame.drop(columns="depth"), nearest

    def _of_memory(self, kind: str) -> tuple[pd.DataFrame, Nearest]:
        """Return the busiest part of the memory of a kind in each interval."""
        if self.record.memory is None:
            return _NONE, Nearest(f"this memory has no {'links' if kind == 'link' else 'banks'}")
        table, noun, keys, busy = memory_parts(self.record)[kind]
        rows = self._interval_rows(table)
        if self.place.bank is not None:
            rows = rows[(rows[["controller", "bank"]] == list(self.place.bank)).all(axis=1)]
        sums = rows[rows[noun] > 0].groupby(["cycle", *keys])[[noun, "waiting"]].sum().reset_index()
        frame = sums.loc[sums.groupby("cycle")[noun].idxmax()].rename(columns={noun: "amount"})
        frame = frame.join(self._intervals, on="cycle").reset_index(drop=True)
        use, waiting = frame["amount"] * busy / frame["cycles"], frame["waiting"] / frame["amount"]
        return frame.assign(use=use, waiting=waiting), Nearest(f"no {'request' if kind == 'link' else 'access'} there")

    def _ports(self) -> tuple[pd.DataFrame, Nearest]:
        rows = self._interval_rows("engines")
        ports = self.record.machine["kernels"]["bfs"] * rows["engine"].nunique()
        sums = rows.groupby("cycle")[["read_stalls", "write_stalls"]].sum()
        frame = self._intervals.join(sums, how="inner").reset_index()
        frame["amount"] = frame[["read_stalls", "write_stalls"]].max(axis=1) / (ports * frame["cycles"])
        frame["about"] = np.where(frame["read_stalls"] >= frame["write_stalls"], "no read", "no write")
        frame = frame.drop(columns=["read_stalls", "write_stalls"])
        return frame[frame["amount"] > 0], Nearest("no port stalls there")

    def _latencies(self) -> tuple[pd.DataFrame, Nearest]:
        rows = self._interval_rows("arrays")
        rows = rows[rows["reads"] > 0]
        sums = rows.groupby("cycle")[["latency", "reads"]].sum()
        frame = self._intervals.join((sums["latency"] / sums["reads"]).rename("amount"), how="inner").reset_index()
        by_array = rows.groupby(["cycle", "array"], observed=True)[["latency", "reads"]].sum()
        mean = (by_array["latency"] / by_array["reads"]).rename("mean").reset_index()
        slowest = mean.loc[mean.groupby("cycle")["mean"].idxmax()].set_index("cycle")
        frame["array"] = slowest["array"].astype(str).reindex(frame["cycle"]).to_numpy()
        means = slowest["mean"].reindex(frame["cycle"])
        frame["about"] = [f"{name} {value:,.0f}" for name, value in zip(frame["array"], means, strict=True)]
        return frame, Nearest("no read there")

    def _duplicates(self) -> tuple[pd.DataFrame, Nearest]:
        rows = self.rows[self.rows["duplicates"] > 0]
        frame = self._of_instructions(rows, rows["duplicates"])
        if not self.record.document["configuration"]["bfs_only"]:
            frame["at"] = [_point("duplicate", row) for row in rows.to_dict("records")]
        return frame, Nearest("no vertex is pushed twice there")

    def _overflows(self) -> tuple[pd.DataFrame, Nearest]:
        every = self.record.attempts
        rows = every[every["attempt"] < self.record.attempt].groupby("attempt").tail(1)
        rows = self.place.rows_of(self.place.instructions_of(rows), ["module"])
        frame = self._of_instructions(rows, rows["pushed"])
        frame["at"] = [_point("overflow", row) for row in rows.to_dict("records")]
        return frame, Nearest("no queue overflows")

    @staticmethod
    def _of_instructions(rows: pd.DataFrame, amount: "pd.Series[Any]") -> pd.DataFrame:
        frame = pd.DataFrame({"cycle": rows["start"], "cycles": rows["cycles"], "amount": amount})
        return frame.assign(instruction=rows.index).reset_index(drop=True)

    def _arrays_of(self, frame: pd.DataFrame) -> list[str]:
        """Return the arrays with most accesses of the banks of events, each with its share in the instruction."""
        keys = ["instruction", "controller", "bank"]
        its = self.record.frame("instruction_banks").merge(frame[keys].drop_duplicates(), on=keys)
        texts: dict[tuple[int, ...], str] = {}
        for key, rows in its.sort_values("accesses", ascending=False).groupby(keys):
            total = int(rows["accesses"].sum())
            shares = zip(rows["array"], rows["accesses"] / total, strict=True)
            texts[key] = ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= _NAMED)
        return [texts.get(key, "") for key in frame[keys].itertuples(index=False, name=None)]


def _point(event: str, row: Mapping[str, Any]) -> str:
    """Return the place of an event in an instruction."""
    iteration, level = row["iteration"], row["level"]
    return str(
        Place(
            event=event,
            iteration=(iteration, iteration) if iteration else None,
            phase=row["phase"] if iteration else None,
            level=(level, level) if level >= 0 else None,
        )
    )


_NAMES = {"wait": "cause", "fifo": "fifo"}
"""Columns that name what an event of a kernel is of, by kind."""

_BY_KERNEL = pd.DataFrame(
    {name: [] for name in ("kind", *KERNEL, "name", "found", "first", "longest", "longest_at")}
).astype(dict.fromkeys(("engine", "kernel", "found", "first", "longest", "longest_at"), "Int64"))


def _by_kernel(kind: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return number, first and longest of the events of each kernel and cause, or FIFO."""
    frame = frame.rename(columns={_NAMES[kind]: "name"})
    keys = [*KERNEL, "name"]
    longest = frame.sort_values("cycles", ascending=False, kind="stable").drop_duplicates(keys).set_index(keys)
    groups = frame.groupby(keys)["cycle"]
    table = pd.DataFrame({"found": groups.size(), "first": groups.min()}).reset_index()
    its = longest.reindex(pd.MultiIndex.from_frame(table[keys]))
    return table.assign(kind=kind, longest=its["cycles"].to_numpy(), longest_at=its["cycle"].to_numpy())


_NONE = pd.DataFrame({name: [] for name in ("cycle", "cycles", "instruction", "controller", "bank", "amount")})
