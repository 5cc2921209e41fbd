from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import CHUNK_SIZE, Source
from ringtrue.files.formats import LAYOUTS
from ringtrue.files.whitespace_fields import (
    BLOCK_SIZE,
    Layout,
    _has_adjacent_blanks,
    _parse_line_by_line,
    _parse_with_polars,
    find_lines,
    read_fields,
    split_fields,
)
from ringtrue.messages import Note
from strategies import NUMBERS, any_ids, examples, finite, int32, messy_texts

RUN, QRELS, PAIRS = LAYOUTS["trec-run"], LAYOUTS["trec-qrels"], LAYOUTS["pairs"]
NUMERIC = {
    name: tuple(field in ("score", "label") for field in layout.fields) for name, layout in LAYOUTS.items()
}  # fmt: skip


def source(tmp_path: Path, content: str | bytes) -> Source:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(str(path))


def rows(tmp_path: Path, content: str | bytes, layout: Layout = QRELS) -> list[tuple[object, ...]]:
    return read_fields(source(tmp_path, content), layout).rows()


def refusal(tmp_path: Path, content: str | bytes, layout: Layout = QRELS, found: str = "") -> tuple[str, int | None]:
    """The code and the line of the error, whose text has what was found."""
    with pytest.raises(FormatError) as refused:
        read_fields(source(tmp_path, content), layout)
    assert found in refused.value.text
    assert refused.value.file == str(tmp_path / "file")
    return refused.value.code, refused.value.line


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 1\nq1 0 d2 0\n",
        "q1\t0\td1\t1\nq1\t0\td2\t0\n",
        "  q1   0\t d1 1  \n\tq1 0 d2 0\t\n",
        "q1 0 d1 1\r\nq1 0 d2 0\r\n",
        "q1 0 d1 1\nq1 0 d2 0",
        "\n\nq1 0 d1 1\n \t \n\nq1 0 d2 0\n\n",
        "\ufeffq1 0 d1 1\nq1 0 d2 0\n",
        "# note\nq1 0 d1 1\n#\nq1 0 d2 0\n# end",
        "q1\x0b0\x0cd1 1\nq1 0 d2 0\n",
        "q1 0 d1 1.0\nq1 0 d2 0e0\n",
    ],
)
def test_any_white_space_separates_fields(tmp_path: Path, text: str) -> None:
    assert rows(tmp_path, text) == [("q1", "0", "d1", 1), ("q1", "0", "d2", 0)]


def test_a_hash_begins_a_comment_only_where_it_begins_a_line(tmp_path: Path) -> None:
    text = "#q0 0 d0 1\nq1 0 doc#3_#x 1\nq#1 0 # 2\n #q2 0 d 1\n"
    assert rows(tmp_path, text) == [("q1", "0", "doc#3_#x", 1), ("q#1", "0", "#", 2), ("#q2", "0", "d", 1)]


def test_no_break_spaces_and_unicode_line_ends_are_part_of_an_id(tmp_path: Path) -> None:
    docs = ["a\u00a0b", "a\u2028b", "a\u0085b", "a\u3000b", '"a', "a\x01b", "a\x1fb"]
    text = "".join(f"q1 0 {doc} 1\n" for doc in docs)
    assert [row[2] for row in rows(tmp_path, text)] == docs
    assert [row[2] for row in rows(tmp_path, text.replace(" ", "  "))] == docs
    assert split_fields("q1\t\u00a0 \x01 d") == ["q1", "\u00a0", "\x01", "d"]


@pytest.mark.parametrize(("text", "label"), [("2.0", 2), ("1e0", 1), ("-1", -1), ("+3", 3), ("2147483647", 2**31 - 1)])
def test_whole_numbers_are_labels_however_they_are_written(tmp_path: Path, text: str, label: int) -> None:
    assert rows(tmp_path, f"q1 0 d1 {text}\n") == [("q1", "0", "d1", label)]


@pytest.mark.parametrize("label", ["x", "0.5", "nan", "inf", "1e400", "0x1", "1_0", "١", "--1"])
def test_a_label_that_is_no_whole_number_names_the_line(tmp_path: Path, label: str) -> None:
    assert refusal(tmp_path, f"q1 0 d1 1\nq1 0 d2 {label}\n", found=f"'{label}'") == ("bad-label", 2)


@pytest.mark.parametrize("label", ["2147483648", "-2147483649", "1e10"])
def test_a_label_outside_32_bits_names_the_line(tmp_path: Path, label: str) -> None:
    assert refusal(tmp_path, f"q1 0 d1 1\nq1 0 d2 {label}\n", found=label) == ("bad-label", 2)


