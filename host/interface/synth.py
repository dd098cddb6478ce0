"""`synth`: resources of an Application Engine on an FPGA."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.experiments.studies.paper import DEVICES
from cyscc.host.interface.notes import Jobs, Keep, Output, Wanted
from cyscc.host.specification.ask import Ask, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["synth"]

Configs = Annotated[
    "Sequence[str | AcceleratorConfig] | str | AcceleratorConfig",
    Ask(help="machine; may be repeated (default: hc2)", metavar="NAME|FILE.toml", repeated=True),
]
OwnSet = Annotated[
    "Mapping[str, Any] | Sequence[str] | None",
    Ask(
        help="override a single value: neighbour_depth=64; may be repeated",
        metavar="KEY=VALUE",
        flag="--set",
        repeated=True,
    ),
]
Families = Annotated[
    "Sequence[str] | str",
    Ask(help="FPGA family; may be repeated (default: both)", choices=tuple(DEVICES), repeated=True),
]
Depths = Annotated[
    "Sequence[int] | int",
    Ask(help="also with all FIFOs of this depth; may be repeated", metavar="N", low=1, repeated=True),
]


@question(
    examples="""examples:
  cyscc synth --config hc2 --config published
  cyscc synth --family xc5v --set pair_reads=true
  cyscc synth --family xc5v --depth 32 --depth 64 --jobs 2
"""
)
def synth(
    *,
    config: Configs = "hc2",
    overrides: OwnSet = None,
    family: Families = tuple(DEVICES),
    depth: Depths = (),
    keep: Keep = None,
    jobs: Jobs = None,
    output: Output = "build",
    progress: Wanted = False,
) -> "Answer":
    """Synthesise an engine for Virtex-5 and Virtex-6.

    One Application Engine is synthesised with Yosys; what it takes stands beside the paper's.

    Raises
    ------
    ValueError
        A configuration, an override, a family or a depth is invalid.
    InputError
        A file cannot be written.
    SimulationError
        Yosys is missing or failed.
    """
    from cyscc.host.experiments.fpga.area import checked_family
    from cyscc.host.experiments.fpga.synthesis import synthesis_answer, synthesised
    from cyscc.host.interface.experiments import experiment, overrides_of
    from cyscc.host.specification.run import resolved_configuration

    def several(given: Any) -> list[Any]:
        return list(given) if isinstance(given, list | tuple) else [given]

    changed = overrides_of(overrides, config=True)
    named = [each if isinstance(each, str) else "own" for each in several(config)]
    machines = {
        changed.config_text(name): resolved_configuration(each, changed)
        for name, each in zip(named, several(config), strict=True)
    }
    families = tuple(map(checked_family, dict.fromkeys(several(family))))
    return experiment(
        "synthesis-depth" if several(depth) else "synthesis",
        lambda measurements: synthesis_answer(
            synthesised(measurements, machines, families=families, depths=several(depth), keep=keep)
        ),
        output=output,
        jobs=jobs,
        verify=False,
        again=keep is not None,
        progress=progress,
    )
