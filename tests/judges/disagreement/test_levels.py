"""Labels that are words, and combinations of two columns."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ringtrue.errors import TableError, UsageError
from ringtrue.judges.disagreement import disagree
from ringtrue.judges.votes import make_votes
from ringtrue.tables import Judgments

WORDS = {"doc": list("aabb"), "judge": list("xyxy"), "label": ["Key", "Rel", "Non", "Rel"]}
ORDER = ["Non", "Rel", "Key"]
BOTH = {
    "query": ["q1", "q1", "q1", "q1", "q2", "q2"],
    "doc": list("aabbcc"),
    "judge": list("xyxyxy"),
    "snippet": ["Sure", "Maybe", "Maybe", "Sure", "No", "Sure"],
    "page": ["Key", "HRel", "Key", "Key", "Non", "Non"],
}
COLUMNS = {"snippet": ["No", "Maybe", "Sure"], "page": ["Non", "HRel", "Key"]}


def asked(labels: object, **settings: Any) -> Any:
    return disagree(labels, "1/2", resamples=0, **settings)


def test_words_have_the_order_in_which_they_are_named() -> None:
    found = asked(WORDS, levels=ORDER)
    assert {name: one.value for name, one in found.p.items()} == {"Non": 0, "Rel": 0.5, "Key": 0}
    assert found.gains == {0: 0.0, 1: 0.5, 2: 1.0}
    assert found.top == ("Key",)


def test_a_level_that_is_named_and_never_used_is_undefined() -> None:
    found = asked(WORDS, levels=[*ORDER, "Nav"])
    assert found.p["Nav"].value is None
    assert found.labels == (0, 1, 2, 3)


def test_numbers_may_fall_and_gains_keep_them() -> None:
    found = asked({"doc": list("aabb"), "judge": list("xyxy"), "label": [1, 2, 3, 2]}, levels=["3", "2", "1"])
    assert found.gains == {3: 0.0, 2: 0.5, 1: 1.0}
    assert (
        asked(Judgments.of({"query": list("qqqq"), **WORDS, "label": [1, 2, 3, 2]}), levels=["3", "2", "1"]).gains
        == found.gains
    )


def test_numbers_below_0_are_not_judged_where_words_are() -> None:
    rows = {"doc": list("aabbc"), "judge": list("xyxyx"), "label": [*WORDS["label"], "-2"]}
    found = asked(rows, levels=ORDER)
    assert found.votes == 4
    assert "unjudged-labels" in [note.code for note in found.notes]
    with pytest.raises(TableError) as refused:
        asked({"doc": list("aa"), "judge": list("xy"), "label": ["-1", "-2"]}, levels=ORDER)
    assert refused.value.code == "nothing-judged"


def test_gold_may_be_words_too() -> None:
    found = asked(WORDS | {"gold": ["Key", "Key", "", ""]}, levels=ORDER, gold_as_judge="gold")
    assert found.p["Key"].value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("levels", "near"), [(["Non", "Rell", "Key"], "'Rel'; did you mean 'Rell'?"), (["Non", "Key"], "'Rel'; name every")]
)
def test_a_word_that_is_no_level_is_told_with_its_row(levels: list[str], near: str) -> None:
    with pytest.raises(TableError) as refused:
        asked(WORDS, levels=levels)
    assert (refused.value.code, refused.value.note.subject) == ("unknown-level", "row 2")
    assert near in refused.value.text


def test_an_empty_cell_is_told_as_such() -> None:
    with pytest.raises(TableError) as refused:
        asked(WORDS | {"label": ["Key", "Rel", "Non", None]}, levels=ORDER)
    assert (refused.value.code, refused.value.note.subject) == ("unknown-level", "row 4")
    assert "an empty cell" in refused.value.text


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        (["Key"], "too-few-levels"),
        ("Key", "too-few-levels"),
        (["Non", "Non"], "repeated-level"),
        (["Non", " "], "unnamed-level"),
    ],
)
def test_levels_that_are_none_are_refused(levels: Any, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(WORDS, levels=levels)
    assert (refused.value.code, refused.value.parameter) == (code, "levels")


def test_every_combination_of_two_columns_is_a_level() -> None:
    found = asked(BOTH, levels=COLUMNS)
    assert len(found.levels) == 9
    assert found.top == ("Sure/Key",)
    assert found.cases == {
        "No/Non": 1, "No/HRel": 0, "No/Key": 0, "Maybe/Non": 0, "Maybe/HRel": 1, "Maybe/Key": 1, "Sure/Non": 1,
        "Sure/HRel": 0, "Sure/Key": 2,
    }  # fmt: skip
    assert found.p["Maybe/HRel"].value == 1
    assert found.p["Sure/Key"].value == 0
    assert found.weights["Maybe/Key"].value == 1
    assert found.weights["No/HRel"].value is None
    # A page that is worth nothing is not saved by its snippet, whether anybody saw it or not.
    assert [found.weights[f"{snippet}/Non"].value for snippet in COLUMNS["snippet"]] == [0, 0, 0]
    assert sum("never seen" in flag for flag in found.flags) == 4


def test_the_top_of_one_column_can_be_what_counts() -> None:
    found = asked(BOTH, levels=COLUMNS, top="page")
    assert found.top == ("No/Key", "Maybe/Key", "Sure/Key")
    # b: one says (Maybe, Key), the other (Sure, Key), and both count. a: (Sure, Key) meets (Maybe, HRel).
    assert found.p["Maybe/Key"].value == 1
    assert found.p["Sure/Key"].value == pytest.approx(0.5)
    assert found.weights["Maybe/Key"].value == 1


def test_one_column_by_name_is_like_a_column_of_labels() -> None:
    one = asked(BOTH, levels={"page": COLUMNS["page"]})
    other = asked(
        {name: BOTH[name] for name in ("query", "doc", "judge")} | {"label": BOTH["page"]}, levels=COLUMNS["page"]
    )
    assert one.p == other.p
    assert one.levels == ("Non", "HRel", "Key")


def test_a_column_of_labels_does_not_get_into_the_way_of_combined_ones() -> None:
    frame = pl.DataFrame(BOTH).with_columns(label=pl.lit("whatever"), rel=pl.lit(7))
    assert asked(frame, levels=COLUMNS).p == asked(BOTH, levels=COLUMNS).p


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        asked(BOTH, levels={"snipet": ["No", "Sure"], "page": COLUMNS["page"]})
    assert (refused.value.code, refused.value.parameter) == ("unknown-column", "levels")
    assert "'snippet'?" in refused.value.text
    with pytest.raises(UsageError) as refused:
        asked(BOTH, levels=COLUMNS, top="pages")
    assert (refused.value.code, refused.value.parameter) == ("unknown-column", "top")
    assert "'page'?" in refused.value.text
    with pytest.raises(UsageError) as refused:
        asked(WORDS, levels=ORDER, top="page")
    assert refused.value.code == "top-of-one-column"
    with pytest.raises(UsageError) as refused:
        asked(WORDS | {"label": [0, 1, 0, 1]}, top="page")
    assert refused.value.code == "top-without-levels"
    assert refused.value.note.suggestions[0].arguments == {"levels": {"page": "…"}}
    with pytest.raises(UsageError) as refused:
        asked(WORDS, levels=ORDER, scale=[0, 1])
    assert refused.value.code == "levels-and-scale"
    with pytest.raises(UsageError) as refused:
        asked(make_votes(WORDS | {"label": [0, 1, 0, 1]}), levels=ORDER)
    assert refused.value.code == "levels-of-votes"
    with pytest.raises(TableError) as refused:
        asked({name: BOTH[name] for name in ("doc", "judge", "page")}, levels=ORDER)
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("label",))
