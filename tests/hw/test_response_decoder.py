"""Response decoder: each response to the process of its tag, and to no other."""

from typing import Any

import pytest

from cyscc.hw.response_decoder import ResponseDecoder
from tests.hw.streams import simulate


@pytest.mark.parametrize("processes", [1, 3, 4])
def test_responses_go_to_the_process_of_their_tag(processes: int) -> None:
    dut = ResponseDecoder(processes)
    outputs = [getattr(dut, f"process{tag}") for tag in range(processes)]

    async def bench(ctx: Any) -> None:
        for tag in range(4):
            for valid in (0, 1):
                value = 0xFEDC_BA98_7654_3210 + tag
                ctx.set(dut.response.payload, {"data": value, "tag": tag})
                ctx.set(dut.response.valid, valid)
                await ctx.delay(1e-8)
                assert [ctx.get(output.valid) for output in outputs] == [
                    int(valid and number == tag) for number in range(processes)
                ]
                if valid and tag < processes:
                    assert ctx.get(outputs[tag].payload) == value

    simulate(dut, bench)


@pytest.mark.parametrize("processes", [0, 5])
def test_number_of_processes_is_checked(processes: int) -> None:
    with pytest.raises(ValueError, match=f"^processes must be from 1 to 4, not {processes}$"):
        ResponseDecoder(processes)
