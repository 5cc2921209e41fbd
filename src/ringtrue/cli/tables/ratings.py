"""Ratings as tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.formatting.grid import Grid, format_interval, format_number
from ringtrue.formatting.phrases import format_count
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ringtrue.cli.options.ratings import RatingTargets
    from ringtrue.judges.agreement import Agreement
    from ringtrue.preference import JudgeRating, Ratings

MAX_QUERIES = 5  # in the table
MAX_DOCS, MAX_DOCS_OF_MANY = 10, 5  # of each of them, where they are one or two, or more
FEW_QUERIES = 2
MAX_JUDGES = 10
AHEAD_COLUMN = "better than next"
MAX_SCORED_QUERIES = 15  # queries with their AUC
MAX_PASSES = 6
CONTRADICTS, GUESSES, OPEN = "contrary", "guessing", "open"
WIDE_PRIOR = 1.0  # log odds: a narrower prior of glicko makes ratings counts of wins


def rating_grids(
    ratings: Ratings, agreement: Agreement | None, targets: RatingTargets, *, rel: int, per_query: bool
) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    tables = [_document_grid(ratings, targets)]
    if ratings.judges:
        tables.append(_judge_rating_grid(ratings))
    if ratings.auc is not None and (per_query or 1 < _count_queries(ratings) <= MAX_SCORED_QUERIES):
        tables.append(_gold_score_grid(ratings))
    closing_lines = [
        *_gold_lines(ratings, rel),
        *_agreement_lines(agreement),
        _reading_advice(ratings),
        _preference_verdict(ratings),
    ]
    tables[-1] = replace(tables[-1], caption=f"{tables[-1].caption}\n\n" + "\n".join(filter(None, closing_lines)))
    return tables


def _count_queries(ratings: Ratings) -> int:
    return ratings.frame["query"].n_unique()


def _document_grid(ratings: Ratings, targets: RatingTargets) -> Grid:
    n_queries = _count_queries(ratings)
    max_docs = MAX_DOCS if n_queries <= FEW_QUERIES else MAX_DOCS_OF_MANY
    first_queries = ratings.frame["query"].unique(maintain_order=True)[:MAX_QUERIES]
    position = pl.int_range(1, pl.len() + 1)
    ranked = ratings.frame.with_columns(rank=position.over("query", "group"), place=position.over("query"))
    shown_rows = ranked.filter(pl.col("query").is_in(first_queries.implode()), pl.col("place") <= max_docs)
    digits, interval_column = (
        2 if ratings.unit == 1 else _rating_decimals(ratings.frame["rating"]),
        f"{100 * ratings.level:g}% interval",
    )
    columns = {
        "query": _blank_repeats(shown_rows["query"].to_list()),
        "rank": [str(rank) for rank in shown_rows["rank"]],
        "doc": shown_rows["doc"].to_list(),
        "rating": [format_number(rating, digits) for rating in shown_rows["rating"]],
        interval_column: [
            format_interval(low, high, digits) for low, high in shown_rows.select("low", "high").iter_rows()
        ],
        AHEAD_COLUMN: [_certainty_cell(probability) for probability in shown_rows["ahead"]],
        "matches": [f"{n:,}" for n in shown_rows["matches"]],
        "votes": [f"{n:,}" for n in shown_rows["votes"]],
        "group": [str(group) for group in shown_rows["group"]],
    }
    if (ratings.frame["query"] == NO_QUERY).all():
        columns.pop("query")
    if shown_rows["low"].null_count() == shown_rows.height:
        columns.pop(interval_column)
    if shown_rows["ahead"].null_count() == shown_rows.height:
        columns.pop(AHEAD_COLUMN)
    if not ratings.groups():
        columns.pop("group")
    return Grid(
        columns=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        caption="\n".join(
            [
                *_omitted_lines(ratings, shown_rows, targets),
                *_describe_rating(ratings),
                *_pass_lines(ratings),
                *_output_lines(targets),
            ]
        ),
        left=3 if "query" in columns else 2,
    )


def _certainty_cell(probability: float | None) -> str:
    """A probability; never quite certain."""
    return "–" if probability is None else ">99%" if probability > 0.99 else f"{probability:.0%}"


def _blank_repeats(names: Sequence[str]) -> list[str]:
    """Each name where it begins, and nothing where it goes on."""
    return [name if position == 0 or names[position - 1] != name else "" for position, name in enumerate(names)]


def _rating_decimals(ratings: pl.Series) -> int:
    """So many that the spread of the ratings has three digits."""
    spread = float(np.std(ratings.to_numpy()))
    return 2 if spread == 0 else min(max(2 - math.floor(math.log10(spread)), 0), 6)


def _omitted_lines(ratings: Ratings, shown_rows: pl.DataFrame, targets: RatingTargets) -> list[str]:
    n_docs, n_queries = (
        ratings.frame.height - shown_rows.height,
        _count_queries(ratings) - shown_rows["query"].n_unique(),
    )
    if not n_docs:
        return []
    omitted = f"… and {format_count(n_docs, 'more document')}"
    if n_queries:
        omitted += f", with those of {n_queries:,} more {'query' if n_queries == 1 else 'queries'}"
    return [omitted if targets.output else f"{omitted}; -o FILE writes all, --format csv prints them"]


def _describe_rating(ratings: Ratings) -> list[str]:
    """What was done, in a few words."""
    n_queries = _count_queries(ratings)
    queries_text = f" of {n_queries:,} queries" if n_queries > 1 else ""
    settings = ", ".join(f"{name} {_setting_text(value)}" for name, value in ratings.settings.items())
    model = f" with {ratings.judge_model}" if ratings.judge_model else ""
    size = f"{format_count(ratings.votes, 'vote')} on {format_count(ratings.frame.height, 'document')}{queries_text}"
    return [f"{ratings.method}{model} of {size}; {settings}"]


def _setting_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _pass_lines(ratings: Ratings) -> list[str]:
    """How many pairs changed places from pass to pass."""
    passes = ratings.as_dict()["passes"]
    assert isinstance(passes, list)
    if not passes:
        return []
    pass_texts = [f"{rating_pass['pass']}: {rating_pass['inverted']:.1%}" for rating_pass in passes]
    if len(pass_texts) > MAX_PASSES:
        pass_texts = [*pass_texts[: MAX_PASSES - 1], "…", pass_texts[-1]]
    return [f"of the pairs that met, so many changed places in pass {', '.join(pass_texts)}"]


def _output_lines(targets: RatingTargets) -> list[str]:
    contents = {"-o": "ratings", "--chances": "chances", "--qrels": "labels"}
    remarks = {"--chances": "; half of the ties are counted in `chance`"}
    lines = [
        f"{contents[option]} written to {path}{remarks.get(option, '')}"
        for option, path in targets.path_by_option.items()
    ]
    if targets.qrels is not None:
        lines[-1] += f"; next: ringtrue evaluate RUN… --judgments {targets.qrels}"
    return lines


def _judge_rating_grid(ratings: Ratings) -> Grid:
    """Those whose votes say least first."""
    is_crowd_bt = ratings.judge_model == "crowd-bt"
    name, guessing = ("honesty", 0.5) if is_crowd_bt else ("sensitivity", 0.0)
    lowest_first = sorted(ratings.judges.values(), key=lambda judge: judge.value)
    mean_value = sum(judge.votes * judge.value for judge in lowest_first) / ratings.votes
    flags = [_judge_flag(judge, guessing, mean_value) for judge in lowest_first]
    rows = [
        [
            judge.judge,
            f"{judge.votes:,}",
            format_number(judge.value, 2),
            format_interval(judge.low, judge.high, 2),
            flag,
        ]
        for judge, flag in list(zip(lowest_first, flags, strict=True))[:MAX_JUDGES]
    ]
    n_more = len(lowest_first) - MAX_JUDGES
    scale_marks = ("1 always honest", "½", "0") if is_crowd_bt else ("1 is a typical judge who looks", "0", "below")
    lines = [
        (
            f"{name}: {scale_marks[0]}, {scale_marks[1]} one who guesses, {scale_marks[2]} one who says the "
            "opposite; the lowest first"
        )
    ]
    counts = {flag_name: flags.count(flag_name) for flag_name in (CONTRADICTS, GUESSES, OPEN)}
    flagged_text = ", ".join(f"{count:,} {flag_name}" for flag_name, count in counts.items() if count)
    if flagged_text:
        open_text = f"; {OPEN}: too few votes to rule out guessing" if counts[OPEN] else ""
        lines.append(f"of {format_count(len(lowest_first), 'judge')}, {flagged_text}{open_text}")
    if n_more > 0:
        lines.append(f"{format_count(n_more, 'more judge')}; --json has them all")
    columns = ["judge", "votes", name, f"{100 * ratings.level:g}% interval", "seems to be"]
    n_columns = 3 if lowest_first[0].low is None else 5 if flagged_text else 4
    return Grid(columns=columns[:n_columns], rows=[row[:n_columns] for row in rows], caption="\n".join(lines))


def _judge_flag(judge: JudgeRating, guessing: float, mean_value: float) -> str:
    """What the interval says of the judge: on the wrong side of guessing, around it, or too wide to tell."""
    if judge.low is None or judge.high is None or judge.low > guessing:
        return ""
    if judge.high < guessing:
        return CONTRADICTS
    return GUESSES if judge.high < mean_value else OPEN


def _gold_score_grid(ratings: Ratings) -> Grid:
    auc, tau = ratings.auc or {}, ratings.tau or {}
    rows = [[query, format_number(value, 3), format_number(tau.get(query), 3)] for query, value in auc.items()]
    return Grid(
        columns=["query", "AUC", "tau"],
        rows=rows,
        caption="–: all labelled documents are relevant, or none is; for tau, all labels are equal",
    )


def _gold_lines(ratings: Ratings, rel: int) -> list[str]:
    if ratings.auc is None:
        return []
    n_scored = _count_scored_queries(ratings.auc)
    if ratings.auc["all"] is None:
        return [f"No query has rated documents of label {rel} or higher and others too: there is no AUC."]
    mean_text = f", the mean over {n_scored:,} queries" if n_scored > 1 else ""
    tau = (ratings.tau or {}).get("all")
    tau_text = "" if tau is None else f" Kendall's tau with the labels is {format_number(tau, 3)}."
    auc_meaning = f"so often a document labelled {rel} or higher is rated above another"
    return [f"AUC {ratings.auc['all']:.3f}{mean_text}: {auc_meaning}.{tau_text}"]


def _count_scored_queries(values: Mapping[str, float | None]) -> int:
    return sum(value is not None for query, value in values.items() if query != "all")


def _agreement_lines(agreement: Agreement | None) -> list[str]:
    """How far judges agree, and whether their votes fit an order."""
    if agreement is None or agreement.transitivity is None:
        return []
    lines, (raw, alpha) = [], (agreement.overall[name].value for name in ("agreement", "alpha_nominal"))
    if raw is not None and len(agreement.judges) > 1:
        alpha_text = "" if alpha is None else f" (nominal alpha {format_number(alpha, 2)})"
        lines.append(f"Two judges of a pair agree in {raw:.0%} of cases{alpha_text}.")
    triples = agreement.transitivity.majority
    if triples.value is not None:
        circles_text = f"{1 - triples.value:.1%} of {format_count(triples.n, 'triple')}"
        lines.append(f"The majority's votes run in a circle in {circles_text} of documents (coin flips: 25%).")
    return lines


def _reading_advice(ratings: Ratings) -> str:
    """How to read a rating."""
    if ratings.unit is None:
        return "A win rate tells an order; how far apart two of them are means nothing."
    if ratings.method.startswith("elo"):
        return "How far apart elo brings documents depends on k and the number of passes: read the order."
    if _tells_order_only(ratings):
        return "With so small a variance, read the order: differences say too little about chances."
    difference = 1.1 if ratings.unit == 1 else round(ratings.unit * math.log(10) / 2, 6)
    chance = float(ratings.outcome.expected_score(np.array([difference / ratings.unit]))[0])
    judge_text = {"sensitivity": " of a typical judge", "crowd-bt": " of an honest judge"}.get(
        ratings.judge_model or "", ""
    )
    unit_text = "in log odds" if ratings.unit == 1 else "points"
    return (
        f"A difference of {difference:g} {unit_text} is a {chance:.0%} chance that a vote{judge_text} "
        "prefers the higher one."
    )


def _tells_order_only(ratings: Ratings) -> bool:
    """Whether differences of ratings depend on settings more than on votes."""
    if ratings.unit is None or ratings.method.startswith("elo"):
        return True
    variance = ratings.settings.get("variance")
    return isinstance(variance, float) and math.sqrt(variance) / ratings.unit < WIDE_PRIOR


def _preference_verdict(ratings: Ratings) -> str:
    """Which documents are preferred?"""
    question = "Which documents are preferred?"
    query_frames = [rows for _, rows in ratings.frame.group_by("query", maintain_order=True) if rows.height > 1]
    if len(query_frames) == 1:
        return f"{question} {_single_query_verdict(ratings, query_frames[0])}"
    best_text = f"The first of each query, such as {query_frames[0]['doc'][0]} in query {query_frames[0]['query'][0]}"
    if ratings.frame["ahead"].null_count() == ratings.frame.height:
        return f"{question} {best_text}."
    n_clear = sum(rows["group"].n_unique() == 1 and (rows["ahead"][0] or 0) > ratings.level for rows in query_frames)
    return (
        f"{question} {best_text}; in {n_clear:,} of {len(query_frames):,} queries it is more than "
        f"{100 * ratings.level:g}% sure that the "
        f"first is better than the second."
    )


def _single_query_verdict(ratings: Ratings, rows: pl.DataFrame) -> str:
    best, second = rows["doc"][0], rows["doc"][1]
    group_leaders = rows.unique("group", keep="first", maintain_order=True)["doc"]
    if len(group_leaders) > 1:
        return f"{best} in its group, {group_leaders[1]} in another: no chain of votes joins them."
    if math.isclose(rows["rating"][0], rows["rating"][1], rel_tol=1e-9, abs_tol=1e-9):
        return f"None: {best} and {second} are rated the same."
    verdict = f"{best} before {second}"
    if not _tells_order_only(ratings):
        chance = ratings.chance(best, second, query=rows["query"][0])
        verdict += f": a vote prefers it with a chance of {chance:.0%}"
    if rows["ahead"][0] is None:
        return f"{verdict}."
    return f"{verdict}, and it is {_certainty_cell(rows['ahead'][0])} sure that it is the better one."
