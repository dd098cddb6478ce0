"""Words by name."""

from cyscc.sim.named_words import Field, NamedWords


def test_values_of_any_width() -> None:
    words = NamedWords.of([("flag", 1, [0]), ("wide", 146, [0] * 3), ("number", 64, [0])])
    assert words.words.size == 1 + 3 * 3 + 1
    wide = [(1 << 146) - 1, 1 << 64, 5]
    words.put("wide", wide)
    words.put("number", [-7])
    assert words.values("flag") == [0]
    assert words.values("wide") == wide
    assert words.signed("number") == -7
    words.put("wide", [-1, 0, 1 << 146])
    assert words.values("wide") == [(1 << 146) - 1, 0, 0]


def test_places() -> None:
    partly = Field(name="partly", width=70, rows=2, known=0b101)
    words = NamedWords.zeros([Field(name="first", width=3, rows=1, known=7), partly])
    assert words.places["partly"] == (1, partly)
    assert words.rows("partly").shape == (2, 2)