@pytest.mark.parametrize("score", ["nan", "NaN", "-nan", "inf", "+Inf", "-Infinity"])
def test_a_score_that_is_not_finite_names_the_line(tmp_path: Path, score: str) -> None:
    assert refusal(tmp_path, f"q1 Q0 d1 1 3 t\n\nq1 Q0 d2 2 {score} t\n", RUN, f"'{score}'") == ("bad-score", 3)


@pytest.mark.parametrize("score", ["1e400", "-1e400", "9" * 400])
def test_a_score_too_large_for_64_bits_names_the_line(tmp_path: Path, score: str) -> None:
    assert refusal(tmp_path, f"q1 Q0 d1 1 {score} t\n", RUN, score) == ("bad-score", 1)


@pytest.mark.parametrize("score", ["abc", "0x10", "1_000", "1,5", "١٢", "1e", ".", "1.2.3", "1f"])
def test_a_score_that_is_no_number_names_the_line(tmp_path: Path, score: str) -> None:
    assert refusal(tmp_path, f"# c\nq1 Q0 d1 1 {score} t\n", RUN, f"'{score}'") == ("bad-score", 2)


@pytest.mark.parametrize(
    ("text", "layout", "code", "line", "count"),
    [
        ("q1 0 d1 1\nq1 0 d1\n", QRELS, "too-few-fields", 2, 3),
        ("q1 0 d1 1\nq1 0 d1 1 1\n", QRELS, "too-many-fields", 2, 5),
        ("q1 Q0 d1 1 3.5\n", RUN, "too-few-fields", 1, 5),
        ("q1 a b a\n\nq1\n", PAIRS, "too-few-fields", 3, 1),
        ("q1 0 d1 1 q1 0 d2 1\n", QRELS, "too-many-fields", 1, 8),
        ("q1 0\nd1 1\n", QRELS, "too-few-fields", 1, 2),
    ],
)
def test_a_wrong_number_of_fields_names_the_line(
    tmp_path: Path, text: str, layout: Layout, code: str, line: int, count: int
) -> None:
    assert refusal(tmp_path, text, layout, found=f"found {count}") == (code, line)
    assert refusal(tmp_path, text, layout, found=layout.description) == (code, line)


def test_fields_after_the_tag_are_ignored_with_a_note(tmp_path: Path) -> None:
    text = "q1 Q0 d1 1 3.5 tag and more\nq1 Q0 d2 2 2.5 tag\nq1 Q0 d3 3 1.5 tag x\n"
    notes: list[Note] = []
    frame = read_fields(source(tmp_path, text), RUN, notes.append)
    assert frame.rows() == [("q1", "d1", 3.5), ("q1", "d2", 2.5), ("q1", "d3", 1.5)]
    (note,) = notes
    assert (note.code, note.subject) == ("extra-fields", str(tmp_path / "file"))
    assert "2 lines" in note
    read_fields(source(tmp_path, "q1 Q0 d1 1 3.5 tag\n"), RUN, notes.append)
    assert notes == [note]


@pytest.mark.parametrize("text", ["#\n", "# only\n# comments", "\n\n", " \r\n"])
def test_a_file_without_a_line_of_data_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text, found=QRELS.description) == ("no-data", None)


def test_text_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"q1 0 d1 1\nq1 0 d\xff2 1\n", found="0xff") == ("not-utf8", 2)
    assert refusal(tmp_path, b"q1 Q0 d1 1 1 t\nq1 Q0 d2 2 1 caf\xe9 \n", RUN, found="0xe9") == ("not-utf8", 2)


@pytest.mark.parametrize("tidy", [True, False])
def test_a_zero_byte_in_the_middle_of_a_file_names_the_line(tmp_path: Path, tidy: bool) -> None:
    gap = " " if tidy else "  "
    text = f"q1{gap}0 d 1\n" * 20_000 + "q1 0 d\x00 1\n"
    assert refusal(tmp_path, text) == ("binary-file", 20_001)


@pytest.mark.slow
@pytest.mark.parametrize("last", ["q9 Q0 d9 1 abc t", "q9 Q0 d9 1", "q9 Q0 d9 1 nan t", "q9 Q0 d9 1 1.5 t\x00"])
def test_an_error_beyond_the_first_piece_names_the_right_line(tmp_path: Path, last: str) -> None:
    line = "q1 Q0 a-rather-long-document-id-to-fill-the-piece 1 1.5 t\n"
    count = 2 * CHUNK_SIZE // len(line) + 7
    assert refusal(tmp_path, line * count + last, RUN)[1] == count + 1


