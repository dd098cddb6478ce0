"""Takes pictures of docs pages: python -m tests.host.analysis.report.screenshots PAGE FOLDER report|design-study."""

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.host.analysis.report.test_browser import CHROMIUM, READY, SLOWEST

_PARTS = {
    "verdict": "#run0-verdict",
    "time": "figure:has(#run0-time-chart)",
    "kernels": "figure:has(#run0-lapse-chart)",
    "banks": "figure:has(#run0-banks-chart)",
    "links": "figure:has(#run0-links-chart)",
    "difference": "figure:has(#compare-difference-chart)",
}
"""Parts of a page that can be photographed."""
SETS = {
    "report": ("verdict", "time", "kernels", "banks", "difference"),
    "study": ("time", "links", "difference"),
}
"""Sets of pictures; the names of their files begin with the set's."""
_STACKS = ("time", "difference")
"""Pictures with the page's one legend of the causes beside them."""
_COLOURS = 255


def _picture(place: Any) -> Image.Image:
    """Return what is to be seen at a place of a page."""
    return Image.open(io.BytesIO(place.screenshot())).convert("RGB")


def _side_by_side(left: Image.Image, right: Image.Image) -> Image.Image:
    """Return two pictures as one, both at its bottom."""
    height = max(left.height, right.height)
    joined = Image.new("RGB", (left.width + right.width, height), "white")
    joined.paste(left, (0, height - left.height))
    joined.paste(right, (left.width, height - right.height))
    return joined


def take(page: Path, folder: Path, pictures: str) -> None:
    """Write the pictures of a page of two runs into a folder."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened: Any = browser.new_page(viewport={"width": 1180, "height": 900})
        opened.goto(page.resolve().as_uri())
        opened.wait_for_function(READY, timeout=SLOWEST)
        for name in SETS[pictures]:
            place = opened.locator(_PARTS[name])
            place.scroll_into_view_if_needed()
            for chart in place.locator(".chart").all():
                opened.wait_for_selector(f"#{chart.get_attribute('id')}[data-drawn=yes]", timeout=SLOWEST)
            opened.wait_for_timeout(400)
            picture = _picture(place)
            if name in _STACKS:
                picture = _side_by_side(picture, _picture(opened.locator("aside")))
            if len(place.locator(".heatmaplayer image").all()) <= 1:
                # So many colours are enough, and make half of the file; those of heat maps would be cut.
                picture = picture.quantize(_COLOURS, kmeans=3)
            picture.save(folder / f"{pictures}-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
