"""Tables of the pages in `papers/`: what a source printed beside what ringtrue finds, or the same on other data.

`docs/tables.py` puts them where the pages have their places, and its tests hold them against the data. Each function
of `PAPER_TABLES` returns the columns and the rows of its table.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl

import ringtrue as rt
from ringtrue.judges.ceiling.ndcg_ceiling import CeilingMethod

Rows: TypeAlias = tuple[list[str], list[list[str]]]
DRAWS = 50  # of one label of each document, as in the source
DL19_JUDGES = ("umbrela_gpt4", "binary_gpt4", "binary_gpt4o", "binary_llama3.2")  # the best first
METHODS: tuple[CeilingMethod, ...] = ("exact", "simulation", "closed-form")
TABLE_1 = {"1/3": ("0.49", "0.51"), "2/3": ("0.10", "0.09"), "2/4": ("0.23", "0.21"), "2/5": ("0.35", "0.35")}


def folder(name: str) -> Path:
    """A folder of the real data."""
    return Path(os.environ["RINGTRUE_DATA"]) / name


def feedback() -> pl.DataFrame:
    """The labels of TREC's relevance feedback crowd of 2010, with gold where it is known."""
    return pl.read_csv(folder("rf10") / "labels.csv", schema_overrides={"topic": pl.String})


def by_document_alone(labels: pl.DataFrame) -> pl.DataFrame:
    """The same without topics: a document has all labels that it got for any of them, and one gold label, the last."""
    gold = labels.drop_nulls("gold").unique("doc", keep="last", maintain_order=True)
    return pl.concat(
        [labels.select("doc", "worker", "label"), gold.select("doc", pl.lit("gold").alias("worker"), label="gold")]
    )


@cache
def many_labels(*, alone: bool) -> rt.Disagreement:
    """The model on documents with six labels or more; of one topic each, or of any."""
    labels, shares = feedback(), ("1/3", "2/3", "2/4", "2/5", "1/2", "1/4", "1/5", "1/6")
    settings = {"repeats": "all", "min_labels": 6, "verify": shares, "resamples": 0}
    if alone:
        return rt.disagree(by_document_alone(labels), "1/3", **settings)
    return rt.disagree(labels, "1/3", gold_as_judge="gold", **settings)


def verified(found: rt.Disagreement, share: str, level: str, which: str) -> float:
    """What happened, or what was predicted, for M of N users given one label."""
    asked = tuple(int(part) for part in share.split("/"))
    one = next(one for one in found.verified if (one.at_least, one.level) == (asked, level))
    return float(getattr(one, which).value)


def crowd_counts() -> Rows:
    """How many results there are, how many have six labels, and how often the crowd agrees with gold."""
    labels = feedback()
    known = labels.filter(pl.col("gold") >= 0).select(pl.col("label") >= 0, right=pl.col("label") == pl.col("gold"))
    return ["what", "published", "ringtrue"], [
        ["judged results", "20,232", f"{labels.select('topic', 'doc').n_unique():,}"],
        ["with six labels or more, by topic and document", "–", f"{many_labels(alone=False).documents:,}"],
        ["the same, by document alone", "2,738", f"{many_labels(alone=True).documents:,}"],
        ["crowd labels that agree with gold; 'the page is gone' does not", "39%", f"{known['right'].mean():.0%}"],
        ["the same of labels that are grades", "–", f"{known.filter('label')['right'].mean():.0%}"],
    ]


def users_of_many() -> Rows:
    """Table 1 of the source on disagreement: at least M of N say highly relevant, given relevant."""
    columns = ["M/N", "published: experimental", "by document alone", "by topic and document",
               "published: predicted", "by document alone", "by topic and document"]  # fmt: skip
    rows = []
    for share, printed in TABLE_1.items():
        cells = []
        for which, told in zip(("experimental", "predicted"), printed, strict=True):
            cells += [
                told,
                *(f"{verified(many_labels(alone=alone), share, '1', which):.3f}" for alone in (True, False)),
            ]
        rows.append([share, *cells])
    return columns, rows


