"""The charts of a page as its sheet tells them: title, description, and what they are about."""

from pathlib import Path
from typing import Any

import msgspec

from cyscc.host.answer.charts import Chart, Figure


class Told(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Texts of a chart in the sheet, and what kind of chart it is.

    Parameters
    ----------
    title, about : str
        Heading, and description; they may have words in braces.
    time, causes : bool
        Whether it is over the time of a run; whether its colours are those of the causes.
    """

    title: str
    about: str
    time: bool = False
    causes: bool = False


_SHEET = msgspec.toml.decode(Path(__file__).with_name("charts.toml").read_bytes(), type=dict[str, Told])


def chart(name: str, figure: Figure, *, points: tuple[str, ...] = (), **words: Any) -> Chart:
    """Return a figure as the chart of a name; `words` are those in braces in its texts."""
    told = _SHEET[name]
    title, about = told.title.format_map(words), told.about.format_map(words)
    time = "run" if told.time else ""
    return Chart(name=name, title=title, about=about, figure=figure, time_of=time, points=points, causes=told.causes)
