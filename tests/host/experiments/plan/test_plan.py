"""Plans, and the store of their results."""

import errno
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import pytest

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.plan.plan import RESULTS, Limit, Plan, make_result
from cyscc.host.experiments.plan.request import Measured, Request
from cyscc.host.experiments.plan.store import RESULT, Store
from cyscc.host.graph.csr import Graph
from cyscc.host.output.documents import read_document, sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import write_json
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.errors import SimulationError
from tests.host.experiments.plan.requests import FakeRequest, spec
from tests.refusals import refused

REQUESTS = [FakeRequest(graph=spec(degree=degree), name=name) for degree in (2, 3, 1) for name in ("one", "four")]


class Run:
    """Plan in a folder, with the steps that were told."""

    def __init__(self, folder: Path, *, jobs: int = 1, verify: bool = True) -> None:
        self.steps: list[tuple[int, int, str]] = []
        self.plan = Plan(folder=folder, jobs=jobs, verify=verify, on_step=lambda *step: self.steps.append(step))


def test_every_measurement_is_made_once_and_graph_by_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generated = []
    generate = GraphSpec.generate

    def note(graph: GraphSpec) -> Graph:
        generated.append(graph.degree)
        return generate(graph)

    monkeypatch.setattr(GraphSpec, "generate", note)
    run = Run(tmp_path)
    results = run.plan.measure([*REQUESTS, *REQUESTS])
    assert results == {r: {"edges": r.graph.edges, "verified": True} for r in REQUESTS}
    assert generated == [3, 2, 1]
    assert (run.plan.made, run.plan.found, run.plan.text) == (6, 0, "6 made, 0 from before")
    assert run.steps[:2] == [(0, 6, ""), (1, 6, "random, degree 3, 2^4 vertices, one: 48 edges")]
    assert [step[:2] for step in run.steps] == [(done, 6) for done in range(7)]


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path) -> None:
    run = Run(tmp_path)

    def stop_at_the_second(done: int, total: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    interrupted = Plan(folder=tmp_path, jobs=2, on_step=stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        interrupted.measure(REQUESTS)
    kept = list((tmp_path / RESULTS).iterdir())
    assert len(kept) >= 2, "beside the second, another may have been finished"
    assert not any(each.name.startswith(".") for each in kept)
    results = run.plan.measure(REQUESTS)
    assert set(results) == set(REQUESTS)
    assert run.plan.found == len(kept)
    assert run.steps[0] == (len(kept), 6, f"{len(kept)} of them from before")
    assert [step[:2] for step in run.steps[1:]] == [(done, 6) for done in range(len(kept) + 1, 7)]
    again = Run(tmp_path)
    assert again.plan.measure(REQUESTS) == results
    assert again.steps == [(6, 6, "6 of them from before")]
    anew = Plan(folder=tmp_path, again=True)
    assert anew.measure(REQUESTS[:1]) == {REQUESTS[0]: results[REQUESTS[0]]}
    assert anew.found == 0
    again.plan.forget(REQUESTS)
    assert list((tmp_path / RESULTS).iterdir()) == []


def test_a_failure_names_its_measurement_and_keeps_the_others(tmp_path: Path) -> None:
    bad = FakeRequest(graph=spec(degree=3), name="bad", fails=True)
    good = FakeRequest(graph=spec(degree=3), name="good")
    other = FakeRequest(graph=spec(degree=2), name="other")
    run = Run(tmp_path)
    with pytest.raises(SimulationError) as caught:
        run.plan.measure([good, bad, other])
    assert str(caught.value) == "random, degree 3, 2^4 vertices, bad: nothing moved"
    assert caught.value.diagnosis == "kernel 0 waits"
    assert list(run.plan.failures) == [bad.digest]
    assert run.plan.store.find(good, verified=True) == {"edges": good.graph.edges, "verified": True}
    assert run.plan.store.find(bad) is run.plan.store.find(other) is None


def test_failures_need_not_end_a_plan(tmp_path: Path) -> None:
    bad = FakeRequest(graph=spec(), name="bad", fails=True)
    good = FakeRequest(graph=spec(), name="good")
    run = Run(tmp_path)
    told: dict[str, Any] = {}
    results = run.plan.results([bad, good], on_outcome=lambda request, outcome: told.update({request.name: outcome}))
    assert list(results) == [good.digest]
    assert {digest: str(failure) for digest, failure in run.plan.failures.items()} == {bad.digest: "nothing moved"}
    assert list(told) == ["bad", "good"]
    assert (run.plan.made, run.plan.text) == (1, "1 made, 0 from before")


def test_a_process_that_is_killed_is_named_and_made_anew(tmp_path: Path) -> None:
    bad = FakeRequest(graph=spec(degree=3), name="bad", dies=True)
    others = [FakeRequest(graph=spec(degree=2), name=name) for name in ("one", "two")]
    run = Run(tmp_path, jobs=2)
    assert set(run.plan.results([bad, *others])) == {each.digest for each in others}
    assert str(run.plan.failures[bad.digest]) == "the process that measured it was killed by signal 9"
    assert not any(each.name.startswith(".") for each in (tmp_path / RESULTS).iterdir())


def test_the_order_of_what_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def perform(requests: Any, *_: Any, **__: Any) -> None:
        asked.extend(request.name for request in requests)

    monkeypatch.setattr("cyscc.host.experiments.plan.plan.perform_here", perform)
    monkeypatch.setattr(FakeRequest, "machine", property(lambda self: self.name[0]))
    two, three = spec(degree=2), spec(degree=2, seed=2)
    graphs = {"a1": two, "a2": three, "b1": two, "a3": two, "b2": three, "a4": spec(degree=3)}
    requests = [FakeRequest(graph=graph, name=name) for name, graph in graphs.items()]
    requests += [FakeRequest(graph=two, name=name, alone=True) for name in ("x", "y")]
    plan = Plan(folder=tmp_path)
    plan.results(requests)
    # What is alone, the largest, the first of each machine, and then graph by graph.
    assert asked == ["x", "y", "a4", "a1", "b1", "a3", "a2", "b2"]
    asked.clear()
    plan.results(requests[:6], limit=Limit(until=0))
    assert asked == list(graphs)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("cannot be read", path=Path("g.txt")), "g.txt: cannot be read"),
        (SimulationError("cycle limit of 50 reached"), "cycle limit of 50 reached"),
        (MemoryError(), "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "out/x"), "out/x: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), "FOLDER: No space left on device"),
        (OSError("broken"), "FOLDER: broken"),
    ],
)
def test_what_failures_are_told_as(
    error: Exception, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(FakeRequest, "measure", fail)
    how: dict[str, Any] = {"folder": tmp_path, "verify": True, "again": False}
    failure = make_result(FakeRequest(graph=spec()), sources=sources_digest(), **how)
    assert str(failure) == line.replace("FOLDER", str(tmp_path))
    message = "this process and the one that works for it have different versions of the program"
    with refused(SimulationError, message):
        make_result(FakeRequest(graph=spec()), sources="other", **how)


def test_a_process_that_writes_elsewhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.plan.plan.make_result", lambda request, **_: {"edges": 0})
    plan = Plan(folder=tmp_path)
    plan.results([FakeRequest(graph=spec())])
    assert [str(each) for each in plan.failures.values()] == [f"the process that made it does not see {tmp_path}"]


def test_results_of_earlier_versions_are_named_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    old = [Path("out", "points", "x", "point.json"), Path("out", "measurements", "y.json")]
    for path in old:
        path.parent.mkdir(parents=True)
        path.touch()
    for _ in range(2):
        Plan(folder=Path("out")).measure(REQUESTS[:1])
    names = "out/points, out/measurements"
    line = f"cyscc: {names}: results of an earlier version of the program, which are left alone\n"
    assert capfd.readouterr().err == line
    assert all(path.exists() for path in old)


INPUTS = {"graph": {"degree": 8, "vertices": 16}, "memory": {"kind": "hc2"}}


class Throughput(TypedDict):
    gteps: float


@dataclass(frozen=True, kw_only=True)
class Rated(Request):
    """A request whose result is made by a function, of which some have a file."""

    kind: ClassVar[Any] = Throughput
    made: ClassVar[list[Path]] = []

    options: tuple[tuple[str, int], ...] = ()
    gteps: Any = 0.5
    fails: bool = False
    seconds: float = 0

    @property
    def label(self) -> str:
        return "it"

    def setting(self) -> dict[str, Any]:
        return INPUTS

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        self.made.append(folder)
        time.sleep(self.seconds)
        (folder / "file").write_text("whole")
        if self.fails:
            raise KeyboardInterrupt
        return {"gteps": self.gteps, "verified": verify}

    def check_files(self, folder: Path, result: Measured) -> None:
        if (folder / "file").read_text() != "whole":
            raise InputError("is another one", path=folder / "file")


IT = Rated()
RESULT_OF_IT = {"gteps": 0.5, "verified": True}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    Rated.made.clear()
    return Store(tmp_path / "made" / "with parents")


def test_what_was_made_is_found(store: Store, tmp_path: Path) -> None:
    assert store.find(IT) is None
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert store.find(IT, verified=True) == RESULT_OF_IT
    assert [path.name for path in store.folder.iterdir()] == [IT.digest]
    assert sorted(path.name for path in store.folder_of(IT).iterdir()) == ["file", RESULT]
    assert Store(tmp_path / "made" / "with parents").make(IT) == RESULT_OF_IT
    assert len(Rated.made) == 1
    store.make(IT, again=True)
    assert len(Rated.made) == 2
    assert store.find(IT) == {**RESULT_OF_IT, "verified": False}
    store.remove(IT)
    store.remove(IT)
    assert store.find(IT) is None


def test_what_two_want_at_once_is_made_once(store: Store) -> None:
    slow = Rated(seconds=0.3)
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda folder: Store(folder).make(slow), [store.folder] * 2))
    assert made == [{"gteps": 0.5, "verified": False}] * 2
    assert len(Rated.made) == 1


