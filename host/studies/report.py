"""What a study comes to: a document for programs, Markdown for people, and perhaps a plot."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.output import open_output, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of a study.

    Parameters
    ----------
    document : dict
        For programs, JSON-able.
    markdown : str
        For people.
    figure : matplotlib.figure.Figure, optional
        The plot.
    failure : str, optional
        What the study shows to be not as it should, one line.
    """

    document: dict[str, Any]
    markdown: str
    figure: "Figure | None" = None
    failure: str = ""

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the files, and return their paths.

        Parameters
        ----------
        folder : Path
            Where they go.
        name : str
            Their name without suffix.

        Raises
        ------
        InputError
            One could not be written.
        """
        paths = [folder / f"{name}.{suffix}" for suffix in ("json", "md")]
        write_json(str(paths[0]), self.document)
        with open_output(str(paths[1])) as file:
            file.write(self.markdown.encode())
        if self.figure is not None:
            from host.results.plots import write_plot

            paths.append(folder / f"{name}.svg")
            write_plot(self.figure, paths[-1])
        return paths
