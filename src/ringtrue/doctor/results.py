"""The answer of `examine`: files, how they overlap, and what can and cannot be asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

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
    notes: tuple[str, ...] = ()
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        role = {} if self.role is None else {"role": self.role}
        error = {} if self.error is None else {"error": self.error}
        known = {"path": self.path, "kind": self.kind, "format": self.form, "counts": dict(self.counts)}
        return {**known, **role, "notes": list(self.notes), **error}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A question that these files answer, and the command that asks it; `verb` is its name, `evaluate` or another."""

    verb: str
    question: str
    command: str
    why: str = ""

    def as_dict(self) -> dict[str, str]:
        """As plain data."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredQuestion:
    """A question that these files do not answer: what it `needs`, or `why` not, and what to do about it."""

    verb: str
    question: str
    needs: str = ""
    why: str = ""
    todo: str

    def as_dict(self) -> dict[str, str]:
        """As plain data."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What `examine` found: the files, in the order given, and what `can` and `cannot` be asked of them.

    Each of `can` has a question and the command that asks it; each of `cannot` a question, what it needs or why not,
    and what to do about it.

    Examples:
        >>> import ringtrue as rt
        >>> path = getfixture("tmp_path") / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d1 1 3.5 BM25\\n")
        >>> checkup = rt.examine(path)
        >>> checkup.files[0].kind, checkup.recognised
        ('run', True)
        >>> [question.needs for question in checkup.cannot if question.verb == "evaluate"]
        ['judgments: which documents are relevant']
    """

    files: tuple[FileSummary, ...]
    overlaps: tuple[Overlap, ...]
    can: tuple[Suggestion, ...]
    cannot: tuple[UnansweredQuestion, ...]

    @property
    def recognised(self) -> bool:
        """Whether there is a file that can be used."""
        return any(file.error is None for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "files": [file.as_dict() for file in self.files],
            "overlaps": [overlap.as_dict() for overlap in self.overlaps],
            "can": [suggestion.as_dict() for suggestion in self.can],
            "cannot": [unanswered.as_dict() for unanswered in self.cannot],
        }
