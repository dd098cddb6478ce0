"""The roofline of a recorded run: the least cycles that each part of the machine allows its levels."""

from typing import Any

import numpy as np
import numpy.typing as npt

from host.record.tables import MODULES, PHASES
from host.report.activity import Activity
from host.report.columns import Integers, codes, numbers, sums
from host.report.traffic import Traffic
from host.studies.roofline.analysis import Roofline
from host.studies.roofline.crossbar import crossbar_cycles
from host.studies.roofline.limits import Bounds
from host.studies.roofline.traffic import LevelTraffic
from sim.configuration import AcceleratorConfig
from sim.latencies import READS_PER_EDGE, READS_PER_ENTRY, WRITES_PER_VISIT
from sim.memory import Contention, profile_from

__all__ = ["recorded_roofline"]


def recorded_roofline(activity: Activity, traffic: Traffic) -> tuple[Roofline, Integers] | None:
    """Return the roofline of the levels of a run, and which instructions they are.

    A level's entries, edges and pushes follow from what its kernels issued, and its banks from the record. The link of
    an access follows from its bank; which AE it came from is not recorded, so the busiest link is that of all AEs
    together. Which level opened a row is not recorded either: each has its bank's share of the run. None where no such
    thing can be told: the memory's rules are not there, or the machine does not read two words an edge and write three
    a push.

    Parameters
    ----------
    activity : Activity
        What the kernels did.
    traffic : Traffic
        What they asked of the memory.
    """
    document = activity.record.document
    config = AcceleratorConfig(**document["configuration"])
    if not (config.keeps_reach_queue and config.reads_every_word):
        return None
    try:
        memory = profile_from({name: value for name, value in document["memory_profile"].items() if name != "source"})
    except ValueError:
        return None
    bounds = Bounds.of(config, memory)
    instructions = activity.instructions
    (levels,) = np.nonzero(instructions.phase != PHASES.index("intersection"))
    if not levels.size:
        return None
    work = _work(activity, levels, kernels=bounds.kernels)
    by_bank = _by_bank(traffic, bounds.contention)
    opening = _opening(document, bounds.contention)
    limits, crossbars, requests = [], [], []
    for row, level in enumerate(levels.tolist()):
        level_traffic, by_link = _level(work, row, by_bank.get(level), bounds, opening)
        limits.append(bounds.limits(level_traffic))
        requests.append(level_traffic.requests)
        if bounds.contention is not None:
            crossbars.append(crossbar_cycles(bounds.kernels // bounds.engines, by_link[None, :]))
    roofline = Roofline(
        bounds=bounds,
        edges=work["edges"].sum(axis=1),
        requests=np.array(requests, np.int64),
        cycles=instructions.cycles[levels],
        limits=np.array(limits, np.int64),
        crossbar=None if bounds.contention is None else np.array(crossbars, np.int64),
    )
    return roofline, levels


def _work(activity: Activity, levels: npt.NDArray[np.intp], *, kernels: int) -> dict[str, Integers]:
    """Return entries, edges and pushes of levels by kernel; shape (levels, kernels) each."""
    table = activity.record.table("instruction_kernels")
    row_of = np.full(activity.instructions.count + 1, -1, np.int64)
    row_of[levels] = np.arange(levels.size)
    row = row_of[activity.instructions.places(numbers(table, "instruction"))]
    row[codes(table, "module", MODULES) != MODULES.index("bfs")] = -1
    lane = numbers(table, "engine") * activity.kernels[0] + numbers(table, "kernel")
    issued = {
        name: sums(numbers(table, name), (levels.size, kernels), row, lane) for name in ("issue_1", "issue_2", "write")
    }
    return {
        "entries": issued["issue_1"] // READS_PER_ENTRY,
        "edges": issued["issue_2"],
        "pushes": issued["write"] // WRITES_PER_VISIT,
    }


def _by_bank(traffic: Traffic, contention: Contention | None) -> dict[int, tuple[Integers, Integers]]:
    """Return banks and their accesses by instruction."""
    if contention is None:
        return {}
    place, bank, _, accesses, _ = traffic.by_instruction
    order = np.argsort(place, kind="stable")
    place, bank, accesses = place[order], bank[order], accesses[order]
    found, first = np.unique(place, return_index=True)
    ends = [*first[1:].tolist(), place.size]
    parts = zip(found.tolist(), first.tolist(), ends, strict=True)
    return {number: (bank[begin:end], accesses[begin:end]) for number, begin, end in parts}


def _opening(document: dict[str, Any], contention: Contention | None) -> npt.NDArray[np.float64] | None:
    """Return the share of each bank's accesses in the run that opened a row; None where banks have none."""
    if contention is None or contention.rows is None:
        return None
    memory = document["result"]["statistics"]["memory"]
    openings, accesses = np.array(memory["rows"]["openings"]), np.array(memory["banks"])
    return np.asarray(openings / np.maximum(accesses, 1), np.float64)


def _level(
    work: dict[str, Integers],
    row: int,
    by_bank: tuple[Integers, Integers] | None,
    bounds: Bounds,
    opening: npt.NDArray[np.float64] | None,
) -> tuple[LevelTraffic, npt.NDArray[np.float64]]:
    """Return the requests of a level, and those of the AE that has most by link."""
    own: dict[str, Any] = {name: values[row] for name, values in work.items()}
    of_kernel = READS_PER_ENTRY * own["entries"] + READS_PER_EDGE * own["edges"] + WRITES_PER_VISIT * own["pushes"]
    shared = bounds.contention
    if shared is None:
        banks, links = np.array([of_kernel.sum()]), np.zeros(1, np.int64)
    else:
        banks = np.zeros(shared.banks, np.int64)
        if by_bank is not None:
            np.add.at(banks, *by_bank)
        link_of = np.zeros(shared.banks, np.int64)
        link_of[shared.bank_by_word] = shared.link_by_word
        links = np.bincount(link_of, weights=banks, minlength=shared.links).astype(np.int64)
    # That all AEs have the same links is not a limit: the reads of each are left open.
    no_reads = np.zeros((bounds.engines, links.size), np.int64)
    openings = None if opening is None else (banks * opening).astype(np.int64)
    level = LevelTraffic(**own, read_links=no_reads, write_links=links, banks=banks, openings=openings)
    share = float(of_kernel.reshape(bounds.engines, -1).sum(axis=1).max()) / max(1, int(of_kernel.sum()))
    return level, np.asarray(links * share, np.float64)
