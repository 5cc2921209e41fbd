"""A small search collection with known truth: queries, documents, three systems, a gold and a bronze judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.tables import Judgments, Run

GRADES = (0.78, 0.11, 0.07, 0.04)  # how common the grades 0 to 3 are among the candidates
DEPTH = 50

# How much each system's score owes to relevance and how much to mere likeness of words.
SYSTEMS = {"keyword": (0.55, 1.00), "neural": (1.05, 0.25), "hybrid": (0.85, 0.55)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """What was simulated: three runs, the truth for every candidate, and what a cheap judge said of it."""

    runs: tuple[Run, ...]
    gold: Judgments
    bronze: Judgments


def simulate_collection(*, rng: np.random.Generator, queries: int = 50, candidates: int = 200) -> Collection:
    """Make a world in which the cheap judge is fooled by what also fools one of the systems.

    Every candidate has a true grade and a likeness to the words of the query; the two go together only a
    little. Systems score by both, in different shares. The gold judge sees the grade. The bronze judge mixes
    the grade with the likeness, so it is too kind to the documents that a keyword search ranks high, as
    crowds and language models are in practice.

    Examples:
        >>> world = simulate_collection(rng=np.random.default_rng(1), queries=5)
        >>> [run.name for run in world.runs]
        ['keyword', 'neural', 'hybrid']
    """
    if queries < 1 or candidates < DEPTH:
        raise UsageError(f"a collection needs a query and {DEPTH} candidates, found {queries} and {candidates}")
    shape = (queries, candidates)
    grade = rng.choice(len(GRADES), size=shape, p=GRADES)
    grade = np.where(rng.random((queries, 1)) < 0.2, np.minimum(grade, 2), grade)  # some queries have no best
    likeness = 0.3 * grade + rng.normal(size=shape)
    difficulty = rng.gamma(4.0, 0.3, size=(queries, 1))
    bronze_grade = np.clip(np.rint(0.45 * grade + 0.75 * likeness + rng.normal(scale=0.35, size=shape)), 0, 3).astype(
        int
    )

    ids = np.array([f"q{q + 1:03d}" for q in range(queries)])
    names = np.array([[f"d{q + 1:03d}-{d + 1:03d}" for d in range(candidates)] for q in range(queries)])
    runs = []
    for name, (relevance, words) in SYSTEMS.items():
        score = relevance * grade + words * likeness + difficulty * rng.normal(size=shape)
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
    bronze = Judgments.of(pl.DataFrame(pairs | {"judge": "bronze", "label": bronze_grade.ravel()}))
    return Collection(runs=tuple(runs), gold=gold, bronze=bronze)


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


def simulate_texts(world: Collection, *, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Topics and documents of a shop: a thing with a trait for a use, and offers that are that, nearly that, or not.

    The label of gold can be read from the text; where bronze was taken in, the words of the query are there, and the
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
        query_id: (str(rng.choice(TRAITS)), str(rng.choice(THINGS)), str(rng.choice(USES))) for query_id in query_ids
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
        str(rng.choice([word for word in words if word != wanted_word]))
        for words, wanted_word in zip((TRAITS, THINGS, USES), wanted, strict=True)
    )
    closing = " ".join(map(str, rng.choice(CLOSING, 2, replace=False)))
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