@pytest.mark.slow
def test_pieces_of_different_tidiness_make_one_table(tmp_path: Path) -> None:
    tidy = "q1 Q0 a-rather-long-document-id-to-fill-the-piece 1 1.5 t\n" * (CHUNK_SIZE // 50)
    text = "# a comment\n" + tidy + "q2\tQ0  d2 1 .5 t more\r\n" + tidy
    notes: list[Note] = []
    frame = read_fields(source(tmp_path, text), RUN, notes.append)
    assert frame.height == 2 * (CHUNK_SIZE // 50) + 1
    assert frame.filter(query="q2").rows() == [("q2", "d2", 0.5)]
    assert len(notes) == 1


def test_lines_are_found_by_their_fields(tmp_path: Path) -> None:
    text = "# c\nq1 0 d1 1\n\nq1 0 d2 1\n\tq1  0 d1 2\r\nq2 0 d1 1\nq1\n"
    assert find_lines(source(tmp_path, text), QRELS, query="q1", doc="d1") == [2, 5]


def bits(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """The rows with every number by its bits, so that -0.0 is not 0.0."""
    return [tuple(struct.pack("d", x) if isinstance(x, float) else x for x in row) for row in frame.rows()]


@pytest.mark.parametrize("name", list(LAYOUTS))
@examples(120)
@given(data=st.data())
def test_the_fast_path_never_says_other_than_the_slow_one(name: str, data: st.DataObject) -> None:
    layout = LAYOUTS[name]  # type: ignore[index]
    text = data.draw(messy_texts(NUMERIC[name]))  # type: ignore[index]
    fast = _parse_with_polars(text, layout)
    try:
        slow = _parse_line_by_line(text, layout, Source("file"), 1)
    except FormatError:
        assert fast is None
        return
    if fast is not None:
        assert bits(fast.frame) == bits(slow.frame)
        assert fast.frame.schema == slow.frame.schema
        assert slow.with_extra == 0
        assert fast.line_count == slow.line_count == text.count(b"\n")


clean_ids = any_ids.filter(lambda x: not any(c <= " " for c in x) and not x.startswith(("#", "\ufeff")))


@given(st.lists(st.tuples(clean_ids, clean_ids, finite), min_size=1, max_size=5), st.sampled_from(" \t"))
def test_tidy_text_takes_the_fast_path(lines: list[tuple[str, str, float]], gap: str) -> None:
    text = "".join(f"{gap.join([query, 'Q0', doc, '1', repr(score), 't'])}\n" for query, doc, score in lines)
    parsed = _parse_with_polars(text.encode(), RUN)
    assert parsed is not None
    assert bits(parsed.frame) == bits(pl.DataFrame(lines, orient="row"))


@given(st.lists(st.tuples(clean_ids, int32), min_size=1, max_size=5))
def test_untidy_text_is_tidied_for_the_fast_path(lines: list[tuple[str, int]]) -> None:
    text = "# c\n\n" + "".join(f"  q1\t 0  {doc}\t{label}.0 \r\n#c\n" for doc, label in lines)
    parsed = _parse_with_polars(text.encode(), QRELS)
    assert parsed is not None
    assert parsed.frame.rows() == [("q1", "0", doc, label) for doc, label in lines]


@examples(150)
@given(st.from_regex(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@example("2.2250738585072011e-308")
@example("179769313486231570000e289")
@example("0." + "1" * 900)
@example("-0")
def test_a_score_is_the_number_that_python_reads(text: str) -> None:
    parsed = _parse_with_polars(f"q Q0 d 1 {text} t\n".encode(), RUN)
    value = float(text)
    if parsed is None:
        assert value in (float("inf"), float("-inf"))
    else:
        assert struct.pack("d", parsed.frame["score"][0]) == struct.pack("d", value)


@pytest.mark.parametrize("text", NUMBERS)
def test_both_paths_agree_on_what_a_number_is(text: str) -> None:
    piece = f"q Q0 d 1 {text} t\n".encode()
    fast = _parse_with_polars(piece, RUN)
    try:
        slow = _parse_line_by_line(piece, RUN, Source("file"), 1)
    except FormatError:
        assert fast is None
    else:
        assert fast is not None
        assert bits(fast.frame) == bits(slow.frame)


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_blanks_side_by_side_are_found_where_two_blocks_meet(offset: int) -> None:
    assert not _has_adjacent_blanks(b"x" * 3 * BLOCK_SIZE)
    for place in (BLOCK_SIZE + offset, 2 * BLOCK_SIZE + offset):
        assert _has_adjacent_blanks(b"x" * (place - 1) + b"  " + b"x" * BLOCK_SIZE)
