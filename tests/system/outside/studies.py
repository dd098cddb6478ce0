"""Studies for `cyscc sweep`, good and bad."""

_TEST = 'config = "test"\n'
_GRAPH = "graph = { vertices = 16, degree = 2, seed = 1 }\n"
_GOOD = _TEST + _GRAPH
_SEARCHES = {
    "points": "0",
    "aim": "{ points = 30, aim = 1 }",
    "seed": "{ seed = 1 }",
    "result": '{ points = 30, minimise = "time" }',
    "nothing": "{ points = 30, minimise = [] }",
    "budget": "{ points = 30, budget = 5 }",
    "luts": "{ points = 30, budget.luts = 1.5 }",
    "batch": '{ points = 30, batch = "many" }',
}
"""Bad searches by name."""
_RANGES = {
    "by": "memory.bank_busy = { from = 1, to = 60, by = 2 }",
    "times": "memory.reads_in_flight = { from = 0, to = 512, times = 2 }",
    "none": "memory.bank_busy = { from = 1, to = 0 }",
}
"""Bad ranges by name."""
_GRAPHS = {
    "number": "[3]",
    "empty": "[{}]",
    "degree": "[{ vertices = 8 }]",
    "none": "[{ vertices = 0, degree = 4 }]",
    "kind": "[{ kind = 'star' }]",
    "key": "[{ vertexes = 4, degree = 4 }]",
    "both": "[{ file = 'g.txt', degree = 4 }]",
    "twice": "[{ degree = 4 }, { degree = '2^2' }]",
    "seed": "[{ seed = 4 }]\nseed = [1]",
}
"""Bad lists of graphs by name."""

STUDIES: dict[str, str] = {
    "s-grid.toml": f'title = "Ways"\n{_GOOD}[grid]\nmemory = ["fixed:20", "fixed:75"]\nalgorithm = ["bfs", "scc"]\n',
    "s-points.toml": _GOOD
    + '[[points]]\nname = "near"\nmemory = "fixed:20"\n[[points]]\nmemory = "fixed:75"\nsource = 1\n',
    "s-graphs.toml": f'{_TEST}memory = "fixed:75"\n[grid]\n'
    'graph = [{ vertices = 8, degree = 2 }, { kind = "rmat", vertices = 8, degree = 2 }, "g.txt"]\n',
    "s-limit.toml": f"{_GOOD}cycle_limit = 100\n",
    "bad-s-syntax.toml": "config = \n",
    "bad-s-empty.toml": "",
    "bad-s-title.toml": f"title = 1\n{_GOOD}",
    "bad-s-grid.toml": f"grid = 1\n{_GOOD}",
    "bad-s-grid-value.toml": f"{_GOOD}[grid]\nneighbour_depth = 16\n",
    "bad-s-grid-none.toml": f"{_GOOD}[grid]\nneighbour_depth = []\n",
    "bad-s-points.toml": f"points = 1\n{_GOOD}",
    "bad-s-name.toml": f"{_GOOD}[[points]]\nname = 1\n",
    "bad-s-parameter.toml": f"{_GOOD}neighbour_dept = 16\n",
    "bad-s-both.toml": f"{_GOOD}neighbour_depth = 16\n[grid]\nneighbour_depth = [8, 16]\n",
    "bad-s-twice.toml": f"{_GOOD}[grid]\nneighbour_depth = [8, 8]\n",
    "bad-s-many.toml": f"{_GOOD}[grid]\nsource = {list(range(400))}\nqueue_slack = {list(range(400))}\n",
    "bad-s-machine.toml": f"{_GOOD}[grid]\nneighbour_depth = [8, 20]\n",
    "bad-s-memory.toml": f"{_GOOD}[grid]\nmemory.bank_busy = [15, -1]\n",
    "bad-s-memory-key.toml": f"{_GOOD}memory.bank_bus = 15\n",
    "bad-s-profile.toml": f'{_GOOD}memory = "hc3"\n',
    "bad-s-config.toml": f'config = "hc3"\n{_GRAPH}',
    "bad-s-config-type.toml": f"config = 1\n{_GRAPH}",
    "bad-s-graph.toml": f"{_TEST}graph = 1\n",
    "bad-s-no-graph.toml": _TEST,
    "bad-s-graph-file.toml": f'{_TEST}graph = "missing.txt"\n',
    "bad-s-graph-both.toml": f'{_TEST}graph = {{ file = "g.txt", vertices = 16 }}\n',
    "bad-s-degree.toml": f"{_TEST}graph = {{ vertices = 16 }}\n",
    "bad-s-vertices.toml": f'{_TEST}graph = {{ vertices = "many", degree = 2 }}\n',
    "bad-s-rmat.toml": f'{_TEST}graph = {{ kind = "rmat", vertices = 15, degree = 2 }}\n',
    "bad-s-kind.toml": f'{_TEST}graph = {{ kind = "star", vertices = 16, degree = 2 }}\n',
    "bad-s-algorithm.toml": f'{_GOOD}algorithm = "dfs"\n',
    "bad-s-simplify.toml": f"{_GOOD}simplify = 1\n",
    "bad-s-limit.toml": f"{_GOOD}cycle_limit = 0\n",
    "bad-s-interval.toml": f"{_GOOD}record_interval = 1\n",
    "bad-s-executor.toml": f'{_GOOD}executor = "fast"\n',
    "bad-s-source.toml": f'{_GOOD}algorithm = "scc"\nsource = 1\n',
    "bad-s-no-source.toml": f"{_GOOD}source = 99\n",
    "bad-s-only.toml": f'{_GRAPH}config = "published-bfs"\nalgorithm = "scc"\n',
    "bad-s-nested.toml": f"x = {'[' * 2000}{']' * 2000}\n",
    "bad-s-seed.toml": f"{_TEST}seed = 1\n[graph]\nseed = 2\n",
    "bad-s-seeds.toml": f"{_TEST}seed = 1\n[grid]\ngraph = [{{ seed = 4 }}]\n",
    "bad-s-source-type.toml": f"{_GOOD}source = true\n",
    "bad-s-source-word.toml": f'{_GOOD}source = "one"\n',
    "bad-s-search-graphs.toml": f"{_TEST}graph = {{ vertices = 16, degree = 2 }}\nsearch = {{ points = 30 }}\n"
    "[grid]\ngraph.seed = [1, 2]\nmemory.bank_busy = [5, 40]\n",
    **{
        f"bad-s-search-{name}.toml": f"{_GOOD}search = {text}\n[grid]\nmemory.bank_busy = [5, 40]\n"
        for name, text in _SEARCHES.items()
    },
    **{f"bad-s-range-{name}.toml": f"{_GOOD}[grid]\n{text}\n" for name, text in _RANGES.items()},
    **{f"bad-s-graphs-{name}.toml": f"{_TEST}[grid]\ngraph = {text}\n" for name, text in _GRAPHS.items()},
}
"""Text of each by the name of its file."""
