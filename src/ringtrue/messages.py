"""Messages as data: a note has a code and a sentence, and what to do next is an argument that each front end spells.

Statistics say what is the matter. What a person can do about it is a `Suggestion`: arguments by their Python names, of
the call at hand or of another public function. A front end hands over a `Spelling`, and `spell` writes the whole
sentence its way: `--bronze-rel 1`, `bronze_rel=1`, or the label of the field on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Protocol, Self, TypeAlias

Argument: TypeAlias = str | int | float | bool | range | tuple[int, int] | Mapping[str, str] | EllipsisType | None


class Suggestion:
    """Something to do next: arguments of the call at hand, or of the public function that is named.

    `...` stands for a value that only the user knows, `None` and `False` for leaving an argument out. `purpose` is what
    it does, as a verb phrase.

    Examples:
        >>> print(Suggestion("counts only the last", repeats="last"))
        repeats='last' counts only the last
        >>> print(Suggestion("draws whole queries", function="sample_queries", queries=20, measures="nDCG@10"))
        `rt.sample_queries(…, queries=20, measures='nDCG@10')` draws whole queries
    """

    __slots__ = ("arguments", "function", "purpose")

    def __init__(self, purpose: str = "", *, function: str = "", **arguments: Argument) -> None:
        self.purpose = purpose
        self.function = function
        self.arguments = arguments

    def __str__(self) -> str:
        return join_hints([self], PYTHON)

    @property
    def omits(self) -> bool:
        """Whether it is to leave arguments of the call at hand out."""
        values = self.arguments.values()
        return bool(values) and not self.function and all(value is None or value is False for value in values)

    def __repr__(self) -> str:
        return f"Suggestion({self.purpose!r}, function={self.function!r}, **{self.arguments!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Suggestion) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.purpose, self.function, tuple(sorted((name, repr(value)) for name, value in self.arguments.items()))


class Spelling(Protocol):
    """How a front end writes what its users can set; empty where it has no such thing."""

    def suggestion(self, suggestion: Suggestion) -> str:
        """The arguments of a suggestion, or the call."""

    def parameter(self, name: str) -> str:
        """One parameter of the call at hand."""


class _Python:
    """Arguments as they are written in a call from Python."""

    def suggestion(self, suggestion: Suggestion) -> str:
        arguments = ", ".join(f"{name}={_as_literal(value)}" for name, value in suggestion.arguments.items())
        if not suggestion.function:
            return arguments
        return f"`rt.{suggestion.function}({', '.join(['…', arguments] if arguments else ['…'])})`"

    def parameter(self, name: str) -> str:
        return name


PYTHON: Spelling = _Python()


def _as_literal(value: Argument) -> str:
    return "…" if value is ... else repr(value)


class Note(str):
    """A caveat that travels with a result: a sentence that also has a code, and data on what it is about.

    It is the sentence as a Python user reads it. `code` has one meaning, which `docs/reference/errors.md` explains;
    `text` is what is the matter; `subject` what it is about, such as a run, a file or a measure; `parameter` the
    argument that it concerns; `suggestions` what can be done. Programs look at the code: nobody takes a sentence apart.

    Examples:
        >>> note = Note("few-gold", "only 12 gold labels", suggestions=[Suggestion("draws more", budget=100)])
        >>> print(note.about("bm25"))
        bm25: only 12 gold labels; budget=100 draws more
        >>> note.code
        'few-gold'
    """

    __slots__ = ("code", "parameter", "subject", "suggestions", "text")
    code: str
    text: str
    parameter: str | None
    subject: str | None
    suggestions: tuple[Suggestion, ...]

    def __new__(  # noqa: D102 - the class says it
        cls,
        code: str,
        text: str,
        *,
        parameter: str | None = None,
        subject: str | None = None,
        suggestions: Iterable[Suggestion] = (),
    ) -> Self:
        sentence = text if subject is None else f"{subject}: {text}"
        offered = tuple(suggestions)
        note = super().__new__(cls, add_hints(sentence, offered, PYTHON))
        for name, value in zip(cls.__slots__, (code, parameter, subject, offered, text), strict=True):
            object.__setattr__(note, name, value)
        return note

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a note does not change; `changed` makes another one (found {name}={value!r})")

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.code, self.text), {
            "parameter": self.parameter,
            "subject": self.subject,
            "suggestions": self.suggestions,
        }

    def __getstate__(self) -> None:
        """Nothing beside the arguments of `__new__`: so it is pickled and copied."""

    @property
    def sentence(self) -> str:
        """What it is about and what is the matter, without what to do."""
        return self.text if self.subject is None else f"{self.subject}: {self.text}"

    def changed(self, **changes: Any) -> Note:
        """The same note with other fields."""
        (code, text), fields = self.__getnewargs_ex__()
        return Note(**({"code": code, "text": text} | fields | changes))

    def about(self, subject: str) -> Note:
        """The same note, said of this: a run, a file, a measure; what it was about already comes behind."""
        return self.changed(subject=subject if self.subject is None else f"{subject}: {self.subject}")

    def renamed(self, names: Mapping[str, str | None]) -> Note:
        """The same note where a caller's parameters have other names; what it does not have (None) is not suggested."""
        parameter = names.get(self.parameter, self.parameter) if self.parameter else None
        suggestions = []
        for suggestion in self.suggestions:
            new_names = {} if suggestion.function else names
            arguments = {new_names.get(name, name): value for name, value in suggestion.arguments.items()}
            if None not in arguments:
                suggestions.append(Suggestion(suggestion.purpose, function=suggestion.function, **arguments))  # type: ignore[arg-type]
        return self.changed(parameter=parameter, suggestions=suggestions)


