"""A small search collection with known truth: three systems, two judges, texts to be read, and a crowd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import pool
from ringtrue.stats.intervals import normal_quantile
from ringtrue.tables import Judgments, Preferences, Run

# How common the grades 0 to 3 are among the candidates. Of what the systems show in the first ten, 55, 8, 20 and 17%
# then have them; of what the runs of TREC DL 2019 show there, 53, 17, 18 and 12%. This, and all below but the rates of
# the judge, was chosen so that bronze names the wrong winner and is worth having all the same (decision 15).
GRADES = (0.88, 0.045, 0.04, 0.035)
DEPTH = 50
QUERY_NOISE_SHAPE, QUERY_NOISE_MEAN = 12.0, 1.4  # of the systems' scores: queries differ in difficulty, gamma

# P(label of the bronze judge | true grade), one row for each grade 0 to 3: UMBRELA with GPT-4 on TREC DL 2019, measured
# against the NIST labels of all 9,260 judged documents. Rounded to two digits that add up to 1.
BRONZE_RATES = (
    (0.65, 0.25, 0.09, 0.01),
    (0.16, 0.45, 0.31, 0.08),
    (0.05, 0.23, 0.46, 0.26),
    (0.19, 0.13, 0.33, 0.35),
)
OVERLAP_CORRELATION = 0.5  # of the bronze judge's impression of a document with its word overlap, within a grade
OVERLAP_PER_GRADE = 0.3  # relevant documents share more words with the query

# How much each system's score owes to relevance and how much to mere word overlap.
SYSTEMS = {"keyword": (0.55, 1.20), "neural": (0.90, 0.10), "hybrid": (0.65, 0.40)}
THINGS = ("coat", "tent", "lamp", "backpack", "kettle", "jacket", "bicycle", "desk", "radio", "blanket")
TRAITS = ("waterproof", "light", "foldable", "quiet", "cheap", "warm", "sturdy", "small", "washable", "bright")
USES = ("winter", "children", "long journeys", "the office", "camping", "small rooms", "night shifts", "beginners")
CLOSING = (
    "Delivered in three days.",
    "Returned free of charge within a month.",
    "The makers repair it for five years.",
    "Customers who bought it often buy a second one.",
    "Last season's model, as long as there are any.",
    "Made in a small workshop by the sea.",
    "The picture shows it in blue.",
    "Sizes run a little small.",
)
MIN_FOOLED_LABEL = 2  # the label of bronze from which on a document shares the words of the query
JUDGED_DEPTH = 10  # of the runs
TRAP_SHARE = 0.1  # of the items whose label is plain
ODD_JUDGES = ("guesses", "always 1", "lenient", "tires")  # what is the matter with the last four judges
START_TIME = 1_767_600_000  # 2026-01-05 08:00 UTC
ODD_VOTERS = ("guesses", "contrary", "always left")  # what is the matter with the last three voters
CLEAR_PAIRS, MIN_CLEAR_GRADE = 5, 2  # traps that every voter meets; the least grade of their better document
TIE_MARGIN = 0.3  # grades: documents that seem nearer than that are called a tie
WITHIN_GRADE_SD = 0.35  # how far documents of one grade differ, in grades


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """What was simulated: three runs, the truth for every candidate, and what a cheap judge said of it."""

    runs: tuple[Run, ...]
    gold: Judgments
    bronze: Judgments


def simulate_collection(*, rng: np.random.Generator, queries: int = 50, candidates: int = 200) -> Collection:
    """Make a world in which the cheap judge is fooled by what also fools one of the systems.

    Every candidate has a true grade and so many words in common with the query; the two go together only a little.
    Systems score by both, in different shares. The gold judge sees the grade. The bronze judge errs as often as a real
    model does (`BRONZE_RATES`), and too kindly where words overlap: on the documents that a keyword search ranks high.

    Examples:
        >>> world = simulate_collection(rng=np.random.default_rng(1), queries=5)
        >>> [run.name for run in world.runs]
        ['keyword', 'neural', 'hybrid']
    """
    if queries < 1 or candidates < DEPTH:
        raise UsageError(
            "world-too-small", f"a collection needs a query and {DEPTH} candidates, found {queries} and {candidates}"
        )
    shape = (queries, candidates)
    grade = rng.choice(len(GRADES), size=shape, p=GRADES)
    grade = np.where(rng.random((queries, 1)) < 0.2, np.minimum(grade, 2), grade)  # some queries have no best
    excess_overlap = rng.normal(size=shape)  # beyond what is usual for the grade
    overlap = OVERLAP_PER_GRADE * grade + excess_overlap
    difficulty = rng.gamma(QUERY_NOISE_SHAPE, QUERY_NOISE_MEAN / QUERY_NOISE_SHAPE, size=(queries, 1))
    bronze_label = draw_bronze_labels(grade, excess_overlap, rng=rng)

    ids = np.array([f"q{q + 1:03d}" for q in range(queries)])
    names = np.array([[f"d{q + 1:03d}-{d + 1:03d}" for d in range(candidates)] for q in range(queries)])
    runs = []
    for name, (relevance, words) in SYSTEMS.items():
        score = relevance * grade + words * overlap + difficulty * rng.normal(size=shape)
        top = np.argsort(-score, axis=1)[:, :DEPTH]
        frame = pl.DataFrame(
            {
                "query": np.repeat(ids, DEPTH),
                "doc": np.take_along_axis(names, top, axis=1).ravel(),
                "score": np.take_along_axis(score, top, axis=1).ravel().round(4),
            }
        )
        runs.append(Run(frame, name=name))
    pairs = {"query": np.repeat(ids, candidates), "doc": names.ravel()}
    gold = Judgments.of(pl.DataFrame(pairs | {"judge": "gold", "label": grade.ravel()}))
    bronze = Judgments.of(pl.DataFrame(pairs | {"judge": "bronze", "label": bronze_label.ravel()}))
    return Collection(runs=tuple(runs), gold=gold, bronze=bronze)


def draw_bronze_labels(
    grade: NDArray[np.int64], excess_overlap: NDArray[np.float64], *, rng: np.random.Generator
) -> NDArray[np.int64]:
    """What the bronze judge says of documents with these grades, whose word overlap is so many sd above the usual.

    An ordered probit model: the label is how many thresholds of the grade lie below ρ·overlap + √(1 − ρ²)·noise. That
    is standard normal where the overlap is, and the labels of a grade then have the probabilities of `BRONZE_RATES`.

    Examples:
        >>> draw_bronze_labels(np.zeros(6, dtype=int), np.array([-2.0, -1, 0, 1, 2, 3]), rng=np.random.default_rng(1))
        array([0, 0, 0, 0, 2, 2])
    """
    thresholds = np.array([[normal_quantile(sum(rates[:label])) for label in range(1, 4)] for rates in BRONZE_RATES])
    noise = rng.normal(scale=np.sqrt(1 - OVERLAP_CORRELATION**2), size=grade.shape)
    impression = OVERLAP_CORRELATION * excess_overlap + noise
    labels: NDArray[np.int64] = (impression[..., None] > thresholds[grade]).sum(axis=-1)
    return labels


def simulate_texts(world: Collection, *, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Topics and documents of a shop: a thing with a trait for a use, and offers that are that, nearly that, or not.

    The label of gold can be read from the text; where bronze was fooled, the words of the query are there, and the
    thing is another.

    Examples:
        >>> from ringtrue.simulation import simulate_collection
        >>> world = simulate_collection(rng=np.random.default_rng(1), queries=3)
        >>> topics, documents = simulate_texts(world, rng=np.random.default_rng(1))
        >>> topics["title"].to_list()
        ['cheap jacket for night shifts', 'bright coat for children', 'washable blanket for children']
    """
    query_ids = world.gold.frame["query"].unique(maintain_order=True).to_list()
    wanted = {
        query_id: (_draw_word(TRAITS, rng), _draw_word(THINGS, rng), _draw_word(USES, rng)) for query_id in query_ids
    }
    labelled = world.gold.frame.join(
        world.bronze.frame.select("query", "doc", bronze="label"),
        on=["query", "doc"],
        how="left",
        maintain_order="left",
    )
    offers = [
        _offer(wanted[query], label, bronze or 0, rng)
        for query, label, bronze in labelled.select("query", "label", "bronze").iter_rows()
    ]
    topics = pl.DataFrame(
        {
            "query": query_ids,
            "title": [f"{trait} {thing} for {use}" for trait, thing, use in wanted.values()],
            "description": [
                f"Somebody wants to buy a {thing} that is {trait} and good for {use}."
                for trait, thing, use in wanted.values()
            ],
            "narrative": [
                f"Perfect: a {thing}, {trait}, for {use}. Good: a {thing} with one of the two. Weak: any other "
                f"{thing}. Anything that is no {thing} is not relevant, whatever words it uses."
                for trait, thing, use in wanted.values()
            ],
        }
    )
    titles, texts = zip(*offers, strict=True)
    documents = pl.DataFrame({"doc": labelled["doc"], "title": titles, "text": texts})
    return topics, documents.unique("doc", maintain_order=True)


