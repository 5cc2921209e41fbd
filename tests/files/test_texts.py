from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import Source
from ringtrue.files.texts import read_cranfield, read_id_text, read_trec_topics


def made(tmp_path: Path, text: str) -> Source:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    return Source(str(path))


OPEN = """<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate
in international crime.

<narr> Narrative:
A relevant document must identify
the organization.

</top>

<top>
<num> Number: 302
<title> Poliomyelitis and Post-Polio
<desc> Description:
Is the disease under control?
<narr> Narrative:
Relevant are cases.
</top>
"""
CLOSED = """<top>
<num>301</num>
<title>International Organized Crime</title>
<desc>Identify organizations that participate in international crime.</desc>
<narr>A relevant document must identify the organization.</narr>
</top><TOP><NUM>302</NUM><TITLE>Poliomyelitis and
 Post-Polio</TITLE><DESC>Is the disease under control?</DESC><NARR>Relevant are cases.</NARR></TOP>
"""


@pytest.mark.parametrize("text", [OPEN, CLOSED, OPEN.replace("\n", "\r\n"), OPEN.replace("</top>", "")])
def test_trec_topics_are_read_with_and_without_closing_tags(tmp_path: Path, text: str) -> None:
    assert read_trec_topics(made(tmp_path, text)).to_dicts() == [
        {
            "query": "301",
            "title": "International Organized Crime",
            "description": "Identify organizations that participate in international crime.",
            "narrative": "A relevant document must identify the organization.",
        },
        {
            "query": "302",
            "title": "Poliomyelitis and Post-Polio",
            "description": "Is the disease under control?",
            "narrative": "Relevant are cases.",
        },
    ]


def test_a_part_that_a_topic_lacks_is_empty(tmp_path: Path) -> None:
    text = "<top><num>1<title>one</top><top><num>2<desc>two</top>"
    assert read_trec_topics(made(tmp_path, text)).rows() == [("1", "one", None), ("2", None, "two")]


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        ("<num>1\n<top>", "misplaced-text", "<num>"),
        ("<top><num>1</top><top><title>x</top>", "missing-id", "topic 2"),
        ("<top><num>1</top><top><num>1</top>", "duplicate-id", "query '1'"),
        ("<topics><query>x</query></topics>", "no-data", "<top>"),
    ],
)
def test_a_faulty_topic_is_refused(tmp_path: Path, text: str, code: str, found: str) -> None:
    source = made(tmp_path, text)
    with pytest.raises(FormatError, match=found) as refused:
        read_trec_topics(source)
    assert (refused.value.code, refused.value.file) == (code, source.path)


def test_cranfield_parts_are_joined_over_their_lines(tmp_path: Path) -> None:
    text = ".I 1\n.T\nwings\n in a stream\n.A\n.W\none .\ntwo\n\nthree\n.I  2 \r\n.W\r\nfour\r\n"
    assert read_cranfield(made(tmp_path, text), "doc").to_dicts() == [
        {"doc": "1", "title": "wings in a stream", "author": "", "text": "one . two three"},
        {"doc": "2", "title": None, "author": None, "text": "four"},
    ]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (".I\n.T\nx\n", "missing-id", 1),
        (".I 1\nx\n", "misplaced-text", 2),
        (".T\nx\n", "misplaced-text", 1),
        ("x\n", "misplaced-text", 1),
        (".I 1\n.W\na\n.I 1\n.W\nb\n", "duplicate-id", None),
        ("\n", "no-data", None),
    ],
)
def test_a_faulty_cranfield_file_is_refused(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    with pytest.raises(FormatError) as refused:
        read_cranfield(made(tmp_path, text), "doc")
    assert (refused.value.code, refused.value.line) == (code, line)


def test_an_id_and_a_text_stand_apart_by_the_first_tab(tmp_path: Path) -> None:
    source = made(tmp_path, '1\tdo goldfish\tgrow\r\n\n 2 \t\n3\ta "quoted" #text\u2028\n')
    assert read_id_text(source, "query").rows() == [("1", "do goldfish\tgrow"), ("2", ""), ("3", 'a "quoted" #text')]
    assert read_id_text(source, "doc").columns == ["doc", "text"]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("1\tone\ntwo words\n", "missing-id", 2),
        ("1\tone\n\ttwo\n", "missing-id", 2),
        ("1\tone\n1\ttwo\n", "duplicate-id", None),
        ("\n\n", "no-data", None),
    ],
)
def test_a_faulty_line_of_id_and_text_is_refused(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    with pytest.raises(FormatError) as refused:
        read_id_text(made(tmp_path, text), "query")
    assert (refused.value.code, refused.value.line) == (code, line)
