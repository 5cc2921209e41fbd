"""Which item, which judge, which label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.votes.columns import Outside, apply_scale, find_undecided, parse_times
from ringtrue.judges.votes.reference_labels import majority, repeated_label_error
from ringtrue.messages import Note
from ringtrue.stats.encoding import Codes, cross_tabulate, encode_column, encode_keys
from ringtrue.tables import Judgments, Preferences
from ringtrue.tables.columns import COLUMN_ALIASES, make_frame
from ringtrue.tables.judgments import NO_QUERY

Repeats: TypeAlias = Literal["first", "last", "all"]
MAX_LABELS = 200  # tables of label by label are made of them
SECOND, TIE, FIRST = -1, 0, 1  # what a judge said of a pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """Every label of every judge: vote v is about `item[v]`, by `judge[v]`, and says `label[v]`, all as positions.

    `items` has a row for each item, with its query; `judges` and `labels` are the names and grades that the
    positions stand for, the grades in rising order. `others` are the columns that came along, a row for each vote.
    `undecided` are questions that a judge was asked and gave no label to, where the table has a column `kind` that says
    unsure or skip: they are no votes, and count where traps are.

    Examples:
        >>> table = {"query": ["q", "q", "q"], "doc": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": [0, 2, 2]}
        >>> votes = Votes.of(Judgments.of(table))
        >>> votes.labels, votes.counts().tolist()
        ((0, 2), [[1, 1], [0, 1]])
    """

    items: pl.DataFrame
    judges: tuple[str, ...]
    labels: tuple[int, ...]
    item: Codes
    judge: Codes
    label: Codes
    others: pl.DataFrame
    notes: tuple[Note, ...] = ()
    undecided: Votes | None = None

    @classmethod
    def of(cls, judgments: Judgments, *, scale: Sequence[int] | None = None, outside: Outside = "refuse") -> Self:
        """The votes in judgments, on a declared scale or on the labels that were seen.

        A label outside a declared scale is refused, left out (`exclude`) or moved to the nearest label (`clip`).
        With no scale, labels below 0 say that a document was not judged, and are left out with a note.
        """
        is_undecided = find_undecided(judgments.frame, pl.col("label") < 0)
        frame, notes = apply_scale(judgments.frame.filter(~is_undecided), scale, outside)
        grades = tuple(sorted(set(scale))) if scale else tuple(frame["label"].unique().sort().to_list())
        n_decided = frame.height
        frame = pl.concat([frame, judgments.frame.filter(is_undecided)])
        query, queries = encode_column(frame["query"])
        doc, docs = encode_column(frame["doc"])
        keys, item = np.arange(len(docs)), doc
        if len(queries) > 1:
            keys, item = encode_keys(query.astype(np.int64) * len(docs) + doc)
        if len(grades) > MAX_LABELS:
            raise TableError(
                "too-many-labels",
                f"expected grades, at most {MAX_LABELS} different labels, found {len(grades):,} ({grades[0]} to "
                f"{grades[-1]}); round them to fewer first",
            )
        judge, judges = encode_column(frame["judge"])
        return cls(
            items=pl.DataFrame({"query": queries.gather(keys // len(docs)), "doc": docs.gather(keys % len(docs))}),
            judges=tuple(judges),
            labels=grades,
            item=item,
            judge=judge,
            label=pl.Series(grades, dtype=pl.Int32).search_sorted(frame["label"]).to_numpy().astype(np.int32),
            others=frame.drop("query", "doc", "judge", "label"),
            notes=notes,
        )._set_apart_undecided(np.arange(frame.height) >= n_decided)

    @classmethod
    def of_preferences(cls, preferences: Preferences) -> Self:
        """The votes in preferences: an item is a pair of documents, whichever stood left.

        Labels are 1 where the document with the smaller id won, −1 where the other did, 0 for all kinds of tie.
        The column `side` of `others` keeps the side that won: left, right or tie.
        """
        left, right, winner = pl.col("left"), pl.col("right"), pl.col("winner")
        swapped = left > right
        frame = preferences.frame.with_columns(
            first=pl.when(swapped).then(right).otherwise(left),
            second=pl.when(swapped).then(left).otherwise(right),
            label=pl.when(~winner.is_in(["left", "right"]))
            .then(TIE)
            .when((winner == "left") != swapped)
            .then(FIRST)
            .otherwise(SECOND)
            .cast(pl.Int32),
            side=pl.when(winner.is_in(["left", "right"])).then(winner).otherwise(pl.lit("tie")),
        )
        items = frame.select("query", "first", "second").unique(maintain_order=True)
        keys = items.columns
        item = frame.select(keys).join(items.with_row_index("item"), on=keys, how="left", maintain_order="left")["item"]
        judge, judges = encode_column(frame["judge"])
        return cls(
            items=items,
            judges=tuple(judges),
            labels=(SECOND, TIE, FIRST),
            item=item.to_numpy().astype(np.int32),
            judge=judge,
            label=(frame["label"].to_numpy() - SECOND).astype(np.int32),
            others=frame.drop("query", "first", "second", "left", "right", "judge", "winner", "label"),
        )._set_apart_undecided(find_undecided(frame, pl.col("winner") == "tie").to_numpy())

    def _set_apart_undecided(self, is_undecided: NDArray[np.bool_]) -> Self:
        if not is_undecided.any():
            return self
        return replace(self.keep(~is_undecided), undecided=self.keep(is_undecided))

    def with_undecided(self) -> Self:
        """The votes, and after them the questions without a label, whose position is −1: it is right for no item."""
        if self.undecided is None:
            return self
        undecided = self.undecided
        return replace(
            self,
            item=np.concatenate([self.item, undecided.item]),
            judge=np.concatenate([self.judge, undecided.judge]),
            label=np.concatenate([self.label, np.full(undecided.size, -1, dtype=np.int32)]),
            others=pl.concat([self.others, undecided.others]),
            undecided=None,
        )

    @property
    def size(self) -> int:
        """How many votes there are."""
        return len(self.item)

    @property
    def is_pairwise(self) -> bool:
        """Whether the items are pairs of documents: query, first, second."""
        return "first" in self.items.columns

    @property
    def has_queries(self) -> bool:
        """Whether anything told the query of an item."""
        return bool((self.items["query"] != NO_QUERY).any())

    def counts(self) -> NDArray[np.int64]:
        """How many votes each item has for each label: items × labels."""
        return self.tally(self.item, self.items.height)

    def tally(self, group: NDArray[np.integer], n_groups: int) -> NDArray[np.int64]:
        """How many votes each group has for each label, where `group` is a position for each vote."""
        return cross_tabulate(group, self.label, n_groups, len(self.labels))

    def clusters(self) -> tuple[Codes, int, Literal["queries", "items"]]:
        """What is drawn anew in a bootstrap: the query of each item; where there is one query, the items themselves."""
        query, queries = encode_column(self.items["query"])
        if len(queries) > 1:
            return query, len(queries), "queries"
        return np.arange(self.items.height, dtype=np.int32), self.items.height, "items"

    def times(self) -> NDArray[np.float64] | None:
        """When each vote was given, as a number that rises; None where no column tells the time."""
        return parse_times(self.others["time"]) if "time" in self.others.columns else None

    def widen_scale(self, labels: Sequence[int]) -> Self:
        """The same votes on a scale that has further labels."""
        return self.on_scale(tuple(sorted({*self.labels, *labels})))

    def on_scale(self, labels: tuple[int, ...]) -> Self:
        """The same votes on a scale that has all labels that were given."""
        if labels == self.labels:
            return self
        new_codes = np.searchsorted(np.array(labels), np.array(self.labels)).astype(np.int32)
        return replace(self, labels=labels, label=new_codes[self.label])

    def with_judge(self, name: str, item: Codes, label: Codes) -> Self:
        """These votes and those of one more judge; the columns that came along are left behind."""
        return replace(
            self,
            judges=(*self.judges, name),
            item=np.concatenate([self.item, item]),
            judge=np.concatenate([self.judge, np.full(len(item), len(self.judges), dtype=np.int32)]),
            label=np.concatenate([self.label, label]),
            others=pl.DataFrame(),
            undecided=None,
        )

    def split_panels(self, column: str, *, repeats: Repeats | None = None) -> tuple[Self, dict[str, Self]]:
        """Each value of a column as one judge who says what most of its votes say, and the votes of each value.

        Of several labels with equally many votes, the lowest counts.
        """
        if column not in self.others.columns:
            columns = self.others.columns
            suggestion = did_you_mean(column, columns) or f"; there is {', '.join(columns) or 'none'}"
            expected = f"no column '{column}' beside query, doc, judge and label to distinguish panels by"
            raise UsageError("unknown-column", f"{expected}{suggestion}", parameter="column")
        panel, names = encode_column(self.others[column].cast(pl.String).fill_null(""))
        parts = {name: self.keep(panel == code).resolve_repeats(repeats) for code, name in enumerate(names)}
        panel_votes = replace(self, judges=(), item=self.item[:0], judge=self.judge[:0], label=self.label[:0])
        for name, part in parts.items():
            labels = majority(part.counts()).astype(np.int32)
            items = np.flatnonzero(labels >= 0).astype(np.int32)
            panel_votes = panel_votes.with_judge(name, items, labels[items])
        return panel_votes, {name: part._compact() for name, part in parts.items()}

    def _compact(self) -> Self:
        """Without the items and judges that have no vote."""
        items, item = np.unique(self.item, return_inverse=True)
        judges, judge = np.unique(self.judge, return_inverse=True)
        return replace(
            self,
            items=self.items[items],
            item=item.astype(np.int32),
            judge=judge.astype(np.int32),
            judges=tuple(self.judges[code] for code in judges),
            undecided=None,
        )

    def keep(self, rows: NDArray[np.bool_]) -> Self:
        """These votes alone; items and judges keep their positions, also those that are left without a vote."""
        return replace(
            self,
            item=self.item[rows],
            judge=self.judge[rows],
            label=self.label[rows],
            others=self.others.filter(pl.Series(rows)) if self.others.width else self.others,
        )

    def keep_items(self, rows: NDArray[np.bool_]) -> Self:
        """The votes about these items alone, which move up."""
        new_positions = (np.cumsum(rows) - 1).astype(np.int32)
        votes = self.keep(rows[self.item])
        items = self.items.filter(pl.Series(rows))
        return replace(votes, items=items, item=new_positions[votes.item], undecided=None)

    def overlapping_judges(self, limit: int) -> tuple[list[tuple[int, int]], int]:
        """The pairs of judges who have the most items in common, and how many more have any."""
        from scipy.sparse import csr_array, triu

        ones, shape = np.ones(self.size, dtype=np.int64), (self.items.height, len(self.judges))
        seen = csr_array((ones, (self.item, self.judge)), shape=shape)
        seen.data[:] = 1
        common = triu(seen.T @ seen, k=1).tocoo()
        order = np.lexsort((common.col, common.row, -common.data))[:limit]
        pairs = list(zip(common.row[order].tolist(), common.col[order].tolist(), strict=True))
        return pairs, common.nnz - len(pairs)

    def by_judge_and_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Every pair of an item and a judge that has a vote: its item, its judge, and for each vote its pair."""
        keys, pair = np.unique(self._item_judge_keys(), return_inverse=True)
        return keys // len(self.judges), keys % len(self.judges), pair

    def find_repeats(self) -> NDArray[np.bool_]:
        """Which votes are not their judge's first about an item."""
        is_repeat = np.ones(self.size, dtype=bool)
        is_repeat[np.unique(self._item_judge_keys(), return_index=True)[1]] = False
        return is_repeat

    def resolve_repeats(self, repeats: Repeats | None) -> Self:
        """At most one vote of a judge about an item, or all of them; refused where there are repeats and no choice."""
        kept_rows = self.rows_without_repeats(repeats)
        return self if kept_rows.all() else self.keep(kept_rows)

    def rows_without_repeats(self, repeats: Repeats | None) -> NDArray[np.bool_]:
        """Which votes are left where a judge has at most one about an item; all of them if `repeats` is all.

        Examples:
            >>> votes = make_votes({"item": ["a", "a", "b"], "worker": ["x", "x", "x"], "label": [0, 1, 1]})
            >>> votes.rows_without_repeats("last").tolist()
            [False, True, True]
        """
        if repeats is not None and repeats not in get_args(Repeats):
            suggestion = did_you_mean(repeats, get_args(Repeats)) or "; there is " + ", ".join(get_args(Repeats))
            raise UsageError("unknown-choice", f"no choice '{repeats}' for repeats{suggestion}", parameter="repeats")
        all_rows = np.ones(self.size, dtype=bool)
        if repeats == "all":
            return all_rows
        keys = self._item_judge_keys()
        keys.sort()  # to see whether there are any is cheaper than to see which
        if (keys[1:] != keys[:-1]).all():
            return all_rows
        is_repeat = self.find_repeats()
        if repeats is None:
            raise repeated_label_error(self, is_repeat)
        if repeats == "first":
            return ~is_repeat
        reversed_keys = self._item_judge_keys()[::-1]
        last = ~all_rows
        last[self.size - 1 - np.unique(reversed_keys, return_index=True)[1]] = True
        return last

    def describe_item(self, item: int) -> str:
        """An item in words; the query is left out where the table had none.

        Examples:
            >>> make_votes({"item": ["a", "b"], "label": [0, 1]}).describe_item(1)
            "document 'b'"
        """
        query, *docs = self.items.row(item)
        phrase = f"document '{docs[0]}'" if len(docs) == 1 else f"the pair '{docs[0]}', '{docs[1]}'"
        return phrase if query == NO_QUERY else f"{phrase} of query '{query}'"

    def describe_labels(self, item: int, labels: Iterable[int]) -> str:
        """Labels of an item, given as positions, in words: grades, or who won."""
        grades = [self.labels[label] for label in labels]
        if not self.is_pairwise:
            return ", ".join(map(str, grades))
        _, first, second = self.items.row(item)
        words = {FIRST: f"'{first}'", SECOND: f"'{second}'", TIE: "tie"}
        return ", ".join(words[grade] for grade in grades)

    def _item_judge_keys(self) -> NDArray[np.int64]:
        keys = self.item.astype(np.int64)
        keys *= len(self.judges)
        keys += self.judge
        return keys


def make_votes(data: object, *, scale: Sequence[int] | None = None, outside: Outside = "refuse") -> Votes:
    """The votes in judgments or preferences, or in a table of either kind; judgments may do without queries.

    Examples:
        >>> make_votes({"item": ["a", "a"], "worker": ["x", "y"], "label": [0, 1]}).judges
        ('x', 'y')
    """
    if isinstance(data, Votes):
        return data
    if isinstance(data, Preferences):
        if scale is not None:
            raise UsageError(
                "not-for-preferences", "a scale is about labels, and these are preferences", parameter="scale"
            )
        return Votes.of_preferences(data)
    if isinstance(data, Judgments):
        return Votes.of(data, scale=scale, outside=outside)
    frame = make_frame(data, nested="label", reader="read_judgments")
    if {name.lower() for name in frame.columns} & set(COLUMN_ALIASES["winner"]):
        return make_votes(Preferences.of(frame), scale=scale)
    return Votes.of(Judgments.of(frame, needs_query=False), scale=scale, outside=outside)


def match_pair_labels(votes: Votes, pairs: list[tuple[int, int]]) -> Iterator[tuple[Codes, Codes, Codes]]:
    """For each pair of judges, every meeting on an item: the item, the one's label and the other's."""
    order = np.lexsort((votes.item, votes.judge))
    start = np.searchsorted(votes.judge[order], np.arange(len(votes.judges) + 1))
    item, label = votes.item[order], votes.label[order]
    for judge_a, judge_b in pairs:
        votes_a, votes_b = slice(start[judge_a], start[judge_a + 1]), slice(start[judge_b], start[judge_b + 1])
        first = np.searchsorted(item[votes_b], item[votes_a], side="left")
        n_matches = np.searchsorted(item[votes_b], item[votes_a], side="right") - first
        matches_b = np.repeat(first - np.cumsum(n_matches) + n_matches, n_matches) + np.arange(n_matches.sum())
        yield np.repeat(item[votes_a], n_matches), np.repeat(label[votes_a], n_matches), label[votes_b][matches_b]
