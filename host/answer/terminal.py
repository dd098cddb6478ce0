"""Colours of answers on terminals: a bar's letters have the colours of their causes."""

from collections.abc import Iterable

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from cyscc.host.answer.colours import CAUSE_COLOURS, STACK, TERMINAL_COLOURS
from cyscc.host.answer.text import Words

_DARK = 110
"""Brightness (0 to 255) of a background below which its letter is white."""

_LIGHT_NAMES = {"white", "cyan", "yellow", "green", "magenta"} | {
    f"bright_{name}" for name in ("white", "cyan", "yellow", "green", "magenta", "red")
}
"""Colours of terminals on which a letter is black."""

_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


def _style(cause: str, *, few: bool) -> Style:
    """Return the style of a cause's letter, on a terminal of 16 colours or of more: black or white on its colour."""
    colour = CAUSE_COLOURS[cause]
    if few and cause in TERMINAL_COLOURS:
        colour = TERMINAL_COLOURS[cause]
        light = colour in _LIGHT_NAMES
    else:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        light = 0.299 * red + 0.587 * green + 0.114 * blue >= _DARK
    return Style(color="black" if light else "bright_white", bgcolor=colour)


def coloured(lines: Iterable[Words]) -> str:
    """Return lines as text in the colours of the terminal."""
    console = Console(force_terminal=True)
    system = _SYSTEMS.get(console.color_system or "")
    styles = {"": Style.null(), "bold": Style(bold=True), "italic": Style(italic=True)}
    for cause in STACK:
        styles[cause] = Style.null() if console.no_color else _style(cause, few=system is ColorSystem.STANDARD)
    texts = ("".join(styles[style].render(words, color_system=system) for words, style in line) for line in lines)
    return "".join(f"{text.rstrip()}\n" for text in texts)
