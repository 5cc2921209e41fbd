"""Whatever judges do in whatever order: the store does what a slow and plain model of it does."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ringtrue.errors import ConflictError, LateError
from ringtrue.service.store import Answer, Store
from ringtrue.service.store.answers import (
    record_answer,
    reopen_questions,
    set_aside_task,
    submit_task,
    undo_last_answer,
)
from ringtrue.service.store.tasks import get_or_create_task, release_expired
from service.small_projects import NOW, begin, judge, project, question, rows, say

ITEMS, SIZE, LEASE, LIMIT, JUDGES = 3, 2, 10 * 60, 25 * 60, 3  # so few that judges meet
STATES = {"answer": "done", "unsure": "unsure", "skip": "skipped"}
people = st.integers(0, JUDGES - 1)
kinds = st.sampled_from(["answer", "answer", "answer", "unsure", "skip"])
labels = st.sampled_from(["0", "1", "2"])
numbers = st.integers(0, 1000)


@dataclass
class Given:
    """A question in the hands of a judge, or that was."""

    task: int
    item: int
    judge: int
    state: str = "open"
    said: list[tuple[str, str | None]] = field(default_factory=list)  # one for each version
    late: list[str | None] = field(default_factory=list)
    turn: int = 0  # when it was last answered


@dataclass
class Task:
    judge: int
    leased: float
    deadline: float
    outcome: str | None = None
    closed: float | None = None

    def close(self, outcome: str, now: float) -> None:
        """End it, or say anew how a task ended that was closed before."""
        self.outcome, self.closed = outcome, now if self.closed is None else self.closed


class Judging(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store.open("sqlite://")
        self.now, self.turns = NOW, 0
        self.given: dict[int, Given] = {}
        self.tasks: dict[int, Task] = {}

    @initialize(wanted=st.sampled_from([1, 1, 1, 2]))
    def make(self, wanted: int) -> None:
        self.wanted = wanted
        self.project = project(
            self.store, items=ITEMS, judges=wanted, task_size=SIZE, lease_minutes=LEASE // 60, minutes=LIMIT // 60
        )
        self.people = [judge(self.store, f"judge-{number}") for number in range(JUDGES)]
        self.items = [row[0] for row in rows(self.store, "SELECT id FROM item")]

    def teardown(self) -> None:
        self.store.close()

    # What the model knows

    def room(self, item: int) -> bool:
        return self.count(item) < self.wanted

    def count(self, item: int) -> int:
        return sum(one.item == item and self.is_held(one) for one in self.given.values())

    def is_held(self, one: Given) -> bool:
        """Whether it is answered, or its judge may come back to it."""
        return one.state == "done" or self.tasks[one.task].outcome is None

    def free(self, item: int, who: int) -> bool:
        """Whether this judge may take the item: there is room, and the judge has not had it."""
        had = any((one.item, one.judge) == (item, who) and one.state != "expired" for one in self.given.values())
        return self.room(item) and not had

    def of(self, task: int) -> list[Given]:
        return [one for one in self.given.values() if one.task == task]

    def open_task_of(self, who: int) -> int | None:
        return next((at for at, one in self.tasks.items() if one.judge == who and one.outcome is None), None)

    def expire(self) -> int:
        ended = [at for at, one in self.tasks.items() if one.outcome is None and one.leased < self.now]
        for at in ended:
            # All answered and the lease over: it was forgotten to be handed in, and is.
            self.tasks[at].close(
                "expired" if any(one.state == "open" for one in self.of(at)) else "handed_in", self.now
            )
            for one in self.of(at):
                one.state = "expired" if one.state == "open" else one.state
        return len(ended)

    def told_outcome(self, task: int) -> str | None:
        """What the judge may know: not that a task was set aside."""
        known = self.tasks[task]
        if known.outcome != "set_aside":
            return known.outcome
        is_unanswered = any(not one.said or one.said[-1][0] == "undo" for one in self.of(task))
        return "expired" if is_unanswered and known.closed is not None and known.closed > known.leased else "handed_in"

    def say(self, one: Given, kind: str, answer: str | None) -> None:
        one.said.append((kind, answer))
        self.turns += 1
        one.turn = self.turns
        task = self.tasks[one.task]
        until = min(self.now + LEASE, task.deadline)
        if task.outcome is None and until > task.leased + LEASE / 10:
            task.leased = until

    # What judges do

    @rule(minutes=st.sampled_from([1, 4, 11, 20]))
    def wait(self, minutes: int) -> None:
        self.now += 60 * minutes

    @rule(who=people, seed=numbers)
    def begin(self, who: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        task = self.store.write(lambda c: get_or_create_task(c, self.project, self.people[who], now=self.now, rng=rng))
        self.expire()
        before = self.open_task_of(who)
        if before is not None:
            assert task is not None
            assert task.id == before
            return
        free = [item for item in self.items if self.free(item, who)]
        if task is None:
            assert not free
            return
        new = rows(self.store, "SELECT id, item FROM assignment WHERE task = :task ORDER BY place", task=task.id)
        taken = [item for _, item in new]
        assert len(taken) == len(set(taken)) == min(SIZE, len(free))
        assert set(taken) <= set(free)
        self.tasks[task.id] = Task(who, self.now + LEASE, self.now + LIMIT)
        self.given |= {at: Given(task.id, item, who) for at, item in new}

    @precondition(lambda self: any(one.state == "open" for one in self.given.values()))
    @rule(at=numbers, kind=kinds, label=labels)
    def answer(self, at: int, kind: str, label: str) -> None:
        is_open = sorted(number for number, one in self.given.items() if one.state == "open")
        self.answer_to(is_open[at % len(is_open)], kind, label)

    @precondition(lambda self: any(one.state != "open" for one in self.given.values()))
    @rule(at=numbers, kind=kinds, label=labels)
    def change_an_answer(self, at: int, kind: str, label: str) -> None:
        """Or answer what was skipped, or comes from a task that has ended."""
        known = sorted(number for number, one in self.given.items() if one.state != "open")
        self.answer_to(known[at % len(known)], kind, label)

    def answer_to(self, number: int, kind: str, label: str) -> None:
        one, said = self.given[number], label if kind == "answer" else None
        saved = self.store.write(
            lambda c: record_answer(
                c, self.people[one.judge], number, len(one.said), Answer(kind=kind, answer=said), now=self.now
            )
        )
        task = self.tasks[one.task]
        late = task.outcome is not None or self.now > task.deadline
        assert saved.late == late
        if late:
            again = said in one.late
            assert saved.repeated == again
            one.late += [] if again else [said]
        else:
            one.state = STATES[kind]
            self.say(one, kind, said)

    @precondition(lambda self: any(one.said for one in self.given.values()))
    @rule(at=numbers, kind=kinds, label=labels)
    def answer_what_was_shown_before(self, at: int, kind: str, label: str) -> None:
        """A double click, a second tab, or the back button."""
        number = sorted(number for number, one in self.given.items() if one.said)[-1]
        one, said = self.given[number], label if kind == "answer" else None
        version = at % len(one.said)
        same = version == len(one.said) - 1 and one.said[-1] == (kind, said)
        try:
            saved = self.store.write(
                lambda c: record_answer(
                    c, self.people[one.judge], number, version, Answer(kind=kind, answer=said), now=self.now
                )
            )
        except ConflictError:
            assert not same
        else:
            assert same
            assert saved.repeated

    @precondition(lambda self: self.tasks)
    @rule(at=numbers)
    def take_back(self, at: int) -> None:
        task = sorted(self.tasks)[at % len(self.tasks)]
        who = self.tasks[task].judge
        answered = [one for one in self.of(task) if one.state in ("done", "unsure", "skipped")]
        last = max(answered, key=lambda one: one.turn, default=None)
        try:
            shown = self.store.write(lambda c: undo_last_answer(c, self.people[who], task, now=self.now))
        except LateError:
            assert self.tasks[task].outcome is not None or self.now > self.tasks[task].deadline
        except ConflictError:
            assert last is None
        else:
            assert last is not None
            assert self.given[shown.assignment] is last
            last.state = "open"
            self.say(last, "undo", None)
            assert shown.version == len(last.said)

    @precondition(lambda self: self.tasks)
    @rule(at=numbers, states=st.sampled_from([("skipped",), ("skipped", "unsure")]))
    def go_back(self, at: int, states: tuple[str, ...]) -> None:
        """Open again what was skipped or not told."""
        task = sorted(self.tasks)[at % len(self.tasks)]
        known = self.tasks[task]
        try:
            count = self.store.write(
                lambda c: reopen_questions(c, self.people[known.judge], task, *states, now=self.now)
            )
        except LateError:
            assert known.outcome is not None or self.now > known.deadline
        else:
            reopened = [one for one in self.of(task) if one.state in states]
            assert count == len(reopened)
            for one in reopened:
                one.state = "open"
                self.say(one, "undo", None)

    @precondition(lambda self: self.tasks)
    @rule(at=numbers)
    def give_in(self, at: int) -> None:
        task = sorted(self.tasks)[at % len(self.tasks)]
        known = self.tasks[task]
        try:
            state = self.store.write(lambda c: submit_task(c, self.people[known.judge], task, now=self.now))
        except ConflictError:
            assert known.outcome is None
            assert any(one.state == "open" for one in self.of(task))
        else:
            known.close(known.outcome or "handed_in", self.now)
            assert state.outcome == self.told_outcome(task)

    @precondition(lambda self: self.tasks)
    @rule(at=numbers)
    def put_aside(self, at: int) -> None:
        task = sorted(self.tasks)[at % len(self.tasks)]
        self.store.write(lambda c: set_aside_task(c, task, now=self.now))
        self.tasks[task].close("set_aside", self.now)
        for one in self.of(task):
            one.state = "set_aside" if one.state in ("open", "done") else one.state

    @rule()
    def sweep(self) -> None:
        freed = self.store.write(lambda c: release_expired(c, self.project.id, self.now))
        assert freed == self.expire()

    # What must hold after each of these

    @invariant()
    def the_store_is_as_the_model(self) -> None:
        counts = dict(rows(self.store, "SELECT id, given FROM item"))
        states = rows(self.store, "SELECT id, state, version FROM assignment ORDER BY id")
        history = "SELECT assignment, kind, answer FROM judgment WHERE version > 0 ORDER BY assignment, version"
        said = rows(self.store, history)
        ((late,),) = rows(self.store, "SELECT COUNT(*) FROM judgment WHERE version < 0")
        outcomes = dict(rows(self.store, "SELECT id, outcome FROM task"))
        assert all(count <= self.wanted for count in counts.values())
        assert counts == {item: self.count(item) for item in counts}
        assert states == [(at, one.state, len(one.said)) for at, one in sorted(self.given.items())]
        assert said == [(at, kind, answer) for at, one in sorted(self.given.items()) for kind, answer in one.said]
        assert late == sum(len(one.late) for one in self.given.values())
        assert outcomes == {at: one.outcome for at, one in self.tasks.items()}


@pytest.mark.slow
def test_whatever_judges_do_the_store_does_what_the_model_does() -> None:
    run_state_machine_as_test(Judging, settings=settings(max_examples=25, stateful_step_count=40))


@pytest.mark.slow
@pytest.mark.study
def test_the_same_for_longer() -> None:
    run_state_machine_as_test(Judging, settings=settings(max_examples=60, stateful_step_count=60))


def test_an_answer_to_a_question_that_the_judge_has_got_again_in_a_new_task_is_late(store: Store) -> None:
    where, ann = project(store, items=1, judges=2, lease_minutes=10), judge(store)
    before = question(store, begin(store, where, ann), ann)
    now = question(store, begin(store, where, ann, now=NOW + 1000), ann)
    assert before is not None
    assert now is not None
    assert say(store, ann, before, now=NOW + 1001).late
    assert not say(store, ann, now, now=NOW + 1002).late
    assert rows(store, "SELECT given FROM item") == [(1,)]