def _offer(wanted: tuple[str, str, str], label: int, bronze: int, rng: np.random.Generator) -> tuple[str, str]:
    """Title and text of an offer that deserves the label."""
    trait, thing, use = wanted
    other_trait, other_thing, other_use = (
        _draw_word([word for word in words if word != wanted_word], rng)
        for words, wanted_word in zip((TRAITS, THINGS, USES), wanted, strict=True)
    )
    closing = " ".join(CLOSING[index] for index in rng.choice(len(CLOSING), 2, replace=False))
    if label <= 0 and bronze >= MIN_FOOLED_LABEL:
        text = f"Your {thing} stays {trait}, in {use} and at any time. The {thing} itself is not part of the offer."
        return f"Spray that keeps a {thing} {trait}", f"{text} {closing}"
    if label <= 0:
        return f"{other_thing.capitalize()} for {other_use}", f"A {other_trait} {other_thing}. {closing}"
    if label == 1:
        return f"{thing.capitalize()} for {other_use}", f"A {other_trait} {thing} for {other_use}. {closing}"
    if label == 2 and rng.random() < 0.5:
        return f"{trait.capitalize()} {thing}", f"A {trait} {thing}, made for {other_use}. {closing}"
    if label == 2:
        return f"{thing.capitalize()} for {use}", f"A {other_trait} {thing}, made for {use}. {closing}"
    return f"{trait.capitalize()} {thing} for {use}", f"A {trait} {thing}, made for {use}. {closing}"