def notes_as_dict(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Notes for JSON: the sentences, and beside them as many codes.

    Examples:
        >>> notes_as_dict([Note("few-gold", "only 12 gold labels")])
        {'notes': ['only 12 gold labels'], 'note_codes': ['few-gold']}
    """
    listed = list(notes)
    return {"notes": [*listed], "note_codes": [note.code for note in listed]}


def spell(note: Note, spelling: Spelling) -> str:
    """The whole sentence as the users of a front end read it."""
    return add_hints(note.sentence, note.suggestions, spelling)


def spell_all(part: Any, spelling: Spelling) -> Any:
    """Plain data with every note in it as the sentence that a front end prints."""
    if isinstance(part, Note):
        return spell(part, spelling)
    if isinstance(part, Mapping):
        return {name: spell_all(inner, spelling) for name, inner in part.items()}
    return [spell_all(inner, spelling) for inner in part] if isinstance(part, list | tuple) else part


def add_hints(sentence: str, suggestions: Iterable[Suggestion], spelling: Spelling) -> str:
    """A sentence, and behind it those suggestions that can be spelled."""
    hints = join_hints(suggestions, spelling)
    if not hints:
        return sentence
    return f"{sentence} {hints}" if sentence.endswith("?") else f"{sentence}; {hints}"


def join_hints(suggestions: Iterable[Suggestion], spelling: Spelling) -> str:
    """What can be set, each with what it does; what has no words of its own shares those of the next one.

    Examples:
        >>> keep = [Suggestion(repeats="first"), Suggestion("keeps one", repeats="last")]
        >>> join_hints([*keep, Suggestion("takes all", judges="average")], PYTHON)
        "repeats='first' or repeats='last' keeps one, or judges='average' takes all"
        >>> join_hints([Suggestion(rel=1), Suggestion(bronze_rel=None)], PYTHON)
        'use rel=1 or leave out bronze_rel'
    """
    spelled = [(suggestion, _spell_choice(suggestion, spelling)) for suggestion in suggestions]
    offered = [(suggestion, words) for suggestion, words in spelled if words]
    explained = any(suggestion.purpose for suggestion, _ in offered)
    joined, before = "", ""
    for place, (suggestion, words) in enumerate(offered):
        verb = ("leaving out " if explained else "leave out ") if suggestion.omits else "" if explained else "use "
        repeats_verb = place > 0 and not explained and suggestion.omits == offered[place - 1][0].omits
        joined += before + ("" if repeats_verb else verb) + f"{words} {suggestion.purpose}".rstrip()
        before = ", or " if suggestion.purpose else " or "
    return joined


def _spell_choice(suggestion: Suggestion, spelling: Spelling) -> str:
    if not suggestion.omits:
        return spelling.suggestion(suggestion)
    names = [spelling.parameter(name) for name in suggestion.arguments]
    return " and ".join(names) if all(names) else ""


@dataclass(frozen=True, slots=True)
class Call:
    """A command, the files that it is given first, and its other arguments by their names in Python.

    `purpose` is what it does, as a verb phrase.

    Examples:
        >>> print(Call("agree", ["llm.qrels"], {"gold": "human.qrels"}))
        agree('llm.qrels', gold='human.qrels')
    """

    command: str
    files: Sequence[str] = ()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    purpose: str = ""

    def __str__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.arguments.items()]
        return f"{self.command}({', '.join([*map(repr, self.files), *named])})"

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"command": self.command, "files": list(self.files), "arguments": dict(self.arguments)}


class CallSpelling(Protocol):
    """How a front end writes a call, and what can be set in it."""

    def call(self, call: Call) -> str:
        """The whole call."""

    def arguments_of(self, command: str | None) -> Spelling:
        """How it writes the arguments of a command, or, where none is named, those about reading files."""


class _PythonCalls:
    """Calls as they are written in Python."""

    def __repr__(self) -> str:
        return "PYTHON_CALLS"

    def call(self, call: Call) -> str:
        return str(call)

    def arguments_of(self, command: str | None) -> Spelling:  # noqa: ARG002 - they are written alike
        return PYTHON


PYTHON_CALLS: CallSpelling = _PythonCalls()