def one_of_more() -> Rows:
    """Figure 5 of the source on disagreement: at least one of N says highly relevant."""
    found, rows = many_labels(alone=False), []
    for users in range(2, 7):
        cells = [f"{verified(found, f'1/{users}', level, which):.3f}"
                 for level in ("1", "0") for which in ("experimental", "predicted")]  # fmt: skip
        rows.append([str(users), *cells])
    return ["N", *(f"given {label}: {what}" for label in ("relevant", "not relevant")
                   for what in ("happened", "predicted"))], rows  # fmt: skip


def labels_drawn() -> Rows:
    """Figure 1 of the source on disagreement: p(highly relevant | label) from n other labels, mean ± sd."""
    rng, found = np.random.default_rng(0), {}
    labels = feedback()
    gold = labels.filter(pl.col("gold") >= 0).unique(["topic", "doc"], maintain_order=True)
    said = pl.concat([labels.filter(pl.col("label") >= 0).select("topic", "doc", "label"),
                      gold.select("topic", "doc", label="gold")])  # fmt: skip
    said = said.filter(pl.len().over("topic", "doc") >= 6)
    document = said.select(pl.struct("topic", "doc").rank("dense")).to_series().to_numpy()
    label = said["label"].to_numpy()
    for draw in range(DRAWS):
        order = np.lexsort((rng.random(len(label)), document))
        first = np.flatnonzero(np.diff(document[order], prepend=0))
        top, given = label[order] == 2, label[order][first]
        for others in range(1, 6):
            share = top[first[:, None] + np.arange(1, others + 1)].mean(axis=1)
            for one in range(3):
                found[one, others, draw] = share[given == one].mean()
    exact = many_labels(alone=False).p
    rows = []
    for one, name in ((2, "highly relevant"), (1, "relevant"), (0, "not relevant")):
        draws = [np.array([found[one, others, draw] for draw in range(DRAWS)]) for others in range(1, 6)]
        rows.append(
            [name, *(f"{some.mean():.3f} ± {some.std(ddof=1):.3f}" for some in draws), f"{exact[str(one)].value:.3f}"]
        )
    return ["one said", *(f"n = {others}" for others in range(1, 6)), "the limit"], rows


def by_depth() -> Rows:
    """Table 3 of the source on disagreement, on other data: p(top | label) by how high runs rank a document."""
    judges = {"human": "human.qrels", "model": "llm-umbrela_gpt4.qrels"}
    labels = pl.concat(
        rt.read_judgments(folder("dl19") / file).frame.select("query", "doc", "label", judge=pl.lit(name))
        for name, file in judges.items()
    )
    ranked = pl.concat([rt.read_run(file).ranked(1000) for file in sorted((folder("dl19") / "runs").glob("*.run"))])
    best = ranked.group_by("query", "doc").agg(best=pl.col("rank").min())
    labels = labels.join(best, on=["query", "doc"], how="left")
    rows = []
    for name, keep in (
        ("in the top 5 of a run", pl.col("best") <= 5),
        ("in the top 10 of a run", pl.col("best") <= 10),
        ("all that were judged", pl.lit(value=True)),
        ("below the top 10 of every run", pl.col("best").is_null() | (pl.col("best") > 10)),
    ):
        found = rt.disagree(labels.filter(keep).drop("best"), "1/3")
        told = [
            f"{found.p[one].value:.2f} ({found.p[one].low:.2f} to {found.p[one].high:.2f})" for one in ("1", "2", "3")
        ]
        rows.append([name, f"{found.documents:,}", *told])
    return ["documents", "how many", "p(3 given 1)", "p(3 given 2)", "p(3 given 3)"], rows


