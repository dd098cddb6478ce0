"""Saved views: what viewers show at first, by kernel and process."""

from pathlib import Path

from cyscc.sim.observation.waves.files import VIEWS
from cyscc.sim.observation.waves.variables import Variable

SHOWN = [
    *("engine0.bfs0.cause", "engine0.bfs0.visitor.phase"),
    *("engine0.bfs0.visitor.input__valid", "engine0.bfs0.data", "engine1.shell.fifo.level"),
]
VARIABLES = [
    Variable(
        source=b"!",
        number=number,
        path=tuple(path.split(".")),
        width=2,
        names={0: "A"} if path.endswith(("cause", "phase")) else None,
    )
    for number, path in enumerate(SHOWN)
]


def view(suffix: str) -> list[str]:
    return VIEWS[suffix](Path("/somewhere/run.fst"), VARIABLES, 700).splitlines()


def test_gtkwave() -> None:
    assert view(".gtkw") == [
        '[dumpfile] "run.fst"',
        "[timestart] 700",
        *("@800200", "-engine0.bfs0", "@820", "engine0.bfs0.cause"),
        *("@c00200", "-visitor", "@820", "engine0.bfs0.visitor.phase"),
        *("@22", "engine0.bfs0.visitor.input__valid", "@1401200", "-visitor"),
        *("@1000200", "-engine0.bfs0"),
        *("@c00200", "-engine1.shell", "-fifo", "@22", "engine1.shell.fifo.level", "@1401200", "-fifo"),
        "-engine1.shell",
    ]


def test_surfer() -> None:
    assert view(".sucl") == [
        *("divider_add engine0.bfs0", "variable_add engine0.bfs0.cause"),
        *("divider_add engine0.bfs0.visitor", "variable_add engine0.bfs0.visitor.phase"),
        "variable_add engine0.bfs0.visitor.input__valid",
        *("divider_add engine1.shell.fifo", "variable_add engine1.shell.fifo.level"),
        "zoom_fit",
    ]
