"""Records and their pages, made once for all tests of a process."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from cyscc.host.analysis.report.frames import Frames
from cyscc.host.analysis.report.page import page
from cyscc.host.record.reader import Record
from tests.record.checks import Plain
from tests.record.synthetic import Shape, write_record

BFS = Shape()
# So fine that a column of time has several intervals.
SCC = Shape(iterations=3, levels=(60, 300, 90), restarted=True, interval=4, seed=12)
MANY = Shape(iterations=40, levels=(60, 300, 90), interval=128, seed=3)

# Records stay as long as the process does.
_FOLDER = TemporaryDirectory(prefix="records-")


@cache
def record_of(shape: Shape) -> Record:
    """Return the record of a shape."""
    return Record(write_record(Path(mkdtemp(dir=_FOLDER.name)) / "record", shape))


@cache
def plain_of(shape: Shape) -> Plain:
    """Return the same record, read by pandas alone."""
    return Plain(record_of(shape).folder)


@cache
def frames_of(shape: Shape) -> Frames:
    """Return the frames of a run, in at most 20 columns and 30 levels."""
    return Frames(record_of(shape), columns=20, levels=30)


@cache
def page_of(*shapes: Shape) -> str:
    """Return the page of records."""
    return page([record_of(shape) for shape in shapes])