def three_kinds() -> pl.DataFrame:
    """120 articles of 10 topics by NIST, by experts and by a crowd, whose mean is rounded."""
    docs = pl.read_csv(folder("nyt17") / "pilot_docs.csv").rename({"topic": "query"})
    crowd = pl.read_csv(folder("nyt17") / "pilot_labels.csv").rename({"topic": "query"})
    crowd = crowd.filter(pl.col("experiment").str.starts_with("3P"))
    means = crowd.group_by("query", "doc", maintain_order=True).agg(label=pl.col("label").mean().round().cast(pl.Int64))
    return pl.concat([
        docs.select("query", "doc", pl.lit("NIST").alias("judge"), label="nist_rel").drop_nulls(),
        docs.select("query", "doc", pl.lit("experts").alias("judge"), label="reviewers_revised").drop_nulls(),
        means.select("query", "doc", pl.lit("crowd").alias("judge"), "label"),
    ])  # fmt: skip


def two_matrices() -> Rows:
    """Figure 1 of the source on ceilings, on other data: real nDCG, by the pair's matrix, and by another's."""
    labels = three_kinds()
    elsewhere = rt.estimate_confusion(
        feedback().filter(pl.col("label") >= 0).select(query="topic", doc="doc", judge="worker", label="label"),
        repeats="last",
    )
    own, other = rt.ceiling_scatter(labels), rt.ceiling_scatter(labels, confusion=elsewhere)
    keys = ["training", "testing", "query"]
    points = own.points.join(other.points.select(*keys, elsewhere="predicted"), on=keys)
    rows = []
    for pair, some in points.group_by("training", "testing", maintain_order=True):
        rows.append(
            [f"{pair[0]}, {pair[1]}", *(f"{some[name].mean():.3f}" for name in ("real", "predicted", "elsewhere"))]
        )
    rows.append(["mean over 60 points", *(f"{points[name].mean():.3f}" for name in ("real", "predicted", "elsewhere"))])
    spread = [f"{(points['real'] - points[name]).abs().mean():.3f}" for name in ("predicted", "elsewhere")]
    rows.append(["mean distance from the real", "–", *spread])
    rows.append(["correlation with the real", "–", f"{own.correlation:.2f}", f"{other.correlation:.2f}"])
    return ["trained on, tested by", "real nDCG", "by the pair's matrix", "by rf10's matrix"], rows


def closed_form() -> Rows:
    """SIM and CFA of the source on ceilings beside the exact value, on lists of four kinds."""
    truth = rt.read_judgments(folder("web5") / "truth.csv", columns={"label": "truth"}, needs_query=False)
    crowd = rt.read_judgments(folder("web5") / "label.csv", needs_query=False)
    grades, rng = truth.frame["label"].to_numpy(), np.random.default_rng(0)
    web, lists = rt.estimate_confusion(crowd, gold=truth), {}
    for size in (24, 120):
        lists[f"web5, {size} pages drawn for each of 50 queries"] = (
            web,
            {
                str(query): {
                    str(place): int(label) for place, label in enumerate(rng.choice(grades, size, replace=False))
                }
                for query in range(50)
            },
        )
    articles = three_kinds()
    nist = articles.filter(judge="NIST").drop("judge")
    lists["nyt17, 12 articles for each of 10 topics"] = (
        rt.estimate_confusion(articles.filter(judge="crowd"), gold=nist),
        nist,
    )
    people, model = (rt.read_judgments(folder("dl19") / file) for file in ("human.qrels", "llm-umbrela_gpt4.qrels"))
    lists["dl19, 215 passages on average for each of 43 queries"] = rt.estimate_confusion(model, gold=people), people
    rows = []
    for name, (matrix, judgments) in lists.items():
        for k in (None, 10):
            values = [
                rt.ceiling(
                    judgments, matrix, method=method, k=k, draws=400, rng=np.random.default_rng(1)
                ).estimate.value
                for method in METHODS
            ]
            off = f"{(values[2] or 0) - (values[0] or 0):+.3f}".replace("-", "−")
            rows.append(
                [f"{name}: {'nDCG' if k is None else 'nDCG@10'}", *(f"{value or 0:.3f}" for value in values), off]
            )
    return ["lists", "exact", "simulated", "closed form", "closed form is off by"], rows


