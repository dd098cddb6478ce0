"""Takes the pictures of docs/report.md: python -m tests.host.report.screenshots PAGE.html FOLDER."""

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.host.report.test_browser import CHROMIUM, READY, SLOWEST

__all__ = ["take"]

PICTURES = {
    "report-verdict": "#run0-verdict",
    "report-time": "figure:has(#run0-time-chart)",
    "report-kernels": "figure:has(#run0-lapse-chart)",
    "report-banks": "figure:has(#run0-banks-chart)",
    "report-difference": "figure:has(#compare-difference-chart)",
}
"""Files, and what of the page they show."""
_COLOURS = 96


def take(page: Path, folder: Path) -> None:
    """Write the pictures of a page of two runs into a folder."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened: Any = browser.new_page(viewport={"width": 1180, "height": 900})
        opened.goto(page.resolve().as_uri())
        opened.wait_for_function(READY, timeout=SLOWEST)
        for name, what in PICTURES.items():
            place = opened.locator(what)
            place.scroll_into_view_if_needed()
            for chart in place.locator(".chart").all():
                opened.wait_for_selector(f"#{chart.get_attribute('id')}[data-drawn=yes]", timeout=SLOWEST)
            opened.wait_for_timeout(400)
            picture = Image.open(io.BytesIO(place.screenshot()))
            # So many colours are enough, and make a third of the file.
            picture.convert("RGB").quantize(_COLOURS).save(folder / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