def _draw_word(words: Sequence[str], rng: np.random.Generator) -> str:
    """One of the words: as `rng.choice` has it, which makes an array of them each time."""
    return words[int(rng.integers(len(words)))]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crowd:
    """The crowd's labels with the time and the seconds each took, questions with a plain answer, and who is odd how."""

    labels: Judgments
    traps: Judgments
    odd: dict[str, str]


def simulate_crowd(world: Collection, *, rng: np.random.Generator, judges: int = 24, each: int = 5) -> Crowd:
    """Labels of the runs' first ten documents by a crowd, `each` labels a document.

    A judge sees the true grade through noise of his own. Four judges are odd: one guesses, quickly; one always says 1;
    one is a grade too kind; one stops looking halfway. Traps are documents of the lowest and highest grade.

    Examples:
        >>> from ringtrue.simulation import simulate_collection
        >>> rng = np.random.default_rng(1)
        >>> crowd = simulate_crowd(simulate_collection(rng=rng, queries=5), rng=rng)
        >>> crowd.odd
        {'w21': 'guesses', 'w22': 'always 1', 'w23': 'lenient', 'w24': 'tires'}
    """
    if judges < len(ODD_JUDGES) + each:
        raise UsageError(
            "too-few-judges",
            f"{each} labels a document and {len(ODD_JUDGES)} odd judges need more than {judges} judges",
        )
    items = pool(world.runs, depth=JUDGED_DEPTH).join(world.gold.frame, on=["query", "doc"], maintain_order="left")
    truth = items["label"].to_numpy()
    top = int(truth.max())
    names = np.array([f"w{number:02d}" for number in range(1, judges + 1)])
    judge = rng.permuted(np.tile(np.arange(judges), (len(truth), 1)), axis=1)[:, :each].ravel()
    item = np.repeat(np.arange(len(truth)), each)
    order = rng.permutation(len(item))  # everybody works through his documents in an order of his own
    item, judge = item[order], judge[order]
    elapsed = np.arange(len(item)) / len(item)
    guesses, constant, lenient, tired = (
        judge == judges - len(ODD_JUDGES) + position for position in range(len(ODD_JUDGES))
    )
    noise = np.where(tired, 0.3, rng.uniform(0.45, 0.85, judges)[judge])
    perceived = truth[item] + np.where(lenient, 1.0, 0.0) + noise * rng.normal(size=len(item))
    label = np.clip(np.rint(perceived), 0, top).astype(np.int32)
    careless = guesses | (tired & (elapsed > 0.5))
    label = np.where(careless, rng.integers(0, top + 1, len(item)), label)
    label = np.where(constant, 1, label)
    seconds = np.exp(rng.normal(np.log(14.0), 0.5, len(item))) * np.where(guesses, 0.15, 1.0)
    clock = START_TIME + np.round(elapsed * 5 * 86_400).astype(np.int64)
    frame = pl.DataFrame(
        {
            "query": items["query"].gather(item),
            "doc": items["doc"].gather(item),
            "judge": names[judge],
            "label": label,
            "time": pl.Series(clock * 1_000_000).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "seconds": seconds.round(1),
        }
    )
    clear_items = np.flatnonzero((truth == 0) | (truth == top))
    chosen = np.sort(rng.choice(clear_items, max(1, round(TRAP_SHARE * len(clear_items))), replace=False))
    traps = items[chosen].select("query", "doc", "label")
    odd = {str(name): flaw for name, flaw in zip(names[-len(ODD_JUDGES) :], ODD_JUDGES, strict=True)}
    return Crowd(labels=Judgments.of(frame), traps=Judgments.of(traps), odd=odd)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Voters:
    """Votes between two documents, some of them on traps, what is right on these, and who is odd how."""

    preferences: Preferences
    traps: Preferences
    odd: dict[str, str]


