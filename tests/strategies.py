"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from hypothesis import settings, strategies as st
from scipy import stats

from ringtrue.judges.votes import Votes, make_votes
from ringtrue.tables import Judgments, Preferences, Run, Scores
from ringtrue.tables.preferences import OUTCOMES

# Spaces and line ends that are none in a TREC file, quotes, comments, separators of other formats.
ODD = ["\u00a0", "\u2028", "\u0085", "\ufeff", '"', "'", "#", ",", ";", "\t", "é", "漢", "🦊", "\u0301", "\x7f", "\x01"]
NUMBERS = [
    "1", "+1.5", "-2", ".5", "5.", "1e5", "1E+5", "-1e-3", "-0", "-0.0", "007", "1e400", "-1e400", "1e-400", "nan",
    "NaN", "inf", "-Infinity", "1_000", "0x10", "١٢", "1,5", "1e", "e1", ".", "+", "-", "--1", "1.2.3", "1d", "1f",
    "true",
    "2147483647", "2147483648", "-2147483648", "-2147483649", "9007199254740993", "0.1", "0.30000000000000004",
    "2.2250738585072011e-308", "4.9e-324", "1.7976931348623157e308", "179769313486231580793e289", "9" * 400,
    "0." + "1" * 900, "2.0", "1e0", "0.5",
]  # fmt: skip

EXAMPLES = settings.default.max_examples  # of the profile: few in `make check`, more in `make test`


def examples(count: int) -> settings:
    """Another number of examples than the profile has, where more are needed or each is dear; few in `make check`."""
    return settings(max_examples=count if EXAMPLES >= 50 else min(count, EXAMPLES))


ids = st.text(st.characters(codec="utf-8", min_codepoint=0x21, exclude_characters="\x7f"), min_size=1, max_size=6)
odd_ids = st.text(st.one_of(st.sampled_from(ODD), st.sampled_from("ab01")), min_size=1, max_size=4)
any_ids = st.one_of(st.sampled_from(["d1", "d2", "q1", "7"]), ids, odd_ids)
finite = st.floats(allow_nan=False, allow_infinity=False)
int32 = st.integers(-(2**31), 2**31 - 1)
number_texts = st.one_of(st.sampled_from(NUMBERS), finite.map(repr), st.integers(-(10**25), 10**25).map(str))


def nested(values: st.SearchStrategy[Any], names: st.SearchStrategy[str] = any_ids) -> st.SearchStrategy[Any]:
    """query → doc → value, as pytrec_eval has its runs and qrels."""
    return st.dictionaries(names, st.dictionaries(names, values, min_size=1, max_size=5), min_size=1, max_size=4)


def runs(names: st.SearchStrategy[str] = any_ids) -> st.SearchStrategy[Run]:
    return nested(finite, names).map(Run.of)


@st.composite
def judgments(draw: st.DrawFn, names: st.SearchStrategy[str] = any_ids) -> Judgments:
    rows = draw(st.lists(st.tuples(names, names, names, int32), min_size=1, max_size=8))
    query, doc, judge, label = zip(*rows, strict=True)
    return Judgments.of({"query": query, "doc": doc, "judge": judge, "label": label})


@st.composite
def preferences(draw: st.DrawFn, names: st.SearchStrategy[str] = any_ids, *, ties: bool = True) -> Preferences:
    said = list(OUTCOMES) if ties else ["left", "right"]
    docs = names.filter(lambda doc: doc not in OUTCOMES)  # such names are refused where they leave a doubt
    pair = st.lists(docs, min_size=2, max_size=2, unique=True)
    judges = names.filter(str.strip)  # a blank cell in a file names nobody
    rows = draw(st.lists(st.tuples(names, pair, judges, st.sampled_from(said)), min_size=1, max_size=8))
    return Preferences.of(
        {
            "query": [query for query, _, _, _ in rows],
            "left": [pair[0] for _, pair, _, _ in rows],
            "right": [pair[1] for _, pair, _, _ in rows],
            "judge": [judge for _, _, judge, _ in rows],
            "winner": [winner for _, _, _, winner in rows],
        }
    )


@st.composite
def judged(draw: st.DrawFn) -> Votes:
    """Votes of few judges on few documents, so that labels clash, repeat and are missing."""
    few = st.tuples(st.sampled_from(["q", "r"]), st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 2))
    rows = draw(st.lists(few, min_size=1, max_size=12))
    query, doc, judge, label = zip(*rows, strict=True)
    return make_votes({"query": query, "doc": doc, "judge": judge, "label": label})


@st.composite
def messy_texts(draw: st.DrawFn, numeric: tuple[bool, ...]) -> bytes:
    """Lines of about so many fields, those marked holding numbers more often than not, with odd spacing."""
    gaps = st.sampled_from([" ", " ", " ", "\t", "  ", " \t ", "\r", "\x0b", "\x0c", "\x1c", "\x00", "\x01"])
    ends = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n \n", "\n# a comment\n", "\n #\n"])
    tidy = draw(st.booleans())
    out = draw(st.sampled_from(["", "", "", "# first\n", " ", "\ufeff", "\n"]))
    for _ in range(draw(st.integers(1, 4))):
        width = len(numeric) + (0 if tidy else draw(st.sampled_from([0, 0, 0, 0, -1, 1, 2])))
        for place in range(max(width, 1)):
            number = place < len(numeric) and numeric[place]
            out += draw(number_texts if number else any_ids) + (" " if tidy else draw(gaps))
        out = out[:-1] + ("\n" if tidy else draw(ends))
    raw = out.encode()
    if draw(st.integers(0, 9)) == 0:
        cut = draw(st.integers(0, len(raw) - 1))
        raw = raw[:cut] + draw(st.binary(min_size=1, max_size=2)) + raw[cut:]
    return raw if raw.endswith(b"\n") else raw + b"\n"


def scores_of(
    values: Mapping[str, Mapping[str, Sequence[float | None]]], absent: Mapping[str, Sequence[str]] | None = None
) -> Scores:
    """measure → run → the values of q0, q1, …; None where the run has no value."""
    rows = [
        (run, f"q{place}", measure, float(value))
        for measure, runs in values.items()
        for run, column in runs.items()
        for place, value in enumerate(column)
        if value is not None
    ]
    frame = pl.DataFrame(rows, schema=["run", "query", "measure", "value"], orient="row")
    return Scores(frame, absent={run: tuple(queries) for run, queries in (absent or {}).items()})


def wilcoxon_by_scipy(differences: np.ndarray) -> float:
    """SciPy's p for these differences; where few do not tie, for those alone, so that it is exact."""
    left = differences[differences != 0]
    return float(stats.wilcoxon(left if len(left) <= 13 else differences).pvalue)
