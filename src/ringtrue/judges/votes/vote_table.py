"""Which item, which judge, which label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.votes.consensus import majority
from ringtrue.judges.votes.repeated_labels import told_twice
from ringtrue.judges.votes.scale import Outside, on_scale
from ringtrue.judges.votes.timestamps import moments
from ringtrue.stats.encoding import Codes, codes, positions
from ringtrue.tables import Judgments, Preferences
from ringtrue.tables.columns import NAMES, frame_from
from ringtrue.tables.judgments import NO_QUERY

__all__ = ["FIRST", "SECOND", "TIE", "Repeats", "Votes", "votes_of"]

Repeats: TypeAlias = Literal["first", "last", "all"]
MOST_LABELS = 200  # tables of label by label are made of them
SECOND, TIE, FIRST = -1, 0, 1  # what a judge said of a pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """Every label of every judge: vote v is about `item[v]`, by `judge[v]`, and says `label[v]`, all as positions.

    `items` has a row for each item, with its query; `judges` and `labels` are the names and grades that the
    positions stand for, the grades in rising order. `others` are the columns that came along, a row for each vote.

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
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, judgments: Judgments, *, scale: Sequence[int] | None = None, outside: Outside = "refuse") -> Self:
        """The votes in judgments, on a declared scale or on the labels that were seen.

        A label outside a declared scale is refused, left out (`exclude`) or moved to the nearest label (`clip`).
        With no scale, labels below 0 say that a document was not judged, and are left out with a note.
        """
        frame, notes = on_scale(judgments.frame, scale, outside)
        query, queries = codes(frame["query"])
        doc, docs = codes(frame["doc"])
        keys, item = np.arange(len(docs)), doc
        if len(queries) > 1:
            keys, item = positions(query.astype(np.int64) * len(docs) + doc)
        grades = tuple(sorted(set(scale))) if scale else tuple(frame["label"].unique().sort().to_list())
        if len(grades) > MOST_LABELS:
            raise TableError(
                f"expected grades, at most {MOST_LABELS} different labels, found {len(grades):,} ({grades[0]} to "
                f"{grades[-1]}); round them to fewer first"
            )
        judge, judges = codes(frame["judge"])
        return cls(
            items=pl.DataFrame({"query": queries.gather(keys // len(docs)), "doc": docs.gather(keys % len(docs))}),
            judges=tuple(judges),
            labels=grades,
            item=item,
            judge=judge,
            label=pl.Series(grades, dtype=pl.Int32).search_sorted(frame["label"]).to_numpy().astype(np.int32),
            others=frame.drop("query", "doc", "judge", "label"),
            notes=notes,
        )

    @classmethod
    def of_preferences(cls, preferences: Preferences) -> Self:
        """The votes in preferences: an item is a pair of documents, whichever stood left.

        Labels are 1 where the document with the smaller id won, −1 where the other did, 0 for all kinds of tie.
        The column `side` of `others` keeps the side that won: left, right or tie.
        """
        left, right, won = pl.col("left"), pl.col("right"), pl.col("winner")
        turned = left > right
        frame = preferences.frame.with_columns(
            first=pl.when(turned).then(right).otherwise(left),
            second=pl.when(turned).then(left).otherwise(right),
            label=pl.when(~won.is_in(["left", "right"])).then(TIE)
            .when((won == "left") != turned).then(FIRST).otherwise(SECOND).cast(pl.Int32),
            side=pl.when(won.is_in(["left", "right"])).then(won).otherwise(pl.lit("tie")),
        )  # fmt: skip
        items = frame.select("query", "first", "second").unique(maintain_order=True)
        keys = items.columns
        item = frame.select(keys).join(items.with_row_index("item"), on=keys, how="left", maintain_order="left")["item"]
        judge, judges = codes(frame["judge"])
        return cls(
            items=items,
            judges=tuple(judges),
            labels=(SECOND, TIE, FIRST),
            item=item.to_numpy().astype(np.int32),
            judge=judge,
            label=(frame["label"].to_numpy() - SECOND).astype(np.int32),
            others=frame.drop("query", "first", "second", "left", "right", "judge", "winner", "label"),
        )

    @property
    def size(self) -> int:
        """How many votes there are."""
        return len(self.item)

    @property
    def has_queries(self) -> bool:
        """Whether anything told the query of an item."""
        return bool((self.items["query"] != NO_QUERY).any())

    def counts(self) -> NDArray[np.int64]:
        """How many votes each item has for each label: items × labels."""
        return self.tally(self.item, self.items.height)

    def tally(self, group: NDArray[np.integer], groups: int) -> NDArray[np.int64]:
        """How many votes each group has for each label, where `group` is a position for each vote."""
        wide = len(self.labels)
        return np.bincount(group * np.int64(wide) + self.label, minlength=groups * wide).reshape(groups, wide)

    def clusters(self) -> tuple[Codes, int, Literal["queries", "items"]]:
        """What is drawn anew in a bootstrap: the query of each item; where there is one query, the items themselves."""
        query, queries = codes(self.items["query"])
        if len(queries) > 1:
            return query, len(queries), "queries"
        return np.arange(self.items.height, dtype=np.int32), self.items.height, "items"

    def moments(self) -> NDArray[np.float64] | None:
        """When each vote was given, as a number that rises; None where no column tells the time."""
        if "time" not in self.others.columns:
            return None
        return moments(self.others["time"])

    def on(self, labels: Sequence[int]) -> Self:
        """The same votes on a scale that has further labels."""
        wider = tuple(sorted({*self.labels, *labels}))
        if wider == self.labels:
            return self
        moved = np.searchsorted(np.array(wider), np.array(self.labels)).astype(np.int32)
        return replace(self, labels=wider, label=moved[self.label])

    def panels(self, column: str, *, repeats: Repeats | None = None) -> tuple[Self, dict[str, Self]]:
        """Each value of a column as one judge who says what most of its votes say, and the votes of each value.

        Of several labels with equally many votes, the lowest counts.
        """
        if column not in self.others.columns:
            near = did_you_mean(column, self.others.columns) or "; there is " + (
                ", ".join(self.others.columns) or "none"
            )
            raise UsageError(f"no column '{column}' beside query, doc, judge and label to tell panels by{near}")
        panel, names = codes(self.others[column].cast(pl.String).fill_null(""))
        parts = {name: self.keep(panel == place).settled(repeats) for place, name in enumerate(names)}
        said = [majority(part.counts()) for part in parts.values()]
        items = [np.flatnonzero(label >= 0).astype(np.int32) for label in said]
        together = replace(
            self, judges=tuple(parts), item=np.concatenate(items),
            judge=np.repeat(np.arange(len(parts), dtype=np.int32), [len(some) for some in items]),
            label=np.concatenate([label[some] for label, some in zip(said, items, strict=True)]).astype(np.int32),
            others=pl.DataFrame(),
        )  # fmt: skip
        return together, {name: part._compact() for name, part in parts.items()}

    def _compact(self) -> Self:
        """Without the items and judges that have no vote."""
        items, item = np.unique(self.item, return_inverse=True)
        judges, judge = np.unique(self.judge, return_inverse=True)
        return replace(
            self, items=self.items[items], item=item.astype(np.int32), judge=judge.astype(np.int32),
            judges=tuple(self.judges[place] for place in judges),
        )  # fmt: skip

    def keep(self, rows: NDArray[np.bool_]) -> Self:
        """These votes alone; items and judges keep their positions, also those that are left without a vote."""
        return replace(
            self, item=self.item[rows], judge=self.judge[rows], label=self.label[rows],
            others=self.others.filter(pl.Series(rows)) if self.others.width else self.others,
        )  # fmt: skip

    def by_judge_and_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Every pair of an item and a judge that has a vote: its item, its judge, and for each vote its pair."""
        keys, pair = np.unique(self._by_item_and_judge(), return_inverse=True)
        return keys // len(self.judges), keys % len(self.judges), pair

    def repeated(self) -> NDArray[np.bool_]:
        """Which votes are not their judge's first about an item."""
        again = np.ones(self.size, dtype=bool)
        again[np.unique(self._by_item_and_judge(), return_index=True)[1]] = False
        return again

    def settled(self, repeats: Repeats | None) -> Self:
        """At most one vote of a judge about an item, or all of them; refused where there are repeats and no choice."""
        kept = self.settled_rows(repeats)
        return self if kept.all() else self.keep(kept)

    def settled_rows(self, repeats: Repeats | None) -> NDArray[np.bool_]:
        """Which votes are left where a judge has at most one about an item; all of them if `repeats` is all.

        Examples:
            >>> votes = votes_of({"item": ["a", "a", "b"], "worker": ["x", "x", "x"], "label": [0, 1, 1]})
            >>> votes.settled_rows("last").tolist()
            [False, True, True]
        """
        if repeats is not None and repeats not in get_args(Repeats):
            near = did_you_mean(repeats, get_args(Repeats)) or "; there is " + ", ".join(get_args(Repeats))
            raise UsageError(f"no choice '{repeats}' for repeats{near}")
        every = np.ones(self.size, dtype=bool)
        if repeats == "all":
            return every
        keys = self._by_item_and_judge()
        keys.sort()  # to see whether there are any is cheaper than to see which
        if (keys[1:] != keys[:-1]).all():
            return every
        again = self.repeated()
        if repeats is None:
            raise told_twice(self, again)
        if repeats == "first":
            return ~again
        reversed_keys = self._by_item_and_judge()[::-1]
        last = ~every
        last[self.size - 1 - np.unique(reversed_keys, return_index=True)[1]] = True
        return last

    def named(self, item: int) -> str:
        """An item in words; the query is left out where the table had none.

        Examples:
            >>> votes_of({"item": ["a", "b"], "label": [0, 1]}).named(1)
            "document 'b'"
        """
        query, *docs = self.items.row(item)
        what = f"document '{docs[0]}'" if len(docs) == 1 else f"the pair '{docs[0]}', '{docs[1]}'"
        return what if query == NO_QUERY else f"{what} of query '{query}'"

    def said(self, item: int, labels: Iterable[int]) -> str:
        """Labels of an item, given as positions, in words: grades, or who won."""
        grades = [self.labels[label] for label in labels]
        if len(self.items.columns) == 2:
            return ", ".join(map(str, grades))
        _, first, second = self.items.row(item)
        words = {FIRST: f"'{first}'", SECOND: f"'{second}'", TIE: "tie"}
        return ", ".join(words[grade] for grade in grades)

    def _by_item_and_judge(self) -> NDArray[np.int64]:
        keys = self.item.astype(np.int64)
        keys *= len(self.judges)
        keys += self.judge
        return keys


def votes_of(data: object, *, scale: Sequence[int] | None = None, outside: Outside = "refuse") -> Votes:
    """The votes in judgments or preferences, or in a table of either kind; judgments may do without queries.

    Examples:
        >>> votes_of({"item": ["a", "a"], "worker": ["x", "y"], "label": [0, 1]}).judges
        ('x', 'y')
    """
    if isinstance(data, Votes):
        return data
    if isinstance(data, Preferences):
        if scale is not None:
            raise UsageError("a scale is about labels, and these are preferences; leave it out")
        return Votes.of_preferences(data)
    if isinstance(data, Judgments):
        return Votes.of(data, scale=scale, outside=outside)
    frame = frame_from(data, nested="label", reader="read_judgments")
    if {name.lower() for name in frame.columns} & set(NAMES["winner"]):
        return votes_of(Preferences.of(frame), scale=scale)
    return Votes.of(Judgments.of(frame, needs_query=False), scale=scale, outside=outside)