def simulate_voters(
    world: Collection, *, rng: np.random.Generator, queries: int = 6, docs: int = 8, judges: int = 12, each: int = 3
) -> Voters:
    """Votes of a crowd between all pairs of a few documents of the first queries, `each` votes a pair.

    A voter sees by how much one document is better through noise of his own, and calls small differences a tie. Three
    voters are odd: one guesses, one misread the task and says the opposite, one always takes the left. Traps are other
    documents of the same queries, one of a high grade and one of the lowest; everybody meets all of them. Sides are
    drawn at random.

    Examples:
        >>> from ringtrue.simulation import simulate_collection
        >>> rng = np.random.default_rng(1)
        >>> voters = simulate_voters(simulate_collection(rng=rng, queries=5), rng=rng)
        >>> voters.odd
        {'v10': 'guesses', 'v11': 'contrary', 'v12': 'always left'}
    """
    if judges < len(ODD_VOTERS) + each or docs < 2:
        raise UsageError(
            "too-few-judges",
            f"{each} votes a pair and {len(ODD_VOTERS)} odd voters need more than {judges} judges, and pairs need 2 "
            f"documents or more",
        )
    graded = world.gold.frame.select("query", "doc", "label")
    graded = graded.filter(pl.col("query").is_in(graded["query"].unique(maintain_order=True)[:queries].implode()))
    pooled = pool(world.runs, depth=JUDGED_DEPTH).filter(pl.int_range(pl.len()).over("query") < docs)
    traps = _clear_pairs(graded.join(pooled, on=["query", "doc"], how="anti", maintain_order="left"), rng)
    pairs = _all_pairs(graded.join(pooled, on=["query", "doc"], how="semi", maintain_order="left"), rng)
    voter = rng.permuted(np.tile(np.arange(judges), (pairs.height, 1)), axis=1)[:, :each].ravel()
    votes = pairs[np.repeat(np.arange(pairs.height), each)].with_columns(voter=pl.Series(voter), trap=False)
    trap_votes = traps.join(pl.DataFrame({"voter": np.arange(judges)}), how="cross").with_columns(trap=True)
    votes = pl.concat([votes, trap_votes])[rng.permutation(votes.height + trap_votes.height)]
    swapped = pl.Series(rng.random(votes.height) < 0.5)  # sides are drawn anew for every vote
    votes = votes.with_columns(
        left=pl.when(swapped).then("other").otherwise("doc"),
        right=pl.when(swapped).then("doc").otherwise("other"),
        margin=pl.when(swapped).then(-pl.col("margin")).otherwise("margin"),
    )
    names = [f"v{number:02d}" for number in range(1, judges + 1)]
    frame = votes.select(
        "query",
        "left",
        "right",
        judge=pl.Series(np.array(names)[votes["voter"].to_numpy()]),
        winner=pl.Series(_draw_votes(votes["margin"].to_numpy(), votes["voter"].to_numpy(), judges, rng)),
        trap="trap",
    )
    answer_key = traps.select("query", left="doc", right="other", winner=pl.lit("left"))
    odd = dict(zip(names[-len(ODD_VOTERS) :], ODD_VOTERS, strict=True))
    return Voters(preferences=Preferences.of(frame), traps=Preferences.of(answer_key), odd=odd)


