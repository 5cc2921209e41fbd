"""Pairs that are chosen as votes arrive: those that teach most about the top, given all that was said so far."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import InputError
from ringtrue.preference import choose_pairs
from ringtrue.preference.candidates import Candidates
from ringtrue.preference.choose_pairs import PairDesign
from ringtrue.service.collect.items import named_pairs
from ringtrue.service.collect.uploads import kept, source_of
from ringtrue.service.store.label_queries import preferences_frame
from ringtrue.service.store.pair_queue import Room, end_turn, pairs_seen, room_left, take_turn
from ringtrue.service.store.projects import ask_again

if TYPE_CHECKING:
    import numpy as np

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project

__all__ = ["refill"]

AT_LEAST, AHEAD, AT_MOST = 2, 4, 20  # tasks' worth of pairs: when to choose, how many, and when no more for anybody
# Those that teach most may be few, and a judge may have had them all: then any that nobody had.
ORDER: tuple[tuple[PairDesign, int | None], ...] = (("active", None), ("random", 1))
TURN_SECONDS = 120.0


def refill(
    store: Store, project: Project, *, now: float, rng: np.random.Generator, account: int | None = None
) -> int | None:
    """Choose more pairs when fewer than two tasks' worth are left; answers how many votes were asked for.

    With an `account`, also when the judge has had nearly all that are left; pairs that the judge had are then not
    chosen again, and where nothing is to be chosen it answers how many the judge finds. One at a time: while another
    thread or server is choosing, it answers None at once. What takes long is done outside of any writing.
    """
    if not project.settings.active or project.closed is not None:
        return 0
    task = project.settings.task_size - project.settings.traps
    with store.read() as connection:
        room = room_left(connection, project.id, account)
    if not _needed(room, task, account):
        return 0 if account is None else room.own
    until = now + TURN_SECONDS + float(rng.random())  # no two turns end at the same moment: so each ends its own
    if not store.write(lambda connection: take_turn(connection, project.id, now=now, until=until)):
        return None
    try:
        with store.read() as connection:  # somebody else may have had a turn in between
            room = room_left(connection, project.id, account)
        if not _needed(room, task, account):
            return 0 if account is None else room.own
        pairs = _chosen(store, project, room, task, account, rng)
        if not pairs.height:
            return 0
        rows = pairs.to_dicts()
        return store.write(lambda connection: ask_again(connection, project, rows, rng=rng))
    finally:
        store.write(lambda connection: end_turn(connection, project.id, until=until))


def _needed(room: Room, task: int, account: int | None) -> bool:
    if room.all < AT_LEAST * task:
        return True
    return account is not None and room.own < task and room.all < AT_MOST * task


def _chosen(
    store: Store, project: Project, room: Room, task: int, account: int | None, rng: np.random.Generator
) -> pl.DataFrame:
    """The next pairs, a row for each vote: as many as open tasks may need, and some ahead."""
    with store.read() as connection:
        files = kept(connection, project.id, "candidates")
        votes = preferences_frame(connection, project)
        seen = pairs_seen(connection, project.id, account) if account is not None else set()
    if not files:
        return pl.DataFrame()
    tables = [pl.read_csv(io.BytesIO(source_of(file).whole()), infer_schema=False) for file in files]
    candidates = Candidates.of(pl.concat(tables).unique(maintain_order=True))
    number = (AHEAD + room.tasks) * task
    known = votes if votes.height else None
    for design, count in ORDER:
        try:
            choice = choose_pairs(
                candidates, design=design, votes=count, preferences=known, budget=number + len(seen), rng=rng
            )
        except InputError:  # a single document for each query, or no pair without a vote: there is nothing to choose
            continue
        pairs = named_pairs(choice.frame, once=False)
        if seen:
            had = pl.DataFrame(sorted(seen), schema=["query", "doc", "other"], orient="row")
            pairs = pairs.join(had, on=["query", "doc", "other"], how="anti", maintain_order="left")
        if pairs.height:
            return pairs.head(number)
    return pl.DataFrame()
