"""What the charts are drawn from: it adds up, whatever is put together."""

import numpy as np
import pytest

from host.record.reader import Record
from host.record.tables import MODULES
from host.report.activity import Activity, Key, Levels, Timeline, key_title
from host.report.comparison import Comparison
from tests.host.report.pages import BFS, MANY, SCC, activity_of, record_of, traffic_of
from tests.record.synthetic import Shape


@pytest.mark.parametrize("shape", [BFS, SCC, MANY], ids=["bfs", "scc", "many"])
def test_stacks_add_up(shape: Shape) -> None:
    activity = activity_of(shape)
    record = activity.record
    assert activity.time.columns <= 20
    lanes = np.sum(list(activity.by_time.values()), axis=0)
    assert (lanes == activity.time.lengths).all()
    assert sum(activity.machine_by_time.values()) == pytest.approx(activity.time.lengths)
    assert sum(activity.whole.values()) == pytest.approx(record.cycles)
    cycles = activity.of_instructions("cycles")
    assert activity.by_instruction.sum(axis=1) == pytest.approx(cycles)
    assert sum(each.sum() for each in activity.by_level.values()) == pytest.approx(cycles.sum())
    assert sum(each.sum() for each in activity.by_phase.values()) == pytest.approx(cycles.sum())
    for number, module in enumerate(MODULES):
        first = 0 if not number else int(activity.lanes_of_module[0])
        mine = slice(first, first + int(activity.lanes_of_module[number]))
        for cause, count in record.document["causes"].get(module, {}).items():
            assert activity.by_lane[cause][mine].sum() == count


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_traffic_adds_up(shape: Shape) -> None:
    traffic = traffic_of(shape)
    record = traffic.record
    banks = record.frame("banks")
    assert [each.sum() for each in traffic.by_bank] == [banks["accesses"].sum(), banks["waiting"].sum()]
    links = record.frame("links")
    assert [each.sum() for each in traffic.by_link] == [links["requests"].sum(), links["waiting"].sum()]
    instructions = record.frame("instructions")
    last = instructions["instruction"][instructions["attempt"] == instructions["attempt"].max()]
    own = record.frame("instruction_banks")
    own = own[own["instruction"].isin(last)]
    for found in (traffic.by_level, traffic.by_bank_and_array):
        assert [each.sum() for each in found] == [own["accesses"].sum(), own["waiting"].sum()]
    words = own[own["array"] == "words"]
    hottest = words.groupby(["controller", "bank"], observed=True)["accesses"].sum()
    accesses, _ = traffic.by_bank_and_array
    assert traffic.bank_title(int(accesses[1].argmax())) == "controller {}, bank {}".format(*hottest.idxmax())
    latencies = record.frame("instruction_latencies")
    latencies = latencies[latencies["instruction"].isin(last)]
    assert traffic.latencies_by_phase.sum() == latencies["reads"].sum() == traffic.latencies_by_level.sum()


def test_percentiles_are_those_of_the_reads() -> None:
    traffic = traffic_of(BFS)
    frame = traffic.record.frame("instruction_latencies").query("instruction == 2")
    reads = np.repeat(frame["latency"], frame["reads"])
    for share in (0.5, 0.95, 0.99):
        assert traffic.percentile(share)[2] == np.quantile(reads, share, method="inverted_cdf")


def test_columns_are_whole_intervals() -> None:
    record = record_of(BFS)
    for most in (1, 7, 20, 1000):
        time = Timeline.of(record, most=most)
        assert time.columns <= most
        assert time.width % record.interval == 0
        assert time.lengths.sum() == record.cycles
        assert (time.at(time.starts) == np.arange(time.columns)).all()


def test_few_levels_stand_by_themselves() -> None:
    levels = activity_of(BFS).levels
    assert levels.titles == ("level 0", "level 1", "level 2", "level 3", "level 4")
    assert levels.detailed


def test_of_many_levels_the_longest_stand_by_themselves() -> None:
    keys = [Key(1, 0, 0), Key(1, 0, 1), Key(1, 1, 0), Key(1, 2, -1), Key(2, 0, 0), Key(2, 1, 0)]
    levels = Levels.group(keys, np.array([5, 90, 7, 3, 80, 6]), most=2)
    assert levels.titles == (
        "1 forward 1",
        "2 forward 0",
        "other forward (1)",
        "other backward (2)",
        "other intersection (1)",
    )
    assert levels.of.tolist() == [2, 0, 3, 4, 1, 3]
    assert levels.sizes.tolist() == [1, 1, 1, 2, 1]
    assert not levels.detailed
    search = Levels.group([Key(0, 0, level) for level in range(4)], np.array([1, 2, 3, 4]), most=3)
    assert search.titles == ("level 1", "level 2", "level 3", "other levels (1)")
    assert key_title(Key(7, 2, -1)) == "7 intersection"


def test_differences_add_up_between_machines_of_different_size() -> None:
    other = Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5)
    activities = [Activity(Record(record_of(shape).folder), columns=5, levels=9) for shape in (BFS, other)]
    comparison = Comparison(activities, most=3)
    difference = comparison.difference(1)
    expected = dict.fromkeys(range(6), 0)
    for sign, activity in zip((-1, 1), activities, strict=True):
        for level, cycles in activity.instructions[["level", "cycles"]].itertuples(index=False):
            expected[level] += sign * int(cycles)
    assert comparison.levels.titles == ("level 1", "level 2", "level 5", "other levels (3)")
    found = sum(difference.values())
    assert found == pytest.approx([expected[1], expected[2], expected[5], expected[0] + expected[3] + expected[4]])
    whole = sum(comparison.whole_difference(1).values())
    assert whole == pytest.approx(activities[1].record.cycles - activities[0].record.cycles)
