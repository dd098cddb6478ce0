"""Rows of a benchmark from its measurements, and its table."""

import re
from dataclasses import replace
from typing import Any

import pytest

from cyscc.host.experiments.benchmark.reports import benchmark_answer, busy_warnings, compare, summarise
from cyscc.host.experiments.benchmark.search import PRESETS, Workload
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.comparison.contenders import CONTENDERS
from tests.host.experiments.told import answer_path, told

WORKLOAD = Workload(config="hc2", memory="hc2", vertices=2**10, degree=8)


def repetition(seconds: float, **changes: Any) -> dict[str, Any]:
    return {
        "levels": [600, 400],
        "cycles": 1010,
        "memory": "digest",
        "kernels": 64,
        "edges": 8000,
        "seconds": seconds,
        "user_seconds": seconds,
        "peak_memory_bytes": 2**27,
        "build_seconds": 12.0,
        **changes,
    }


def row(name: str, *seconds: float, workload: Workload = WORKLOAD, **changes: Any) -> dict[str, Any]:
    return summarise(name, workload, [repetition(each, **changes) for each in seconds])


def test_medians() -> None:
    found = row("verilator", 2.0, 1.0, 5.0)
    assert found["cycles_per_second"] == 505
    assert found["kernel_cycles_per_second"] == 505 * 64
    assert found["edges_per_second"] == 4000
    assert found["peak_memory_bytes"] == 2**27
    assert [each["seconds"] for each in found["repetitions"]] == [2, 1, 5]


@pytest.mark.parametrize("changes", [{"levels": [600, 401]}, {"cycles": 1011}, {"memory": "other"}, {"edges": 1}])
def test_what_differs_is_not_summarised_and_not_the_same(changes: dict[str, Any]) -> None:
    message = "one Verilator model, 2^10 × 8: repetitions differ in cycles or memory contents"
    with pytest.raises(SimulationError, match=f"^{re.escape(message)}$"):
        summarise("verilator", WORKLOAD, [repetition(1.0), repetition(1.0, **changes)])
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0)])["same"] is True
    assert compare(row("verilator", 1.0), [row("compiled-1", 1.0, **changes)])["same"] is False


def test_comparison_is_with_the_own_executor_on_the_same_graph() -> None:
    ours = [row("compiled-2", 0.1), row("compiled-1", 0.2)]
    assert compare(row("verilator", 1.0), ours)["faster"] == pytest.approx({"compiled-2": 10, "compiled-1": 5})
    assert compare(ours[0], ours)["faster"] == {}
    assert compare(ours[0], ours[:1])["same"] is None


def test_another_machine_is_compared_by_its_cycles_a_second_alone() -> None:
    found = compare(row("next-1", 0.4, workload=replace(WORKLOAD, config="fast"), cycles=505), [row("compiled-1", 0.2)])
    assert found["same"] is None
    assert found["faster"] == pytest.approx({"compiled-1": 4})


@pytest.mark.parametrize(
    ("name", "seconds", "user", "expected"),
    [
        ("compiled-1", 1.0, 0.81, None),
        ("compiled-1", 0.4, 0.1, None),
        ("compiled-2", 1.0, 1.7, None),
        ("compiled-2", 1.0, 1.0, "compiled executor, 2 threads, 2^10 × 8: its 2 threads had 50%"),
        ("verilator", 1.0, 0.7, "one Verilator model, 2^10 × 8: its 1 thread had 70%"),
    ],
)
def test_warning_when_the_cores_are_shared(name: str, seconds: float, user: float, expected: str | None) -> None:
    tail = " of the time of as many cores: another process took the rest, or they waited"
    assert busy_warnings(row(name, seconds, user_seconds=user)) == ([] if expected is None else [expected + tail])


def document() -> dict[str, Any]:
    """Return the document of a row of ours, and one that differs."""
    ours = [row("compiled-2", 0.1), row("compiled-1", 0.2)]
    return {
        "machine": {"processor": "a processor", "cores": 2},
        "revision": None,
        "config": "hc2",
        "memory": "hc2",
        "rows": [
            compare(ours[0], ours),
            compare(row("verilator", 1.0, cycles=2), ours),
        ],
        "warnings": ["it was noisy"],
    }


def test_answer() -> None:
    assert told(benchmark_answer(document())) == answer_path(__file__, "bench").read_text()


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_have_a_graph_for_everyone(preset: Any) -> None:
    assert list(preset.graphs) == list(preset.repetitions) == [*CONTENDERS, "revisions"]
    for name in CONTENDERS:
        workload = preset.workload(name)
        assert workload.graph_text == f"2^{workload.vertices.bit_length() - 1} × {workload.degree}"
        assert workload.vertices & (workload.vertices - 1) == 0
    assert preset.graphs["compiled-2"] == preset.graphs["compiled-1"], "they are measured in turn"
