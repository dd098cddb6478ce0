"""Timing of what reserves slots for vertices of the next queue and hands them out."""

from collections.abc import Mapping
from functools import partial

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.slot_dispenser import SlotDispenser
from cyscc.hw.bfs.slot_gate import SlotGate
from cyscc.hw.bfs.slot_station import SlotStation
from tests.hw.timings.timing import END, Given, Shown, Timing


def _tokens(name: str, values: Mapping[int, int]) -> dict[str, Given]:
    """Return tokens of some values by cycle, with `done` set."""
    bits = {cycle: value | 1 << 32 for cycle, value in values.items()}
    return {f"{name}.valid": list(values), f"{name}.payload": bits}


def _allocator(
    claim: str, tokens: Mapping[int, int], shown: Mapping[str, Shown], *, blocking: bool = False, **given: Given
) -> Timing:
    """Return what an allocator makes of tokens by the cycles in which they come."""
    return Timing(
        claim=f"slot allocator, {'published, ' * blocking}{claim}",
        make=partial(SlotAllocator, depth=4, blocking=blocking),
        given={"capacity": 2**32 - 1, **_tokens("token_in", tokens), **given},
        shown=shown,
    )


SLOTS = (
    *(
        _allocator(
            "the first slot a cycle after the token, and one more each cycle",
            {5: 10},
            {
                "token_out.valid": [5 + SlotAllocator.LATENCY],
                "token_out.payload.value": {6: 13},
                "slot": [6, 7, 8],
                "reserved": {6: 2, 7: 1},
                "demanded": {1: 1, 2: 2} | dict.fromkeys(range(3, 6), 3),
                "idle": [0, *range(9, END)],
            },
            blocking=blocking,
            demand=[0, 1, 2],
            slot=1,
        )
        for blocking in (False, True)
    ),
    _allocator(
        "reserves only when the last reservation is used up",
        {3: 10, 6: 20, 9: 30, 12: 40},
        {
            "token_out.payload.value": {4: 12, 7: 20, 10: 30, 13: 41},
            "slot": [7, 10, 14],
            "slot.payload.number": {7: 10, 10: 11, 14: 40},
        },
        blocking=True,
        demand=[0, 1, 4],
        slot=[7, 10, 14],
    ),
    _allocator(
        "reserves one reservation ahead",
        {3: 10, 6: 20, 9: 30, 12: 40},
        {
            "token_out.payload.value": {4: 12, 7: 21, 10: 30, 13: 41},
            "slot": [10, 11, 14],
            "slot.payload.number": {10: 10, 11: 11, 14: 20},
        },
        demand=[0, 1, 4, 7],
        slot=[10, 11, 12, 14],
    ),
    *(
        _allocator(
            "the token comes as the last slot is taken",
            {3: 10, 6: 20, 12: 30},
            {"token_out.payload.value": values, "slot": slots},
            blocking=blocking,
            demand=[0, 4],
            slot=range(6, END),
        )
        for blocking, values, slots in (
            (False, {4: 11, 7: 21, 13: 30}, [6, 9]),
            (True, {4: 11, 7: 20, 13: 31}, [6, 13]),
        )
    ),
    _allocator(
        "a demand in the cycle of the token waits for the next one",
        {3: 5, 8: 6},
        {"token_out.payload.value": {4: 6, 9: 7}, "demanded": dict.fromkeys(range(1, 9), 1)},
        demand=[0, 3],
        slot=1,
    ),
    _allocator(
        "slots below the capacity fit",
        {3: 4},
        {"slot.payload.fits": [4, 5], "slot": [4, 5, 6]},
        demand=[0, 1, 2],
        slot=1,
        capacity=6,
    ),
    *(
        _allocator(
            f"the token keeps its done where the kernel's is {done}, of run {epoch}",
            {3: 8},
            {"token_out.payload.done": [4] if done and not epoch else []},
            done=done,
            epoch=epoch,
        )
        for done in (0, 1)
        for epoch in (0, 1)
    ),
    Timing(
        claim="slot station, a block for each kernel",
        make=partial(SlotStation, kernels=2, depth=4),
        given={"asked": {0: 3, 1: 2}, "room": 3, **_tokens("token_in", {8: 10, 12: 13})},
        shown={
            "token_out.valid": [9, 13],
            "token_out.payload.value": {9: 13, 13: 13},
            "block0.valid": [9],
            "block1.valid": [9],
            "block1.payload.first": {9: 11},
            "block1.payload.count": {9: 2},
        },
    ),
    *(
        Timing(
            claim=f"slot station, a token {age} cycles after the demand",
            make=partial(SlotStation, kernels=2, depth=4),
            given={"asked": {0: 1}, "room": 3, **_tokens("token_in", {1 + age: 10})},
            shown={"token_out.payload.value": {2 + age: value}},
        )
        for age, value in ((SlotStation.AGE - 1, 10), (SlotStation.AGE, 11))
    ),
    Timing(
        claim="slot dispenser, a slot a cycle from the cycle after its block",
        make=partial(SlotDispenser, depth=4),
        given={
            "demand": range(5),
            "capacity": 12,
            "block.valid": [6, 8],
            "block.payload.first": {6: 10, 8: 20},
            "block.payload.count": {6: 3, 8: 2},
            "slot": 1,
        },
        shown={
            "asked": range(1, 6),
            "room": [*range(9), *range(10, END)],
            "slot": [7, 8, 9, 11, 12],
            "slot.payload.fits": [7, 8],
            "idle": [0, *range(13, END)],
        },
    ),
    Timing(
        claim="slot gate, the first slot after two cycles, but to a held vertex at once",
        make=SlotGate,
        given={"reserved.valid": [*range(4), *range(5, 9)], "held": [5]},
        shown={"slot.valid": [2, 3, 5, 6, 7, 8], "idle": [4, *range(9, END)], "moving": [0, 1, 4, 5, 9]},
    ),
)
