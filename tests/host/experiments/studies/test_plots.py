"""The plots: their series, axes and stable files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest

import cyscc.host.experiments.studies.components as components
from cyscc.host.experiments.studies.components import Times
from cyscc.host.experiments.studies.searches import Table1, Throughput
from cyscc.host.output.figures import write_plot
from tests.host.experiments.studies.results import components_of, table1_of, throughput_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS = [(degree, 1 << exponent) for exponent in (16, 18, 20) for degree in (16, 32)]


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "available_cores", lambda: 5)


def texts(draw: Callable[[dict[str, Any]], "Figure"], document: dict[str, Any], folder: Path) -> list[str]:
    """Draw and write a figure twice, and return the texts of the files, which must be equal."""
    for name in ("one.svg", "two.svg"):
        write_plot(lambda: draw(document), str(folder / name))
    assert (folder / "one.svg").read_bytes() == (folder / "two.svg").read_bytes()
    root = ElementTree.parse(folder / "one.svg").getroot()
    assert "date" not in (folder / "one.svg").read_text()
    return ["".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]


def drawn(axes: Any) -> dict[str, list[float]]:
    """Return the heights of each series of a panel, lines and bars."""
    series = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    series |= {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers}
    return series


def test_table_1(tmp_path: Path) -> None:
    document = table1_of(("published", "hc2"), (16,))
    figure = Table1.figure_of(document)
    found = texts(Table1.figure_of, document, tmp_path)
    titles = [f"{config}: {kind}" for config in ("published", "hc2") for kind in ("uniform random", "R-MAT")]
    assert [axes.get_title() for axes in figure.axes] == titles
    for name in ("paper, 1 AE", "simulated, 1 AE", "paper, 4 AEs", "simulated, 4 AEs", "Betkaoui et al., 4 FPGAs"):
        assert found.count(name) == 1
    assert found.count("throughput (GTEPS)") == found.count("average degree") == 4
    series = drawn(figure.axes[1])
    assert series["paper, 4 AEs"] == [1.761, 1.925, 2.032, 2.108]
    assert series["simulated, 1 AE"] == [1.0] * 4
    assert series["Betkaoui et al., 4 FPGAs"] == [0.450, 0.975, 1.750, 2.138]
    assert figure.axes[0].get_ylim()[0] == 0
    assert figure.axes[0].get_ylim()[1] > 2.9, "everything is inside"


def test_table_1_shows_the_means_of_several_sizes(tmp_path: Path) -> None:
    document = table1_of(("published",), (16, 32))
    for cell in document["averages"]:
        cell["simulated"] = 1.5
    figure = Table1.figure_of(document)
    assert drawn(figure.axes[0])["simulated, 1 AE"] == [1.5] * 4
    assert len(figure.axes) == 2


@pytest.mark.parametrize("name", ["fig10", "fig11"])
def test_throughput(name: str, tmp_path: Path) -> None:
    document = throughput_of(name, ("published",))
    figure = Throughput.figure_of(document)
    found = texts(Throughput.figure_of, document, tmp_path)
    titles = [f"({letter}) average degree {degree}" for letter, degree in zip("abcd", (8, 16, 32, 64), strict=True)]
    assert [axes.get_title() for axes in figure.axes] == titles
    series = drawn(figure.axes[3])
    assert list(series) == [
        "CyGraph one FPGA, published",
        "CyGraph four FPGAs, published",
        "Betkaoui et al. four FPGAs, paper",
        "CyGraph one FPGA, paper",
        "CyGraph four FPGAs, paper",
    ]
    assert all(found.count(label) == 1 for label in series)
    assert series["CyGraph one FPGA, published"] == [1.0, 1.0]
    betkaoui = 2.9 if name == "fig10" else 2.138
    assert series["Betkaoui et al. four FPGAs, paper"] == [betkaoui, betkaoui]
    assert np.array(figure.axes[3].lines[2].get_xdata()).tolist() == [20, 23]
    assert found.count("vertices") == found.count("throughput (GTEPS)") == 4


def test_all_panels_have_the_same_degrees() -> None:
    figure = Times.figure_of(components_of("fig12", (16, 1 << 16), (32, 1 << 16), (16, 1 << 18)))
    for axes in figure.axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == ["16", "32"]
        assert axes.get_xlim() == (-0.6, 1.6)
