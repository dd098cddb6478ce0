"""The progress line."""

import io

import numpy as np
import pytest

from host.command_line.progress import Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def progress(stream: io.StringIO, clock: Clock, vertices: int = 4000) -> Progress:
    return Progress(stream, vertices=vertices, verb="coloured", step="iteration", clock=clock)


def colours(done: int) -> np.ndarray:
    return np.arange(4000) < done


def test_line_of_an_iteration(clock: Clock) -> None:
    stream = io.StringIO()
    line = progress(stream, clock)
    line.on_iteration(1, colours(1000))
    clock.now = 10.0
    line.on_cycle(1_000_000)
    clock.now = 20.0
    line.on_iteration(2_716, colours(2000))
    assert stream.getvalue().split("\r")[-1] == (
        "2,000 of 4,000 vertices coloured (50%), iteration 2,716, cycle 1,000,000, 50,000 cycles/s, 0:40 left"
    )


def test_line_moves_during_a_level(clock: Clock) -> None:
    stream = io.StringIO()
    line = progress(stream, clock)
    clock.now = 1.0
    line.on_cycle(100_000)
    clock.now = 2.0
    line.on_cycle(300_000)
    assert [text.rstrip() for text in stream.getvalue().split("\r")[1:]] == [
        "0 of 4,000 vertices coloured (0%), iteration 0, cycle 100,000, 100,000 cycles/s",
        "0 of 4,000 vertices coloured (0%), iteration 0, cycle 300,000, 150,000 cycles/s",
    ]


def test_line_is_drawn_a_few_times_a_second_at_most(clock: Clock) -> None:
    stream = io.StringIO()
    line = progress(stream, clock)
    for step in range(10_000):
        clock.now = step / 10_000
        line.on_iteration(step, colours(step % 4000))
        line.on_cycle(step)
    assert stream.getvalue().count("\r") == 4


def test_duplicates_do_not_reach_more_than_everything(clock: Clock) -> None:
    stream = io.StringIO()
    progress(stream, clock).on_level(3, 5000)
    assert stream.getvalue() == "\r4,000 of 4,000 vertices coloured (100%), iteration 3, cycle 0"


def test_long_time_left_shows_hours(clock: Clock) -> None:
    stream = io.StringIO()
    line = progress(stream, clock)
    line.on_level(0, 0)
    clock.now = 100.0
    line.on_level(1, 40)
    assert stream.getvalue().endswith(", 2:45:00 left")


def test_line_fits_the_terminal_and_is_wiped(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    line = progress(stream, clock)
    line.on_level(1, 1000)
    assert stream.getvalue() == "\r1,000 of 4,000 vert"
    line.close()
    line.close()
    assert stream.getvalue() == "\r1,000 of 4,000 vert\r" + " " * 19 + "\r"


def test_nothing_drawn_nothing_wiped(clock: Clock) -> None:
    stream = io.StringIO()
    progress(stream, clock).close()
    assert stream.getvalue() == ""
