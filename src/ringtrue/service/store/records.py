"""What the store hands out and takes: scales, settings, and what a judge sees."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Literal, NamedTuple, TypeAlias, get_args

from ringtrue.errors import UsageError, did_you_mean

MAX_ID = 2**63 - 1  # number of anything in the database
Queue: TypeAlias = Literal["main", "gold"]
Role: TypeAlias = Literal["judge", "gold", "viewer"]
AccountKind: TypeAlias = Literal["named", "crowd", "imported"]
ScaleKind: TypeAlias = Literal["graded", "preference"]
FailedTraps: TypeAlias = Literal["flag", "set_aside"]
FLIPPED = {"left": "right", "right": "left"}  # an answer when the two documents change sides
SETTING_LIMITS = {  # the least and the most; of traps there are fewer than questions, and no more are needed
    "judges": (1, 1000),
    "task_size": (1, 500),
    "traps": (0, 499),
    "traps_needed": (0, 499),
    "minutes": (1, 60 * 24),
    "lease_minutes": (1, 60 * 24 * 30),
    "completion_seconds": (0, 3600),
}
SHARES = ("completion_answered", "completion_unsure")
TRAP_SETTINGS = ("traps", "traps_needed", "failed_traps", "completion_traps")  # shown to owners and viewers only


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One of the answers: what is stored, what the button says, and a word of explanation."""

    value: str
    name: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Which answers there are: labels from worst to best, or which of two documents is better.

    Examples:
        >>> Scale.graded("Not relevant", "Relevant").labels[1].value
        '1'
        >>> [label.value for label in PREFERENCE.labels]
        ['left', 'right', 'both_good', 'both_bad']
    """

    kind: ScaleKind
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise UsageError("short-scale", f"a scale needs at least two answers, found {len(self.labels)}")
        values = [label.value for label in self.labels]
        if len(set(values)) < len(values):
            raise UsageError(
                "repeated-scale-value", f"each answer of a scale needs a value of its own, found {', '.join(values)}"
            )
        for label in self.labels:
            if self.kind == "graded" and not label.value.isdigit():
                raise UsageError("bad-scale-label", f"a label is a whole number from 0 on, found '{label.value}'")
            if not label.name.strip():
                raise UsageError("unnamed-answer", f"the answer '{label.value}' has no name: say what its button shows")

    @classmethod
    def graded(cls, *names: str) -> Scale:
        """Labels 0, 1, … by their names, the worst first."""
        return cls(
            kind="graded", labels=tuple(Label(value=str(number), name=name) for number, name in enumerate(names))
        )

    def require_answer(self, answer: str) -> None:
        """Refuse an answer that is none of these."""
        answers = [label.value for label in self.labels]
        if answer not in answers:
            near = did_you_mean(answer, answers) or f"; there is {', '.join(answers)}"
            raise UsageError("unknown-answer", f"no answer '{answer}' on this scale{near}", parameter="answer")

    def name_of(self, answer: str) -> str:
        """What the button of an answer says; the answer itself where it came from elsewhere."""
        return next((label.name for label in self.labels if label.value == answer), answer)

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Scale:
        """From JSON."""
        fields_by_name = json.loads(text)
        return cls(kind=fields_by_name["kind"], labels=tuple(Label(**label) for label in fields_by_name["labels"]))


PREFERENCE = Scale(
    kind="preference",
    labels=(
        Label(value="left", name="Left"),
        Label(value="right", name="Right"),
        Label(value="both_good", name="Equally good"),
        Label(value="both_bad", name="Equally bad"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a project is judged.

    `judges` is the number of judges wanted for each item. A task has `task_size` items, `traps` of them with a known
    answer; with fewer than `traps_needed` right, the task is flagged or set aside (then its items are given out
    again). `minutes` is the time limit of a task, None without one; a judge who does nothing for `lease_minutes`
    loses the items that are still open to others. `together` keeps the documents of a query side by side. `highlight`
    marks the words of the query in the documents.

    A crowd worker earns the completion code when the share `completion_answered` of a task's questions is answered;
    "can't tell" counts as answered up to the share `completion_unsure`, skipping never. `completion_traps` asks for
    as many traps right as `traps_needed` says, `completion_seconds` for so many recorded seconds a question.

    Examples:
        >>> Settings(judges=2).task_size
        20
    """

    judges: int = 3
    task_size: int = 20
    traps: int = 5
    traps_needed: int = 4
    failed_traps: FailedTraps = "flag"
    minutes: int | None = 30
    lease_minutes: int = 30
    shortcuts: bool = True
    highlight: bool = False
    html: bool = False
    together: bool = True
    active: bool = False
    completion_answered: float = 1.0
    completion_unsure: float = 0.25
    completion_traps: bool = False
    completion_seconds: int = 0

    def __post_init__(self) -> None:
        limits = SETTING_LIMITS | {"traps": (0, self.task_size - 1), "traps_needed": (0, self.traps)}
        shortest, longest = limits.pop("minutes")
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise UsageError(
                    "bad-setting", f"expected a whole number from {low} to {high}, found {value!r}", parameter=name
                )
        if self.minutes is not None and not shortest <= self.minutes <= longest:
            raise UsageError(
                "bad-setting",
                f"expected from {shortest} to {longest} minutes, or none, found {self.minutes!r}",
                parameter="minutes",
            )
        for name in SHARES:
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise UsageError("bad-setting", f"expected a share from 0 to 1, found {share!r}", parameter=name)
        if self.failed_traps not in get_args(FailedTraps):
            raise UsageError(
                "bad-setting", f"expected flag or set_aside, found {self.failed_traps!r}", parameter="failed_traps"
            )

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """From JSON; a setting that a newer version wrote is left out."""
        field_names = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in json.loads(text).items() if key in field_names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A set of queries and documents to be judged on one scale."""

    id: int
    name: str
    title: str
    guidelines: str
    scale: Scale
    settings: Settings
    created: float
    closed: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is there: an account, and what it may do in each project (project id → roles)."""

    id: int
    handle: str
    name: str | None
    kind: AccountKind
    owner: bool
    roles: dict[int, frozenset[str]]

    def may(self, role: str, project: int) -> bool:
        """Whether the person has this role in a project; an owner sees everything, and judges where invited."""
        return role in self.roles.get(project, frozenset()) or (self.owner and role in ("owner", "viewer"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """A document as a judge sees it: no rank, no system, no score."""

    name: str
    title: str | None
    url: str | None
    snippet: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """One question on the judge's screen; `right` is there for pairs. Nothing tells a trap from the others.

    `version` is the number of answers so far: it comes back with the answer, so that one that was given twice, in two
    tabs or by the back button, is told from a new one. `answer` is the one that counts now, where there is one.
    """

    assignment: int
    version: int
    place: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: ShownDocument
    right: ShownDocument | None
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a judge says about one question: an answer, or `unsure` with a reason, or `skip`.

    `seconds` and `away` are what the judge's side measured; `shown` is when the server showed the question, where it
    knows. It bounds both, as does the last thing that was recorded in the task.
    """

    kind: Literal["answer", "unsure", "skip"] = "answer"
    answer: str | None = None
    reason: str | None = None
    seconds: float | None = None
    away: float | None = None
    shown: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """How far a judge is in a task: `open` questions are left of `size`. Traps are counted like the others.

    It is what the judge may know: a task that was set aside looks as if it counted, handed in or expired.
    """

    id: int
    project: int
    queue: str
    size: int
    open: int
    opened: float
    leased: float
    deadline: float | None
    closed: float | None
    outcome: str | None
    code: str | None


class SubmittedAnswer(NamedTuple):
    """An answer, and the question that it belongs to as it was shown."""

    assignment: int
    version: int
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnswer:
    """What became of an answer.

    A `repeated` one was there already. A `late` one came after the time of the task, or after its place was given to
    another judge: it is kept, and does not count.
    """

    task: TaskState
    late: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnswers:
    """What became of several answers: which questions' were late, and which were there already."""

    task: TaskState
    late: tuple[int, ...]
    repeated: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a project is: items of a queue, judgments wanted of them, done and being made."""

    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int
    skipped: int
    judges: int


def swap_sides(answer: str, flipped: bool) -> str:
    """The answer when the two documents change sides, if they do."""
    return FLIPPED.get(answer, answer) if flipped else answer