def _all_pairs(graded: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Every two documents of a query: query, doc, other, and by how much the first is better."""
    items = graded.with_row_index("place").with_columns(
        quality=pl.Series(WITHIN_GRADE_SD * rng.normal(size=graded.height))
    )
    items = items.with_columns(pl.col("quality") + pl.col("label"))
    pairs = items.join(items, on="query", suffix="_other", maintain_order="left_right")
    return pairs.filter(pl.col("place") < pl.col("place_other")).select(
        "query", "doc", other="doc_other", margin=pl.col("quality") - pl.col("quality_other")
    )


def _clear_pairs(graded: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """A few pairs whose answer is plain, the better document first, with the columns of `_all_pairs`."""
    # A small world may have no document of that grade.
    clear_grade = pl.min_horizontal(pl.lit(MIN_CLEAR_GRADE), pl.col("label").max())
    high, low = graded.filter(pl.col("label") >= clear_grade), graded.filter(pl.col("label") == 0)
    pairs = high.join(low, on="query", suffix="_other", maintain_order="left_right")
    chosen = pairs[rng.choice(pairs.height, CLEAR_PAIRS, replace=False)]
    return chosen.select("query", "doc", other="doc_other", margin=pl.col("label").cast(pl.Float64))


def _draw_votes(
    margin: NDArray[np.float64], voter: NDArray[np.int64], judges: int, rng: np.random.Generator
) -> NDArray[np.str_]:
    """What each voter says of a pair whose left document is better by so much."""
    perceived = margin + rng.uniform(0.3, 0.8, judges)[voter] * rng.normal(size=len(margin))
    guesses, contrary, always_left = (
        voter == judges - len(ODD_VOTERS) + position for position in range(len(ODD_VOTERS))
    )
    perceived = np.where(guesses, rng.choice([-1.0, 1.0], len(margin)), np.where(contrary, -perceived, perceived))
    perceived = np.where(always_left, 1.0, perceived)
    return np.where(np.abs(perceived) < TIE_MARGIN, "tie", np.where(perceived > 0, "left", "right"))
