"""The page in a real browser, without a network: it is drawn, nothing complains, and its charts answer."""

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.analysis.report.pages import BFS, SCC, page_of, record_of
from tests.record.synthetic import Shape

CHROMIUM = "/usr/bin/chromium"
LONG = Shape(config="hc2", interval=1024, iterations=300, levels=(90, 900, 300), seed=7)
READY = "document.documentElement.dataset.ready === 'yes'"
SLOWEST = 60_000
"""Milliseconds that a machine which does much besides may take."""
WIDTHS = """name => {
    const chart = document.getElementById(name), card = chart.parentElement, style = getComputedStyle(card);
    const edges = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    return [card.clientWidth - edges, chart.querySelector(".main-svg").getBoundingClientRect().width];
}"""
"""The room that a chart's card has inside, and the width of the chart."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser that reaches no network."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"there is no browser {CHROMIUM}")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page that a browser shows, with all that it complained of and asked for."""

    def __init__(self, browser: Any, path: Path, *, width: int, scheme: str) -> None:
        viewport = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        begin = time.perf_counter()
        self.page.goto(path.as_uri())
        self.page.wait_for_function(READY, timeout=SLOWEST)
        self.seconds = time.perf_counter() - begin

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def show(self, chart: str) -> Any:
        """Scroll to a chart, and return it when it is drawn."""
        place = self.page.locator(f"#{chart}")
        place.scroll_into_view_if_needed()
        self.page.wait_for_selector(f"#{chart}[data-drawn=yes]", timeout=SLOWEST)
        return place

    def range(self, chart: str) -> list[float]:
        """Return the range of a chart's axis of time."""
        found = self.page.evaluate(f"document.getElementById('{chart}')._fullLayout.xaxis.range")
        return [float(end) for end in found]

    def drag(self, chart: str, first: float, last: float) -> None:
        """Drag over a chart, from one share of its width to another."""
        box = self.page.locator(f"#{chart} .nsewdrag").first.bounding_box()
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + first * box["width"], y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + last * box["width"], y, steps=8)
        self.page.mouse.up()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Return what opens the page of records."""
    opened = []

    def open_it(*shapes: Shape, width: int = 1440, scheme: str = "light") -> Opened:
        path = tmp_path / "page.html"
        path.write_text(page_of(*shapes))
        opened.append(Opened(browser, path, width=width, scheme=scheme))
        return opened[-1]

    yield open_it
    for each in opened:
        each.context.close()


@pytest.mark.parametrize("shapes", [(SCC,), (BFS, Shape(config="published", seed=4))], ids=["scc", "two"])
def test_every_chart_is_drawn_and_nothing_complains(shapes: tuple[Shape, ...], open_page: Any) -> None:
    opened = open_page(*shapes)
    names = opened.page.eval_on_selector_all(".chart", "places => places.map(place => place.id)")
    assert len(names) >= 20
    for name in names:
        opened.show(name)
        traces = opened.page.evaluate(f"document.getElementById('{name}').data.length")
        assert opened.page.locator(f"#{name} .main-svg").count() > 0, name
        assert traces > 0, name
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 800, 400])
def test_a_page_fits_its_window_and_the_colours_that_its_reader_wants(width: int, scheme: str, open_page: Any) -> None:
    opened = open_page(BFS, width=width, scheme=scheme)
    for name in ("run0-levels-chart", "run0-time-chart", "run0-lapse-chart"):
        opened.show(name)
        card, chart = opened.page.evaluate(WIDTHS, name)
        assert card - 2 <= chart <= card, name
    page = "document.documentElement"
    assert opened.page.evaluate(f"{page}.scrollWidth <= {page}.clientWidth")
    ground = opened.page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert (sum(ground) < 3 * 128) == (scheme == "dark")
    assert opened.complaints == []


def test_a_label_is_shown_where_the_pointer_is(open_page: Any) -> None:
    opened = open_page(BFS)
    opened.show("run0-lapse-chart")
    assert opened.page.locator("#run0-lapse-chart .hovertext").count() == 0
    box = opened.page.locator("#run0-lapse-chart .nsewdrag").first.bounding_box()
    opened.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    opened.page.wait_for_selector("#run0-lapse-chart .hovertext", timeout=SLOWEST)
    label = opened.page.locator("#run0-lapse-chart .hovertext").text_content()
    assert "bfs" in label
    assert "requests issued" in label


def test_the_command_for_what_is_pointed_at(open_page: Any) -> None:
    opened = open_page(BFS)
    folder, command = record_of(BFS).folder, opened.page.locator("#command")
    assert command.is_hidden()

    def point(chart: str, x: float) -> None:
        opened.show(chart)
        box = opened.page.locator(f"#{chart} .nsewdrag").first.bounding_box()
        opened.page.mouse.move(box["x"] + x * box["width"], box["y"] + 0.5 * box["height"])
        opened.page.wait_for_selector(f"#{chart} .hovertext", timeout=SLOWEST)

    point("run0-lapse-chart", 0.4)
    text = command.text_content()
    assert re.fullmatch(rf'cyscc replay {folder} --at \d+ --scope "engine[01]\.(bfs|intersection)\d\.\*"', text)
    cycle = int(text.split()[4])
    assert 0.3 < cycle / record_of(BFS).cycles < 0.5
    point("run0-levels-chart", 0.5)
    assert re.fullmatch(rf"cyscc replay {folder} --at level=\d", command.text_content())
    opened.page.mouse.down()
    opened.page.mouse.up()
    opened.page.wait_for_function("getSelection().toString().startsWith('cyscc replay')", timeout=SLOWEST)
    assert opened.complaints == []


def test_zooming_into_one_axis_of_time_zooms_into_all(open_page: Any) -> None:
    opened = open_page(BFS)
    cycles = record_of(BFS).cycles
    opened.show("run0-lapse-chart")
    opened.show("run0-time-chart")
    assert opened.range("run0-time-chart") == [0, cycles]
    opened.drag("run0-time-chart", 0.25, 0.5)
    opened.page.wait_for_function(
        f"document.getElementById('run0-lapse-chart')._fullLayout.xaxis.range[1] < {0.6 * cycles}", timeout=SLOWEST
    )
    zoomed = opened.range("run0-time-chart")
    assert zoomed == pytest.approx([0.25 * cycles, 0.5 * cycles], abs=0.02 * cycles)
    assert opened.range("run0-lapse-chart") == pytest.approx(zoomed)
    # One that is drawn only now has the same range, and a double click shows everything again.
    opened.show("run0-stalls-chart")
    assert opened.range("run0-stalls-chart") == pytest.approx(zoomed)
    opened.page.locator("#run0-stalls-chart .nsewdrag").first.dblclick()
    opened.page.wait_for_function(
        f"document.getElementById('run0-time-chart')._fullLayout.xaxis.range[1] === {cycles}", timeout=SLOWEST
    )
    assert opened.range("run0-lapse-chart") == [0, cycles]
    assert opened.complaints == []


def test_choosing_a_cause_changes_the_heat_map(open_page: Any) -> None:
    opened = open_page(BFS)
    opened.show("run0-lapse-chart")
    shown = "document.getElementById('run0-lapse-chart').data.map(trace => trace.visible !== false)"
    names = [trace for trace, seen in enumerate(opened.page.evaluate(shown)) if seen]
    assert names[:2] == [0, 1]
    before = opened.page.locator("#run0-lapse-chart .heatmaplayer").first.screenshot()
    opened.page.locator("#run0-lapse-chart .updatemenu-header").first.click()
    opened.page.locator("#run0-lapse-chart .updatemenu-dropdown-button", has_text="no work left").first.click()
    opened.page.wait_for_function(f"!{shown}[1]", timeout=SLOWEST)
    seen = [trace for trace, seen in enumerate(opened.page.evaluate(shown)) if seen]
    label = opened.page.evaluate(f"document.getElementById('run0-lapse-chart').data[{seen[1]}].hovertemplate")
    assert "no work left" in label
    assert opened.page.locator("#run0-lapse-chart .heatmaplayer").first.screenshot() != before


@pytest.mark.long
def test_a_long_run_is_there_soon(open_page: Any) -> None:
    assert len(page_of(LONG).encode()) < 12e6
    opened = open_page(LONG)
    # 3 s is what a quiet machine is held to, see docs/report.md; this one may have much to do.
    assert opened.seconds < 10
    opened.show("run0-banks-chart")
    assert opened.complaints == []