def test_what_has_tuples_in_it_is_found(store: Store) -> None:
    request = Rated(options=(("segment", 7), ("cached", 3)))
    store.make(request)
    assert store.find(request) is not None


def test_the_digest_depends_on_every_value_and_not_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Rated().digest
    assert Rated(gteps=0.6).digest != before
    turned = {"memory": {"kind": "hc2"}, "graph": {"vertices": 16, "degree": 8}}
    for setting in (turned, {**INPUTS, "memory": {"kind": "fixed"}}, {**INPUTS, "seed": 1}):
        monkeypatch.setattr(Rated, "setting", lambda _, setting=setting: setting)
        assert (Rated().digest == before) == (setting is turned)


def test_only_a_checked_result_stands_for_a_checked_one(store: Store) -> None:
    store.make(IT)
    assert store.find(IT, verified=True) is None
    assert store.find(IT) == {**RESULT_OF_IT, "verified": False}
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert len(Rated.made) == 2


def document(**changes: Any) -> dict[str, Any]:
    return {"inputs": IT.inputs(), "result": RESULT_OF_IT, **changes}


def linked(it: Path) -> None:
    """Replace a folder by a link to it."""
    elsewhere = it.parents[1] / "elsewhere"
    it.rename(elsewhere)
    it.symlink_to(elsewhere)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda it: (it / RESULT).write_text(""), "/result.json: is not JSON: Expecting value: line 1 column 1"),
    "another request": (
        lambda it: write_sealed(it / RESULT, document(inputs={**IT.inputs(), "seed": 2})),
        "/result.json: has other inputs",
    ),
    "a result of another kind": (
        lambda it: write_sealed(it / RESULT, document(result={"cycles": 1})),
        "/result.json: holds no such result: Object missing required field `gteps`",
    ),
    "no result": (
        lambda it: write_sealed(it / RESULT, {"inputs": IT.inputs()}),
        "/result.json: holds no such result: Object missing required field `gteps`",
    ),
    "a value that was changed": (
        lambda it: write_json(str(it / RESULT), {**sealed(document()), "result": {"gteps": 0.6}}),
        "/result.json: is damaged: its digest is another",
    ),
    "nothing in it": (lambda it: (it / RESULT).unlink(), "/result.json: is not there"),
    "a link": (linked, ": is a link, which is not followed here"),
    "another file": (lambda it: (it / "file").write_text("other"), "/file: is another one"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_said_and_made_again(store: Store, damage: str, capfd: pytest.CaptureFixture[str]) -> None:
    store.make(IT, verify=True)
    spoil, cause = DAMAGES[damage]
    spoil(store.folder_of(IT))
    assert store.find(IT) is None
    line = capfd.readouterr().err
    assert line.startswith(f"cyscc: {store.folder_of(IT)}{cause}")
    assert line.endswith(": it is made again\n")
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert store.find(IT) == RESULT_OF_IT
    assert read_document(store.folder_of(IT) / RESULT)["result"] == RESULT_OF_IT
    assert capfd.readouterr().err == ""


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").symlink_to("elsewhere")
    with refused(InputError, f"{tmp_path / 'here'}: is a link, which is not followed here (--output)"):
        Store(tmp_path / "here")
    store = Store(tmp_path / "store")
    (tmp_path / "elsewhere" / "kept").touch()
    (store.folder / f".{IT.digest}").symlink_to(tmp_path / "elsewhere")
    store.clear(IT)
    with pytest.raises(OSError, match="Not a directory"):
        store.make(IT)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]


def test_what_is_left_of_a_failure_is_removed(store: Store) -> None:
    bad = Rated(fails=True)
    with pytest.raises(KeyboardInterrupt):
        store.make(bad)
    assert list(store.folder.iterdir()) == []
    (store.folder / f".{IT.digest}" / "left").mkdir(parents=True)
    store.clear(IT)
    store.clear(bad)
    assert list(store.folder.iterdir()) == []
