"""Helpers of plots: texts, panels, files that do not depend on a user's settings."""

import warnings
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from cyscc.host.output.figures import (
    add_legend,
    degree_axis,
    lettered,
    new_figure,
    panel_grid,
    power_text,
    time_text,
    write_plot,
)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.01234, "0.0123"), (1.5, "1.5"), (99.94, "99.9"), (100.0, "100"), (123.4, "123"), (54321.0, "54,321")],
)
def test_times(milliseconds: float, text: str) -> None:
    assert time_text(milliseconds) == text


def test_titles() -> None:
    assert lettered(["one", "two", "three"]) == ["(a) one", "(b) two", "(c) three"]
    assert power_text(1 << 20) == "$2^{20}$"


def test_panels() -> None:
    figure, panels = panel_grid(["one", "two", "three"], row=2.0, rest=0.5)
    assert [axes.get_title() for axes in figure.axes] == ["one", "two", "three"]
    assert figure.axes == panels
    assert figure.get_size_inches().tolist() == [10, 4.5]
    assert [axes.get_subplotspec().colspan.start for axes in panels] == [0, 1, 0]  # type: ignore[union-attr]
    alone, _ = panel_grid(["one"])
    assert alone.get_size_inches().tolist() == [10, pytest.approx(4.1)]
    degree_axis(panels[1], [8, 16])
    assert panels[1].get_xlabel() == "average degree"
    assert [
        (tick, label.get_text())
        for tick, label in zip(panels[1].get_xticks(), panels[1].get_xticklabels(), strict=True)
    ] == [
        (0, "8"),
        (1, "16"),
    ]
    for axes in panels:
        axes.plot([0], [0], label="each")
    panels[2].plot([0], [0], label="last")
    add_legend(figure, 2)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["each", "last"]


def drawn() -> Figure:
    figure = new_figure(width=3, height=2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], label="line")
    axes.set_title("\U0001f9ee")
    return figure


def test_files_are_the_same_whatever_a_user_has_set(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_plot(drawn, str(tmp_path / "one.svg"))
        with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.hashsalt": "other"}):
            write_plot(drawn, str(tmp_path / "two.svg"))
            assert matplotlib.rcParams["lines.linewidth"] == 9
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "<text" in (tmp_path / "one.svg").read_text()
