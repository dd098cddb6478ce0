"""Checks of records: what adds up within them and with their results; and records read by pandas alone."""

import json
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from jsonschema import Draft202012Validator

from cyscc.host.record.reader import Record
from cyscc.host.record.tables import TABLES
from cyscc.sim.observation.causes import CAUSES, IDLE_CAUSES

NAMES = [cause.name for cause in CAUSES]
_KERNEL = ["engine", "module", "kernel"]


@cache
def _validator() -> Draft202012Validator:
    path = Path(__file__).parents[2] / "host" / "record" / "record.schema.json"
    return Draft202012Validator(json.loads(path.read_text()))


def frames(record: Record) -> dict[str, pd.DataFrame]:
    """Return all tables."""
    return {table.name: record.frame(table.name) for table in TABLES}


def _summed(rows: pd.DataFrame, keys: list[str], names: list[str]) -> Any:
    return rows.groupby(keys, observed=True)[names].sum()


def check_record(folder: Path | str) -> Record:
    """Check a record by all that must hold in it, and return it."""
    record = Record(folder)
    document = record.document
    _validator().validate(document)
    tables = frames(record)
    assert document["tables"] == {name: len(rows) for name, rows in tables.items()}
    _check_sizes(document)
    _check_kernels(record, tables)
    _check_instructions(record, tables)
    _check_memory(record, tables)
    return record


def _check_sizes(document: dict[str, Any]) -> None:
    """Check that the machine's sizes are those of its configuration, and the memory's those of its statistics."""
    machine, config = document["machine"], document["configuration"]
    assert machine["kernels"] == {module: config[f"{module}_kernels"] for module in ("bfs", "intersection")}
    memory, counted = machine["memory"], document["result"]["statistics"]["memory"]
    assert (memory is None) == ("banks" not in counted)
    if memory is not None:
        assert memory["controllers"] * memory["banks"] == len(counted["banks"])
        assert memory["links"] == document["memory_profile"].get("links", 1) * memory["controllers"]
        busy = memory["bank_busy"] * sum(counted["banks"])
        assert abs(busy - counted["bank_busy_cycles"]) <= 1e-6 * busy


