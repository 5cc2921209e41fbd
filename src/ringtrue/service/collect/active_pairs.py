"""Pairs that are chosen as votes arrive: those that teach most about the top, given all that was said so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import InputError
from ringtrue.preference import choose_pairs
from ringtrue.preference.choose_pairs import PairDesign
from ringtrue.preference.pair_designs import Candidates
from ringtrue.service.collect.inputs import normalise_pairs
from ringtrue.service.collect.uploads import load_files, read_own_csv
from ringtrue.service.store.items import (
    QueueCapacity,
    acquire_lock,
    find_seen_pairs,
    load_queue_capacity,
    release_lock,
    request_votes,
)
from ringtrue.service.store.label_queries import load_preferences

if TYPE_CHECKING:
    import numpy as np

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project

# Tasks' worth of pairs: when to choose, how many, and when no more for anybody.
REFILL_BELOW, REFILL_AHEAD, MOST_WAITING = 2, 4, 20
# Those that teach most may be few, and a judge may have had them all: then any that nobody had.
DESIGNS: tuple[tuple[PairDesign, int | None], ...] = (("active", None), ("random", 1))
LOCK_SECONDS = 120.0


def refill_pairs(
    store: Store, project: Project, *, now: float, rng: np.random.Generator, account: int | None = None
) -> int | None:
    """Choose more pairs when fewer than two tasks' worth are left; answers how many votes were asked for.

    With an `account`, also when the judge has had nearly all that are left; pairs that the judge had are then not
    chosen again, and where nothing is to be chosen it answers how many the judge finds. One at a time: while another
    thread or server is choosing, it answers None at once. What takes long is done outside of any writing.
    """
    if not project.settings.active or project.closed is not None:
        return 0
    task_items = project.settings.task_size - project.settings.traps
    with store.read() as connection:
        capacity = load_queue_capacity(connection, project.id, account)
    if not _needs_pairs(capacity, task_items, account):
        return 0 if account is None else capacity.for_judge
    locked_until = now + LOCK_SECONDS + float(rng.random())  # no two locks end at the same moment: each ends its own
    if not store.write(lambda connection: acquire_lock(connection, project.id, now=now, until=locked_until)):
        return None
    try:
        with store.read() as connection:  # somebody else may have held the lock in between
            capacity = load_queue_capacity(connection, project.id, account)
        if not _needs_pairs(capacity, task_items, account):
            return 0 if account is None else capacity.for_judge
        pairs = _choose_next_pairs(store, project, capacity, task_items, account, rng)
        if not pairs.height:
            return 0
        rows = pairs.to_dicts()
        return store.write(lambda connection: request_votes(connection, project, rows, rng=rng))
    finally:
        store.write(lambda connection: release_lock(connection, project.id, until=locked_until))


def _needs_pairs(capacity: QueueCapacity, task_items: int, account: int | None) -> bool:
    if capacity.total < REFILL_BELOW * task_items:
        return True
    return account is not None and capacity.for_judge < task_items and capacity.total < MOST_WAITING * task_items


def _choose_next_pairs(
    store: Store,
    project: Project,
    capacity: QueueCapacity,
    task_items: int,
    account: int | None,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """The next pairs, a row for each vote: as many as open tasks may need, and some ahead."""
    with store.read() as connection:
        files = load_files(connection, project.id, "candidates")
        votes = load_preferences(connection, project)
        seen = find_seen_pairs(connection, project.id, account) if account is not None else set()
    if not files:
        return pl.DataFrame()
    tables = [read_own_csv(file) for file in files]
    candidates = Candidates.of(pl.concat(tables).unique(maintain_order=True))
    budget = (REFILL_AHEAD + capacity.open_tasks) * task_items
    preferences = votes if votes.height else None
    for design, votes_per_pair in DESIGNS:
        try:
            choice = choose_pairs(
                candidates,
                design=design,
                votes=votes_per_pair,
                preferences=preferences,
                budget=budget + len(seen),
                rng=rng,
            )
        except InputError:  # a single document for each query, or no pair without a vote: there is nothing to choose
            continue
        pairs = normalise_pairs(choice.frame, once=False)
        if seen:
            seen_pairs = pl.DataFrame(sorted(seen), schema=["query", "doc", "other"], orient="row")
            pairs = pairs.join(seen_pairs, on=["query", "doc", "other"], how="anti", maintain_order="left")
        if pairs.height:
            return pairs.head(budget)
    return pl.DataFrame()