def inversions() -> Rows:
    """Figure 2 of the source on ratings, on other votes: pairs that change places in each pass of Elo, in percent."""
    shown, columns, cells = (2, 3, 4, 5, 10, 15, 20), ["votes"], {}
    columns += [f"pass {number}" for number in shown]
    for file in ("cast19/TREC-CAsT-2019.pref", "dl21/human.pref", "arena/llmfao.csv"):
        found = rt.rate(rt.read_preferences(folder(file)), method="elo", passes=20, repeats="all").passes
        assert found is not None
        told = dict(found.group_by("pass").agg(100 * pl.col("inverted").sum() / pl.col("pairs").sum()).rows())
        cells[file.split("/")[0]] = [f"{told[number]:.2f}" for number in shown]
    return columns, [[name, *row] for name, row in cells.items()]


def scores(measure: str, judge: str | None) -> rt.Scores:
    """Every run of dl19 by people or by a model."""
    runs = [rt.read_run(file) for file in sorted((folder("dl19") / "runs").glob("*.run"))]
    file = "human.qrels" if judge is None else f"llm-{judge}.qrels"
    return rt.evaluate(runs, rt.read_judgments(folder("dl19") / file), measure)


def other_judges() -> Rows:
    """What another judge does to scores and to the order of 37 runs."""
    people, rows = scores("P(rel=2)@10", None), []
    for judge in DL19_JUDGES:
        model = scores("P(rel=2)@10" if judge.startswith("umbrela") else "P@10", judge)
        (found,) = rt.stability(people, model, resamples=100).values()
        higher = np.array([one.versus_mean - one.mean for one in found.standings])
        winner = next(one for one in found.standings if one.versus_rank == 1)
        rows.append([judge, f"{higher.mean():+.3f} ({higher.min():+.3f} to {higher.max():+.3f})",
                     f"{found.tau:.3f}", f"{found.tau_ap:.3f}", f"{winner.run}, {winner.rank}"])  # fmt: skip
    return ["judge", "P@10 is higher by", "tau", "tau_AP", "puts first; by people it is number"], rows


def variances() -> Rows:
    """How far AP varies over queries for one run, and over runs for one query."""
    frame = scores("AP(rel=2)", None).frame
    run, query = (frame.group_by(by).agg(sd=pl.col("value").std())["sd"] for by in ("run", "query"))
    return ["standard deviation of AP", "median", "lowest", "highest"], [
        [name, *(f"{value:.3f}" for value in (some.median(), some.min(), some.max()))]
        for name, some in (("of one run, over 43 queries", run), ("of one query, over 37 runs", query))
    ]


def cranfield() -> Rows:
    """What the collection has."""
    texts, asked = ((folder("cranfield") / name).read_text(errors="replace") for name in ("cran.all.1400", "cran.qry"))
    lines = [line.split() for line in (folder("cranfield") / "cranqrel").read_text().splitlines() if line.strip()]
    empty = sum(not part.split(".W", 1)[-1].strip() for part in texts.split("\n.I ") if ".W" in part)
    docs, queries = (text.count("\n.I ") + text.startswith(".I ") for text in (texts, asked))
    return ["what", "published", "in the files"], [
        ["abstracts", "1,398", f"{docs:,}, of which {docs - empty:,} have a text"],
        ["queries", "225", f"{queries:,}"],
        [
            "judgments",
            "every pair, 314,550",
            f"{len(lines):,}: those found relevant, and {sum(line[2] == '-1' for line in lines)} marked −1",
        ],
    ]


PAPER_TABLES: dict[str, Callable[[], Rows]] = {
    "paper-by-depth": by_depth,
    "paper-closed-form": closed_form,
    "paper-cranfield": cranfield,
    "paper-crowd-counts": crowd_counts,
    "paper-inversions": inversions,
    "paper-labels-drawn": labels_drawn,
    "paper-one-of-more": one_of_more,
    "paper-other-judges": other_judges,
    "paper-two-matrices": two_matrices,
    "paper-users-of-many": users_of_many,
    "paper-variances": variances,
}