def _check_kernels(record: Record, tables: dict[str, pd.DataFrame]) -> None:
    """Check that every cycle of every kernel has one cause, and that there are as many as were simulated."""
    document, rows = record.document, tables["kernels"]
    result = document["result"]
    kernels = sum(document["machine"]["kernels"].values()) * document["machine"]["engines"]
    assert record.cycles == result["wall"]["simulated_cycles"] == result["statistics"]["cycles"]["total"]
    lengths = np.minimum(record.interval, record.cycles - rows["cycle"])
    assert (rows[NAMES].sum(axis=1) == lengths).all()
    assert len(rows) == kernels * -(-record.cycles // record.interval)
    assert (_summed(rows, _KERNEL, NAMES).sum(axis=1) == record.cycles).all()
    cycles = document["cycles"]
    totals = _summed(rows, _KERNEL, NAMES)
    assert (totals["host"] == cycles["host"] + cycles["readout"]).all()
    assert (totals["restarted"] == cycles["restarted"]).all()
    sums = _summed(rows, ["module"], NAMES)
    for module, causes in document["causes"].items():
        if document["machine"]["kernels"][module]:
            assert sums.loc[module].to_dict() == causes
        else:
            assert not any(causes.values())
    told = result["statistics"]["causes"]
    for module in told:
        shown = (
            {name: causes[name] for name in NAMES if name not in IDLE_CAUSES}
            if (causes := document["causes"][module])
            else {}
        )
        assert {name: count for name, count in told[module].items() if name != "idle"} == shown


def _check_instructions(record: Record, tables: dict[str, pd.DataFrame]) -> None:
    """Check that instructions agree with the intervals and with the result."""
    document, rows = record.document, tables["instructions"]
    last = rows[rows["attempt"] == rows["attempt"].max()]
    assert last["cycles"].sum() == document["cycles"]["instructions"] == document["result"]["cycles"]["total"]
    assert (rows["start"].diff().dropna() > 0).all()
    assert (rows["working"] <= rows["cycles"]).all()
    # Each iteration begins at a vertex that none before it has coloured.
    assert (last.groupby("iteration")["source"].nunique() == 1).all()
    assert last["source"].nunique() == last["iteration"].nunique()
    own = tables["instruction_kernels"].merge(rows, on="instruction")
    assert (own[NAMES].sum(axis=1) == own["cycles"]).all()
    # The last kernel is done when the level ends to work; each begins after its start and ends after its work.
    assert (own.groupby("instruction")["done"].max() == own.groupby("instruction")["working"].first()).all()
    assert (own["begun"] <= own["done"]).all()
    counted = own[own["attempt"] == rows["attempt"].max()]
    assert (counted["starting"] == counted["begun"]).all()
    working = [name for name in NAMES if name not in IDLE_CAUSES] + ["starting", "ending", "no_work"]
    # A kernel whose module never ran has no rows there.
    sums = _summed(counted, _KERNEL, working)
    whole = _summed(tables["kernels"], _KERNEL, working)
    if not sums.empty:
        pd.testing.assert_frame_equal(sums, whole.loc[sums.index], check_dtype=False)
    assert (whole.drop(sums.index).sum(axis=1) == 0).all()
    if document["command"] == "bfs":
        levels = pd.DataFrame(document["result"]["levels"])
        for name in ("frontier", "pushed", "cycles", "start"):
            assert last[name].tolist() == levels[name].tolist()
        assert last["edges"].sum() == document["result"]["edges_traversed"]
        assert last["duplicates"].sum() == document["result"]["duplicates"]
    else:
        for phase in ("forward", "backward"):
            total = document["result"][phase]
            mine = last[last["phase"] == phase]
            assert mine["cycles"].sum() == total["cycles"]
            assert mine["duplicates"].sum() == total["duplicates"]
            assert mine["edges"].sum() == total["edges"]
            assert len(mine) == total["levels"]
        assert (last["phase"] == "intersection").sum() == document["result"]["intersection"]["runs"]
    if rows.empty:
        return
    fills = tables["fifos"].groupby(["module", "fifo"], observed=True)
    by_instruction = tables["instruction_fifos"].groupby(["module", "fifo"], observed=True)
    common = by_instruction["fill"].sum()
    assert (fills["fill"].sum().loc[common.index] == common).all()
    assert (fills["most"].max().loc[common.index] == by_instruction["most"].max()).all()


def _check_memory(record: Record, tables: dict[str, pd.DataFrame]) -> None:
    """Check what the memory recorded against its statistics, which are of the last attempt, and against itself."""
    memory = record.document["result"]["statistics"]["memory"]
    arrays, banks, taken = tables["arrays"], tables["banks"], tables["instruction_banks"]
    accesses = int(arrays["reads"].sum() + arrays["writes"].sum())
    if "banks" in memory:
        assert banks["accesses"].sum() == accesses == taken["accesses"].sum() == tables["links"]["requests"].sum()
        assert banks["waiting"].sum() == taken["waiting"].sum()
        keys = ["controller", "bank"]
        pd.testing.assert_frame_equal(
            _summed(banks, keys, ["accesses", "waiting"]), _summed(taken, keys, ["accesses", "waiting"])
        )
        links = tables["instruction_links"]
        by_engine = links.groupby("engine")[["reads", "writes"]].sum()
        assert by_engine.to_dict() == arrays.groupby("engine")[["reads", "writes"]].sum().to_dict()
        of_links = links.groupby("instruction")[["reads", "writes"]].sum().sum(axis=1)
        assert of_links.equals(taken.groupby("instruction")["accesses"].sum().astype(of_links.dtype))
        opened = tables["instruction_rows"]
        keys = ["instruction", "controller", "bank"]
        accessed = taken.groupby(keys)["accesses"].sum()
        assert (opened.set_index(keys)["openings"] <= accessed.reindex(opened.set_index(keys).index)).all()
        assert links[["reads", "writes"]].sum().to_dict() == arrays[["reads", "writes"]].sum().to_dict()
        by_link = links.assign(requests=links["reads"] + links["writes"])
        keys = ["engine", "link"]
        assert _summed(by_link, keys, ["requests"]).equals(
            _summed(tables["links"], keys, ["requests"]).astype("uint32")
        )
        of_arrays = arrays.assign(accesses=arrays["reads"] + arrays["writes"])
        assert (
            _summed(of_arrays, ["array"], ["accesses"]).to_dict() == _summed(taken, ["array"], ["accesses"]).to_dict()
        )
    else:
        assert banks.empty
        assert taken.empty
        assert tables["links"].empty
    latencies = tables["instruction_latencies"]
    assert latencies["reads"].sum() == arrays["reads"].sum()
    if latencies["latency"].max() < 2047:
        assert (latencies["latency"].astype(int) * latencies["reads"]).sum() == arrays["latency"].sum()
    if record.document["result"]["retries"] == 0:
        assert arrays["reads"].sum() == memory["reads"]["total"]
        assert arrays["writes"].sum() == memory["writes"]["total"]
        engines = tables["engines"]
        assert engines["ordering"].sum() == memory["waiting_cycles"]["ordering"]
        # The statistics are taken before the event counters are read.
        beyond = record.cycles - memory["cycles"]
        for kind in ("read", "write"):
            counted = np.array(memory["stall_cycles"][kind])
            assert 0 <= engines[f"{kind}_stalls"].sum() - counted.sum() <= beyond * counted.size
        if "banks" in memory:
            by_bank = banks.groupby(["controller", "bank"])["accesses"].sum()
            assert by_bank.tolist() == [count for count in memory["banks"] if count]
            assert banks["waiting"].sum() == memory["waiting_cycles"]["bank"]
            assert tables["links"]["waiting"].sum() == memory["waiting_cycles"]["link"]


Numbers = npt.NDArray[np.float64]


class Plain:
    """A record, read by pandas alone.

    Parameters
    ----------
    folder : Path
        Its folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document: dict[str, Any] = json.loads((folder / "record.json").read_text())
        self.machine = self.document["machine"]
        self.engines = self.machine["engines"]
        self.tables = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
        for table in self.tables.values():
            for name in table.columns:
                if isinstance(table[name].dtype, pd.CategoricalDtype):
                    table[name] = table[name].astype(str)
        every = self.tables["instructions"]
        self.instructions = every[every["attempt"] == every["attempt"].max()].copy()
        self.instructions["module"] = [
            "intersection" if phase == "intersection" else "bfs" for phase in self.instructions["phase"]
        ]
        self.modules = [name for name in ("bfs", "intersection") if name in set(self.instructions["module"])]
        self.total: int = self.document["cycles"]["total"]

    def kernels(self, module: str) -> int:
        """Return the kernels of a module in all AEs."""
        return int(self.machine["kernels"][module] * self.engines)

    def of(self, table: str, **fixed: object) -> pd.DataFrame:
        """Return rows of a table: of the last attempt, where it is one of instructions; with some columns as given."""
        rows = self.tables[table]
        if "instruction" in rows and table != "instructions":
            columns = ["instruction", "iteration", "phase", "level"]
            rows = rows.merge(self.instructions[columns], on="instruction")
        for name, value in fixed.items():
            rows = rows[rows[name] == value]
        return rows

    def columns(self, width: int) -> Numbers:
        """Return the cycles of each column of time."""
        starts = np.arange(0, self.total, width)
        return np.minimum(starts + width, self.total) - starts

    def over_time(self, rows: pd.DataFrame, name: str, width: int) -> Numbers:
        """Return the sums of a column of a table of intervals in each column of time."""
        found = rows.groupby(rows["cycle"] // width)[name].sum()
        return found.reindex(range(len(self.columns(width))), fill_value=0).to_numpy(np.float64)

    @cache  # noqa: B019
    def _averages(self, width: int) -> dict[str, pd.DataFrame]:
        """Return the cycles by cause in each column of time, of an average kernel of each module."""
        found = {}
        for module in self.modules:
            rows = self.of("kernels", module=module)
            sums = rows.drop(columns=["cycle", "engine", "module", "kernel"]).groupby(rows["cycle"] // width).sum()
            found[module] = sums / self.kernels(module)
        return found

    def average(self, cause: str, width: int) -> Numbers:
        """Return the cycles of a cause in each column of time: of an average kernel of the module that runs."""
        # What is outside of all runs is the same for both.
        modules = self.modules[:1] if cause in ("host", "restarted") else self.modules
        found: Numbers = np.sum([self._averages(width)[module][cause].to_numpy(float) for module in modules], axis=0)
        return found

    @cached_property
    def _stacks(self) -> pd.DataFrame:
        rows = self.of("instruction_kernels")
        sums = rows.select_dtypes("number").groupby("instruction").sum()
        return sums.reindex(self.instructions["instruction"], fill_value=0)

    def stack(self, cause: str) -> Numbers:
        """Return the cycles of a cause in each instruction: of an average kernel of its module."""
        kernels = np.array([self.kernels(module) for module in self.instructions["module"]])
        found: Numbers = self._stacks[cause].to_numpy(float) / kernels
        return found
