"""Colours of answers on terminals: a bar's letters have the colours of their causes."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from cyscc.host.answer.colours import CAUSE_COLOURS, STACK, TERMINAL_COLOURS
from cyscc.host.answer.text import Words

__all__ = ["coloured"]

_DARK = 110
"""Brightness (0 to 255) of a background below which its letter is white."""


_LIGHT_NAMES = {"white", "cyan", "yellow", "green", "magenta"} | {
    f"bright_{name}" for name in ("white", "cyan", "yellow", "green", "magenta", "red")
}
"""Colours of terminals on which a letter is black."""


def _on(cause: str) -> str:
    """Return the style of a cause's letter: black or white on the cause's colour."""
    colour = CAUSE_COLOURS[cause]
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return f"{'bright_white' if brightness < _DARK else 'black'} on {colour}"


def _on_few(cause: str) -> str:
    """Return the style of a cause's letter on a terminal of 16 colours."""
    colour = TERMINAL_COLOURS.get(cause)
    if colour is None:
        return _on(cause)
    return f"{'black' if colour in _LIGHT_NAMES else 'bright_white'} on {colour}"


def _theme(colours: str | None) -> Theme:
    """Return the styles of the causes on a terminal with this system of colours."""
    style = _on_few if colours == "standard" else _on
    return Theme({f"cause.{name}": style(name) for name in STACK})


def _style(cause: str) -> str:
    """Return the name of the style of a cause's letter."""
    return f"cause.{cause}"


def coloured(lines: Iterable[Words], *, width: int) -> str:
    """Return lines as text in the colours of a terminal."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=width, highlight=False, markup=False, emoji=False)
    console.push_theme(_theme(console.color_system))
    styles = {"": "", "bold": "bold", "italic": "italic"}
    for line in lines:
        # Lines are as wide as they shall be already.
        console.print(
            Text.assemble(*((words, styles.get(style, _style(style))) for words, style in line)), soft_wrap=True
        )
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())
