"""What is said about a run alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import given, strategies as st

from ringtrue.doctor.diagnose import NO_DOCS
from ringtrue.doctor.summaries import cut_run, summarise_run
from ringtrue.files.byte_source import Source
from ringtrue.messages import Note
from ringtrue.tables import Run

DOCS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3), st.integers(-2, 2).map(float), min_size=1, max_size=12
)


@given(st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), DOCS, min_size=1), st.integers(1, 5))
def test_tops_are_those_of_the_whole_ranking(lists: dict[str, dict[str, float]], depth: int) -> None:
    run = Run.of(lists)
    assert cut_run(run, depth).ranked().equals(run.ranked(depth))


def notes_of(folder: Path, lines: list[str]) -> list[str]:
    """The codes of what is said about a run."""
    path = folder / "a.run"
    path.write_text("\n".join(lines) + "\n")
    notes: list[Note] = []
    summarise_run(Source(str(path)), NO_DOCS, notes.append)
    return [note.code for note in notes]


def lines_of(score: str, queries: int = 3, docs: int = 12) -> list[str]:
    """A run whose score is an expression of the rank."""
    return [
        f"q{q} Q0 d{rank} {rank} {eval(score, {'rank': rank})} t" for q in range(queries) for rank in range(1, docs + 1)
    ]


def test_an_ordinary_run_has_nothing_odd(tmp_path: Path) -> None:
    assert notes_of(tmp_path, lines_of("100 - rank")) == []


def test_constant_scores_are_told(tmp_path: Path) -> None:
    assert notes_of(tmp_path, lines_of("0.5")) == ["constant-scores"]


def test_many_ties_at_the_top_are_told(tmp_path: Path) -> None:
    assert notes_of(tmp_path, lines_of("100 - rank // 2")) == ["tied-scores"]


def test_scores_that_rise_with_the_rank_are_told(tmp_path: Path) -> None:
    assert notes_of(tmp_path, lines_of("rank / 10")) == ["rising-scores"]


def test_a_single_query_and_short_lists_are_told(tmp_path: Path) -> None:
    assert notes_of(tmp_path, lines_of("100 - rank", queries=1)) == ["single-query"]
    assert notes_of(tmp_path, lines_of("100 - rank", docs=4)) == ["short-lists"]


def test_ranks_of_ms_marco_are_told_as_such(tmp_path: Path) -> None:
    lines = [f"q{q}\td{rank}\t{rank}" for q in range(2) for rank in range(1, 12)]
    assert notes_of(tmp_path, lines) == ["read-as-ranks"]


def test_wanted_documents_are_found_at_any_rank(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("\n".join(lines_of("100 - rank", docs=50)) + "\n")
    wanted = pl.DataFrame({"query": ["q0", "q1", "q9"], "doc": ["d49", "d99", "d1"]})
    found = summarise_run(Source(str(tmp_path / "a.run")), wanted, lambda _: None)
    assert found.gold_docs.rows() == [("q0", "d49")]
    assert (found.counts["queries"], found.counts["documents"], found.counts["most"]) == (3, 150, 50)
