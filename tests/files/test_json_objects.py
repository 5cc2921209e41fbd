"""JSON that people wrote by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import Source
from ringtrue.files.json_objects import is_nonnegative_number, read_json, shorten_json


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": {"b": 1, "b": 1}}', "'b' stands twice in one object"),
        ("{", "expected a table; "),
        ("[" * 200_000, "expected a table; "),
        ("1" * 5000, "expected a table; "),
    ],
)
def test_what_is_no_json_is_refused_with_the_file(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(FormatError) as refused:
        read_json(Source(str(path)), "a table")
    assert str(refused.value).startswith(f"{path}: {told}")


def test_one_name_may_stand_in_several_objects(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"a": {"b": 1}, "b": {"a": 2}}')
    assert read_json(Source(str(path)), "a table") == {"a": {"b": 1}, "b": {"a": 2}}


def test_amounts_are_finite_numbers_of_at_least_0() -> None:
    assert all(map(is_nonnegative_number, (0, 0.0, 1, 1e308)))
    assert not any(
        map(is_nonnegative_number, (-1, -1e-9, float("inf"), float("nan"), 10**400, True, False, "1", None, [1]))
    )


def test_long_values_are_cut_in_messages() -> None:
    assert shorten_json([0, 1]) == "[0, 1]"
    assert shorten_json(10**100) == "1" + "0" * 39 + "…"
