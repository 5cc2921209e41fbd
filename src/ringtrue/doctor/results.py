"""The answer of `examine`: files, how they overlap, and what can and cannot be asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ringtrue.messages import PYTHON_CALLS, Call, CallSpelling, Note, notes_as_dict, spell, spell_all

FileKind: TypeAlias = Literal[
    "run", "judgments", "gold", "sample", "preferences", "pairs", "pool", "topics", "documents", "confusion", "gains",
    "scores", "frame",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """What a file is: its kind, numbers about it, and every doubt.

    `kind` is None where that cannot be told, and `error` then says why. A file of a known kind that cannot be used has
    an error too. `gold` is a sample with labels, as `ringtrue sample` draws it and gold fills it in; `sample` one that
    still waits for labels, and `frame` what it could be drawn from. `role` says what judgments are taken for: gold,
    bronze, crowd or traps.
    """

    path: str
    kind: FileKind | None
    form: str | None = None
    role: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    error: Note | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        role = {} if self.role is None else {"role": self.role}
        error = {} if self.error is None else {"error": self.error, "error_code": self.error.code}
        known = {"path": self.path, "kind": self.kind, "format": self.form, "counts": dict(self.counts)}
        return {**known, **role, **notes_as_dict(self.notes), **error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """What a run and a file of judgments share.

    `queries` both have; `not_judged` only the run, `not_run` only the judgments. `judged` of the `top` documents that
    the run has among its first ten in the shared queries have a label.
    """

    run: str
    judgments: str
    queries: int
    not_judged: int
    not_run: int
    top: int
    judged: int

    @property
    def share(self) -> float | None:
        """The share of the top documents that are judged; None where the two share no query."""
        return self.judged / self.top if self.top else None

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "run": self.run,
            "judgments": self.judgments,
            "queries": self.queries,
            "queries_not_judged": self.not_judged,
            "queries_not_in_run": self.not_run,
            "top_documents": self.top,
            "judged": self.judged,
            "judged_share": self.share,
        }


def name_verb(command: str, argument: str, spelling: CallSpelling = PYTHON_CALLS) -> str:
    """What a question is called: the command, and the argument that makes it answer this one.

    Examples:
        >>> name_verb("agree", ""), name_verb("evaluate", "gold")
        ('agree', 'evaluate gold')
    """
    return f"{command} {spelling.arguments_of(command).parameter(argument)}" if argument else command


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerableQuestion:
    """A question that these files answer, and the `call` that asks it.

    `verb` is its name: the command, and the `argument` that makes it answer this one, if it answers several.
    """

    question: str
    call: Call
    argument: str = ""
    why: str = ""

    @property
    def verb(self) -> str:
        """Its name, such as `evaluate`."""
        return name_verb(self.call.command, self.argument)

    def as_dict(self, spelling: CallSpelling = PYTHON_CALLS) -> dict[str, Any]:
        """As plain data."""
        why = {"why": self.why} if self.why else {}
        command = {"command": spelling.call(self.call), "call": self.call.as_dict()}
        verb = name_verb(self.call.command, self.argument, spelling)
        return {"verb": verb, "question": self.question, **command, **why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """What keeps a question from being asked: a `reason`, which is something missing or a refusal, and what to do.

    `advice` is said of the files, and each of `calls` helps by its purpose.
    """

    reason: Note
    is_refusal: bool = False
    advice: str = ""
    calls: tuple[Call, ...] = ()

    def todo(self, spelling: CallSpelling = PYTHON_CALLS) -> str:
        """What to do about it."""
        hints = ", or ".join(f"`{spelling.call(call)}` {call.purpose}" for call in self.calls)
        return "; ".join(filter(None, (self.advice, hints)))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredQuestion:
    """A question that these files do not answer: what it `needs`, or `why` not, and what to do about it."""

    command: str
    question: str
    obstacle: Obstacle
    argument: str = ""

    @property
    def verb(self) -> str:
        """Its name: the command, and the argument that makes it answer this question, if it answers several."""
        return name_verb(self.command, self.argument)

    @property
    def needs(self) -> Note | None:
        """What is missing."""
        return None if self.obstacle.is_refusal else self.obstacle.reason

    @property
    def why(self) -> Note | None:
        """Why it was tried in vain."""
        return self.obstacle.reason if self.obstacle.is_refusal else None

    @property
    def todo(self) -> str:
        """What to do about it."""
        return self.obstacle.todo()

    def as_dict(self, spelling: CallSpelling = PYTHON_CALLS) -> dict[str, Any]:
        """As plain data."""
        reason = self.obstacle.reason
        return {
            "verb": name_verb(self.command, self.argument, spelling),
            "question": self.question,
            "why" if self.obstacle.is_refusal else "needs": spell(reason, spelling.arguments_of(self.command)),
            "code": reason.code,
            "todo": self.obstacle.todo(spelling),
            "calls": [call.as_dict() | {"purpose": call.purpose} for call in self.obstacle.calls],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What `examine` found: the files, in the order given, and what `can` and `cannot` be asked of them.

    Each of `can` has a question and the call that asks it; each of `cannot` a question, what it needs or why not, and
    what to do about it.

    Examples:
        >>> import ringtrue as rt
        >>> path = getfixture("tmp_path") / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d1 1 3.5 BM25\\n")
        >>> checkup = rt.examine(path)
        >>> checkup.files[0].kind, checkup.recognised
        ('run', True)
        >>> print(checkup.can[0].call)
        pool('...bm25.run', depth=10, output='pool...csv')
        >>> [question.needs for question in checkup.cannot if question.verb == "evaluate"]
        ['judgments: which documents are relevant']
    """

    files: tuple[FileSummary, ...]
    overlaps: tuple[Overlap, ...]
    can: tuple[AnswerableQuestion, ...]
    cannot: tuple[UnansweredQuestion, ...]

    @property
    def recognised(self) -> bool:
        """Whether there is a file that can be used."""
        return any(file.error is None for file in self.files)

    def as_dict(self, spelling: CallSpelling = PYTHON_CALLS) -> dict[str, Any]:
        """As plain data, with every call as a front end writes it."""
        return {
            "files": spell_all([file.as_dict() for file in self.files], spelling.arguments_of(None)),
            "overlaps": [overlap.as_dict() for overlap in self.overlaps],
            "can": [question.as_dict(spelling) for question in self.can],
            "cannot": [question.as_dict(spelling) for question in self.cannot],
        }
