"""`make fuzz`: random runs, files, flipped bits, faults of the environment, odd command lines, by MINUTES and SEED.

It can be stopped at any time: cases that failed are kept, and come first when it is given its seed again.
"""

import os
import random
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.fuzz.environments import ENVIRONMENTS
from tests.fuzz.flips import FLIPS
from tests.fuzz.inputs import INPUTS
from tests.fuzz.oddities import ODDITIES
from tests.fuzz.runs import RUNS
from tests.fuzz.runs import draw as draw_run
from tests.fuzz.search import Part, hunt
from tests.fuzz.setups import new_machine

SEED = os.environ.get("SEED") or str(random.SystemRandom().randrange(10**6))
PARTS: list[Part[Any]] = [
    replace(RUNS, draw=partial(draw_run, new=new_machine(random.Random(SEED)))),
    *(INPUTS, FLIPS, ENVIRONMENTS, ODDITIES),
]


@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", PARTS, ids=[part.name for part in PARTS])
def test_part(part: Part[Any], request: pytest.FixtureRequest) -> None:
    """No case fails; the parts share the time."""
    seconds = 60 * float(os.environ.get("MINUTES", "10")) / len(request.session.items)
    print(f"\n{part.name}: seed {SEED}, for {seconds:.0f} s", flush=True)
    counts = hunt(part, ROOT / "build" / "fuzz" / f"seed-{SEED}", seed=SEED, seconds=seconds)
    print(", ".join(f"{number:,} {kind}" for kind, number in counts.most_common()))
