"""Tasks on several processes: order, memory, failures."""

import multiprocessing
import os
from collections.abc import Sequence

import pytest

from host.errors import InputError
from host.measuring.schedule import available_memory, run_tasks
from sim.errors import HangError, SimulationError
from tests.host.studies.reproduction.tasks import Nap, nap

Slept = dict[str, list[tuple[float, float, int]]]


def run(tasks: Sequence[Nap], *, jobs: int, memory: int = 1 << 40) -> Slept:
    slept: Slept = {}
    run_tasks(
        tasks, nap, jobs=jobs, memory=memory, on_result=lambda task, r: slept.setdefault(task.label, []).append(r)
    )
    return slept


@pytest.mark.parametrize("jobs", [1, 2])
def test_largest_first_and_every_result(jobs: int) -> None:
    tasks = [Nap(label=str(size), bytes=size, results=size) for size in (1, 3, 2)]
    slept = run(tasks, jobs=jobs, memory=0)
    assert {label: len(times) for label, times in slept.items()} == {"3": 3, "2": 2, "1": 1}
    assert list(slept) == ["3", "2", "1"]
    processes = {process for times in slept.values() for _, _, process in times}
    assert (processes == {os.getpid()}) == (jobs == 1)


def test_only_what_fits_in_memory_runs_side_by_side() -> None:
    tasks = [Nap(label="a", bytes=60, seconds=1), Nap(label="b", bytes=50), Nap(label="c", bytes=40)]
    slept = run(tasks, jobs=3, memory=100)
    (a,), (b,), (c,) = slept["a"], slept["b"], slept["c"]
    assert list(slept) == ["c", "a", "b"], "the smallest ran beside the largest, the other one after it"
    assert c[1] < a[1] <= b[0]


def test_a_task_beyond_all_memory_runs_alone() -> None:
    tasks = [Nap(label=name, bytes=500, seconds=0.1) for name in "ab"]
    slept = run(tasks, jobs=2, memory=100)
    (a,), (b,) = slept["a"], slept["b"]
    assert b[0] >= a[1] or a[0] >= b[1]


@pytest.mark.parametrize(
    ("end", "kind", "message"),
    [
        ("input", InputError, "g.txt:3: no such graph"),
        ("hang", HangError, "nothing moved"),
        ("memory", InputError, "not enough memory"),
        ("bug", SimulationError, "internal error: ZeroDivisionError: division by zero"),
        ("kill", SimulationError, "bad: the process that measured it was killed by signal 9"),
    ],
)
def test_a_failure_in_a_worker_is_told_and_ends_the_others(end: str, kind: type[Exception], message: str) -> None:
    tasks = [Nap(label="bad", bytes=2, end=end), Nap(label="long", bytes=1, seconds=60)]
    slept: list[str] = []
    with pytest.raises(kind) as caught:
        run_tasks(tasks, nap, jobs=2, memory=100, on_result=lambda task, _: slept.append(task.label))
    assert str(caught.value) == message
    assert type(caught.value) is kind
    assert getattr(caught.value, "diagnosis", "") == ("kernel 0 waits" if end == "hang" else "")
    assert slept == ["bad"], "what was finished before the failure is not lost"
    assert multiprocessing.active_children() == []


def test_an_error_of_whoever_takes_the_results_ends_the_workers() -> None:
    def refuse(task: Nap, _: object) -> None:
        raise KeyboardInterrupt(task.label)

    with pytest.raises(KeyboardInterrupt, match=r"^a$"):
        run_tasks([Nap(label="a", bytes=1), Nap(label="b", seconds=60)], nap, jobs=2, memory=100, on_result=refuse)
    assert multiprocessing.active_children() == []


def test_available_memory_is_plausible() -> None:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 1 << 20 < available_memory() <= total
