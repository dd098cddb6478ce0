"""Work in a child process: results, errors, limits, interrupts."""

import multiprocessing
import os
import signal
from collections.abc import Iterator

import pytest

from cyscc.host.baselines.software.limited import ChildError, LimitError, Reports, in_child
from cyscc.host.output.errors import InputError


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    before = multiprocessing.active_children()
    yield
    assert set(multiprocessing.active_children()) <= set(before)


def never_ends(reports: Reports) -> None:
    reports.start_limit()
    while True:
        pass


def test_the_last_result_counts() -> None:
    def work(reports: Reports) -> None:
        reports.result("first")
        reports.progress(1, 2)
        reports.progress(2, 2)  # too soon
        reports.result(os.getpid())

    watched: list[tuple[int, int]] = []
    assert in_child("it", work, watch=lambda *seen: watched.append(seen)) != os.getpid()
    assert watched == [(1, 2)]
    assert in_child("it", lambda _: None) is None


def test_an_error_is_that_of_the_work() -> None:
    def fail(_: Reports) -> None:
        raise InputError("no device", path="here")

    with pytest.raises(InputError, match=r"^here: no device$"):
        in_child("it", fail)


def test_the_limit() -> None:
    with pytest.raises(LimitError, match=r"^it: given up after 0\.05 s$"):
        in_child("it", never_ends, limit=0.05)

    def late(reports: Reports) -> None:
        reports.result(7)
        never_ends(reports)

    assert in_child("it", late, limit=0.05) == 7


@pytest.mark.parametrize(
    ("signals", "message"),
    [
        (signal.SIGKILL, "it: its process was killed by signal 9, for lack of memory?"),
        (signal.SIGSEGV, "it: its process was killed by signal 11"),
    ],
)
def test_a_process_that_is_killed(signals: int, message: str) -> None:
    def work(reports: Reports) -> None:
        reports.result(1)
        signal.signal(signals, signal.SIG_DFL) if signals != signal.SIGKILL else None
        os.kill(os.getpid(), signals)

    with pytest.raises(ChildError) as error:
        in_child("it", work)
    assert str(error.value) == message


def test_an_error_that_cannot_be_reported() -> None:
    def work(_: Reports) -> None:
        raise ValueError(lambda: None)

    with pytest.raises(ChildError, match=r"^it: its process ended with status 1$"):
        in_child("it", work)


def test_an_interrupt_ends_the_child() -> None:
    def work(reports: Reports) -> None:
        os.kill(os.getpid(), signal.SIGINT)  # as from a terminal, which the child leaves to its parent
        os.kill(os.getppid(), signal.SIGINT)
        never_ends(reports)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_child("it", work, limit=60)
    finally:
        signal.signal(signal.SIGINT, before)
