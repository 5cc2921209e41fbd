"""Ratings as tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.cli.output import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ringtrue.cli.options.rating_outputs import Targets
    from ringtrue.judges.agreement import Agreement
    from ringtrue.preference import JudgeRating, Ratings

__all__ = ["grids"]

QUERIES = 5  # in the table
DOCS, DOCS_OF_MANY = 10, 5  # of each of them, where they are one or two, or more
FEW = 2
JUDGES = 10
AHEAD = "better than next"
SCORED = 15  # queries with their AUC
PASSES = 6
CONTRADICTS, GUESSES, OPEN = "contrary", "guessing", "open"
WIDE = 1.0  # log odds: a narrower prior of glicko makes ratings counts of wins


def grids(found: Ratings, beside: Agreement | None, targets: Targets, *, rel: int, per_query: bool) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    made = [_documents(found, targets)]
    if found.judges:
        made.append(_judges(found))
    if found.auc is not None and (per_query or 1 < _queries(found) <= SCORED):
        made.append(_scored(found))
    closing = [*_gold(found, rel), *_judged(beside), _reading(found), _verdict(found)]
    made[-1] = replace(made[-1], caption=f"{made[-1].caption}\n\n" + "\n".join(filter(None, closing)))
    return made


def _queries(found: Ratings) -> int:
    return found.frame["query"].n_unique()


def _documents(found: Ratings, targets: Targets) -> Grid:
    queries = _queries(found)
    most = DOCS if queries <= FEW else DOCS_OF_MANY
    first = found.frame["query"].unique(maintain_order=True)[:QUERIES]
    place = pl.int_range(1, pl.len() + 1)
    ranked = found.frame.with_columns(rank=place.over("query", "group"), place=place.over("query"))
    shown = ranked.filter(pl.col("query").is_in(first.implode()), pl.col("place") <= most)
    digits, level = 2 if found.unit == 1 else _digits(found.frame["rating"]), f"{100 * found.level:g}% interval"
    columns = {
        "query": _once(shown["query"].to_list()),
        "rank": [str(rank) for rank in shown["rank"]],
        "doc": shown["doc"].to_list(),
        "rating": [_number(one, digits) for one in shown["rating"]],
        level: [_range(low, high, digits) for low, high in shown.select("low", "high").iter_rows()],
        AHEAD: ["–" if sure is None else _percent(sure) for sure in shown["ahead"]],
        "matches": [f"{n:,}" for n in shown["matches"]],
        "votes": [f"{n:,}" for n in shown["votes"]],
        "group": [str(one) for one in shown["group"]],
    }
    if (found.frame["query"] == NO_QUERY).all():
        columns.pop("query")
    if shown["low"].null_count() == shown.height:
        columns.pop(level)
    if shown["ahead"].null_count() == shown.height:
        columns.pop(AHEAD)
    if not found.groups():
        columns.pop("group")
    return Grid(
        columns=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        caption="\n".join([*_left_out(found, shown, targets), *_done(found), *_passes(found), *_written(targets)]),
        left=3 if "query" in columns else 2,
    )


def _percent(sure: float) -> str:
    """A probability; never quite certain."""
    return ">99%" if sure > 0.99 else f"{sure:.0%}"


def _once(names: Sequence[str]) -> list[str]:
    """Each name where it begins, and nothing where it goes on."""
    return [name if place == 0 or names[place - 1] != name else "" for place, name in enumerate(names)]


def _digits(ratings: pl.Series) -> int:
    """So many that the spread of the ratings has three digits."""
    spread = float(np.std(ratings.to_numpy()))
    return 2 if spread == 0 else min(max(2 - math.floor(math.log10(spread)), 0), 6)


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no −0.00


def _range(low: float | None, high: float | None, digits: int) -> str:
    return "–" if low is None or high is None else f"{_number(low, digits)} to {_number(high, digits)}"


def _left_out(found: Ratings, shown: pl.DataFrame, targets: Targets) -> list[str]:
    docs, queries = found.frame.height - shown.height, _queries(found) - shown["query"].n_unique()
    if not docs:
        return []
    what = f"… and {counted(docs, 'more document')}"
    if queries:
        what += f", with those of {queries:,} more {'query' if queries == 1 else 'queries'}"
    return [what if targets.output else f"{what}; -o FILE writes all, --format csv prints them"]


def _done(found: Ratings) -> list[str]:
    """What was done, in a few words."""
    queries = _queries(found)
    of_queries = f" of {queries:,} queries" if queries > 1 else ""
    settings = ", ".join(f"{name} {_plain(value)}" for name, value in found.settings.items())
    model = f" with {found.judge_model}" if found.judge_model else ""
    size = f"{counted(found.votes, 'vote')} on {counted(found.frame.height, 'document')}{of_queries}"
    return [f"{found.method}{model} of {size}; {settings}"]


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _passes(found: Ratings) -> list[str]:
    """How many pairs changed places from pass to pass."""
    plain = found.as_dict()["passes"]
    assert isinstance(plain, list)
    if not plain:
        return []
    told = [f"{one['pass']}: {one['inverted']:.1%}" for one in plain]
    if len(told) > PASSES:
        told = [*told[: PASSES - 1], "…", told[-1]]
    return [f"of the pairs that met, so many changed places in pass {', '.join(told)}"]


def _written(targets: Targets) -> list[str]:
    what = {"-o": "ratings", "--chances": "chances", "--qrels": "labels"}
    more = {"--chances": "; half of the ties are counted in `chance`"}
    lines = [f"{what[option]} written to {path}{more.get(option, '')}" for option, path in targets.files.items()]
    if targets.qrels is not None:
        lines[-1] += f"; next: ringtrue evaluate RUN… --judgments {targets.qrels}"
    return lines


def _judges(found: Ratings) -> Grid:
    """Those whose votes say least first."""
    honest = found.judge_model == "crowd-bt"
    name, guessing = ("honesty", 0.5) if honest else ("sensitivity", 0.0)
    lowest = sorted(found.judges.values(), key=lambda one: one.value)
    usual = sum(one.votes * one.value for one in lowest) / found.votes
    flags = [_flag(one, guessing, usual) for one in lowest]
    rows = [
        [one.judge, f"{one.votes:,}", _number(one.value, 2), _range(one.low, one.high, 2), flag]
        for one, flag in list(zip(lowest, flags, strict=True))[:JUDGES]
    ]
    more = len(lowest) - JUDGES
    marks = ("1 always honest", "½", "0") if honest else ("1 is a typical judge who looks", "0", "below")
    lines = [f"{name}: {marks[0]}, {marks[1]} one who guesses, {marks[2]} one who says the opposite; the lowest first"]
    counts = {words: flags.count(words) for words in (CONTRADICTS, GUESSES, OPEN)}
    marked = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
    if marked:
        meant = f"; {OPEN}: too few votes to rule out guessing" if counts[OPEN] else ""
        lines.append(f"of {counted(len(lowest), 'judge')}, {marked}{meant}")
    if more > 0:
        lines.append(f"{counted(more, 'more judge')}; --json has them all")
    columns = ["judge", "votes", name, f"{100 * found.level:g}% interval", "seems to be"]
    kept = 3 if lowest[0].low is None else 5 if marked else 4
    return Grid(columns=columns[:kept], rows=[row[:kept] for row in rows], caption="\n".join(lines))


def _flag(one: JudgeRating, guessing: float, usual: float) -> str:
    """What the interval says of the judge: on the wrong side of guessing, around it, or too wide to tell."""
    if one.low is None or one.high is None or one.low > guessing:
        return ""
    if one.high < guessing:
        return CONTRADICTS
    return GUESSES if one.high < usual else OPEN


def _scored(found: Ratings) -> Grid:
    auc, tau = found.auc or {}, found.tau or {}
    rows = [[query, _share(value), _share(tau.get(query))] for query, value in auc.items()]
    return Grid(
        columns=["query", "AUC", "tau"],
        rows=rows,
        caption="–: all labelled documents are relevant, or none is; for tau, all labels are equal",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else _number(value, 3)


def _gold(found: Ratings, rel: int) -> list[str]:
    if found.auc is None:
        return []
    known = _known(found.auc)
    if found.auc["all"] is None:
        return [f"No query has rated documents of label {rel} or higher and others too: there is no AUC."]
    over = f", the mean over {known:,} queries" if known > 1 else ""
    tau = (found.tau or {}).get("all")
    alike = "" if tau is None else f" Kendall's tau with the labels is {_number(tau, 3)}."
    told = f"so often a document labelled {rel} or higher is rated above another"
    return [f"AUC {found.auc['all']:.3f}{over}: {told}.{alike}"]


def _known(values: Mapping[str, float | None]) -> int:
    return sum(value is not None for query, value in values.items() if query != "all")


def _judged(beside: Agreement | None) -> list[str]:
    """How far judges agree, and whether their votes fit an order."""
    if beside is None or beside.transitivity is None:
        return []
    lines, (raw, alpha) = [], (beside.overall[name].value for name in ("agreement", "alpha_nominal"))
    if raw is not None and len(beside.judges) > 1:
        beyond = "" if alpha is None else f" (nominal alpha {_number(alpha, 2)})"
        lines.append(f"Two judges of a pair agree in {raw:.0%} of cases{beyond}.")
    triples = beside.transitivity.majority
    if triples.value is not None:
        circles = f"{1 - triples.value:.1%} of {counted(triples.n, 'triple')}"
        lines.append(f"The majority's votes run in a circle in {circles} of documents (coin flips: 25%).")
    return lines


def _reading(found: Ratings) -> str:
    """How to read a rating."""
    if found.unit is None:
        return "A win rate tells an order; how far apart two of them are means nothing."
    if found.method.startswith("elo"):
        return "How far apart elo brings documents depends on k and the number of passes: read the order."
    if _tells_order_only(found):
        return "With so small a variance, read the order: differences say too little about chances."
    apart = 1.1 if found.unit == 1 else round(found.unit * math.log(10) / 2, 6)
    chance = float(found.outcome.expected(np.array([apart / found.unit]))[0])
    whose = {"sensitivity": " of a typical judge", "crowd-bt": " of an honest judge"}.get(found.judge_model or "", "")
    what = "in log odds" if found.unit == 1 else "points"
    return f"A difference of {apart:g} {what} is a {chance:.0%} chance that a vote{whose} prefers the higher one."


def _tells_order_only(found: Ratings) -> bool:
    """Whether differences of ratings depend on settings more than on votes."""
    if found.unit is None or found.method.startswith("elo"):
        return True
    variance = found.settings.get("variance")
    return isinstance(variance, float) and math.sqrt(variance) / found.unit < WIDE


def _verdict(found: Ratings) -> str:
    """Which documents are preferred?"""
    asked = "Which documents are preferred?"
    parts = [rows for _, rows in found.frame.group_by("query", maintain_order=True) if rows.height > 1]
    if len(parts) == 1:
        return f"{asked} {_of_one(found, parts[0])}"
    best = f"The first of each query, such as {parts[0]['doc'][0]} in query {parts[0]['query'][0]}"
    if found.frame["ahead"].null_count() == found.frame.height:
        return f"{asked} {best}."
    clear = sum(rows["group"].n_unique() == 1 and (rows["ahead"][0] or 0) > found.level for rows in parts)
    return (
        f"{asked} {best}; in {clear:,} of {len(parts):,} queries it is more than {100 * found.level:g}% sure that the "
        f"first is better than the second."
    )


def _of_one(found: Ratings, rows: pl.DataFrame) -> str:
    best, second = rows["doc"][0], rows["doc"][1]
    firsts = rows.unique("group", keep="first", maintain_order=True)["doc"]
    if len(firsts) > 1:
        return f"{best} in its group, {firsts[1]} in another: no chain of votes joins them."
    if math.isclose(rows["rating"][0], rows["rating"][1], rel_tol=1e-9, abs_tol=1e-9):
        return f"None: {best} and {second} are rated the same."
    said = f"{best} before {second}"
    if not _tells_order_only(found):
        chance = found.chance(best, second, query=rows["query"][0])
        said += f": a vote prefers it with a chance of {chance:.0%}"
    if rows["ahead"][0] is None:
        return f"{said}."
    return f"{said}, and it is {_percent(rows['ahead'][0])} sure that it is the better one."
