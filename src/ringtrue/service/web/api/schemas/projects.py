"""What is said about projects: how one is asked for, and how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ringtrue.errors import UsageError
from ringtrue.service.store.records import PREFERENCE, FailedTraps, Label, Scale
from ringtrue.service.web.api.file_uploads import FilesRequest
from ringtrue.service.web.api.schemas.common import WITHOUT_NUL, Answering, Asking, Choosing, Moment, Name

if TYPE_CHECKING:
    from ringtrue.service.collect.project_setup import Made
    from ringtrue.service.store.records import Project
    from ringtrue.service.web.api.token_auth import Caller

__all__ = [
    "Confirmation",
    "FileShown",
    "Imported",
    "ProjectChange",
    "ProjectMade",
    "ProjectRequest",
    "ProjectShown",
    "TakenBack",
    "made_of",
    "scale_of",
    "shown",
]

Title = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=WITHOUT_NUL)]
Guidelines = Annotated[str, StringConstraints(max_length=200_000, pattern=WITHOUT_NUL)]
Button = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=WITHOUT_NUL)]
SIDES = ("left", "right", "tie", "both_good", "both_bad")


class LabelRequest(Asking):
    """One of the answers. A label's value is its place, from 0, unless it is given; the worst comes first."""

    value: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,4}|left|right|tie|both_good|both_bad)$")] | None = None
    name: Button
    hint: Annotated[str, StringConstraints(max_length=200, pattern=WITHOUT_NUL)] = ""


class ScaleRequest(Asking):
    """How it is judged: `graded` labels with names, or which of two documents is better."""

    kind: Literal["graded", "preference"]
    labels: Annotated[list[LabelRequest], Field(min_length=2, max_length=10)] | None = None


class SettingsRequest(Asking):
    """How a project is judged; what is left out stays as it is."""

    judges: Annotated[int, Field(ge=1, le=1_000, description="How many judges each item gets.")] = 3
    task_size: Annotated[int, Field(ge=1, le=500)] = 20
    traps: Annotated[int, Field(ge=0, le=499)] = 5
    traps_needed: Annotated[int, Field(ge=0, le=499)] = 4
    failed_traps: FailedTraps = "flag"
    minutes: Annotated[int, Field(ge=1, le=1_440)] | None = 30
    lease_minutes: Annotated[int, Field(ge=1, le=43_200)] = 30
    shortcuts: bool = True
    highlight: bool = True
    html: bool = False
    together: bool = True
    active: bool = False


class ProjectRequest(FilesRequest):
    """A new project, with the files that it is made from; more can be added later."""

    name: Name
    title: Title
    scale: ScaleRequest
    settings: SettingsRequest = SettingsRequest()
    guidelines: Guidelines = ""


class ProjectChange(Asking):
    """What to change; what is left out stays."""

    title: Title | None = None
    guidelines: Guidelines | None = None
    settings: SettingsRequest | None = None
    closed: bool | None = None


class Confirmation(Choosing):
    """That it is meant."""

    confirm: Annotated[Name, Field(description="The name of the project once more.")]


class LabelShown(Answering):
    """One of the answers."""

    value: str
    name: str
    hint: str


class ScaleShown(Answering):
    """Which answers there are."""

    kind: Literal["graded", "preference"]
    labels: list[LabelShown]


class SettingsShown(Answering):
    """How a project is judged."""

    judges: int
    task_size: int
    traps: int
    traps_needed: int
    failed_traps: FailedTraps
    minutes: int | None
    lease_minutes: int
    shortcuts: bool
    highlight: bool
    html: bool
    together: bool
    active: bool


class ProjectShown(Answering):
    """A set of queries and documents to be judged on one scale; `roles` are those of whoever asks."""

    name: str
    title: str
    guidelines: str
    scale: ScaleShown
    settings: SettingsShown
    created: Moment
    closed: Moment | None
    roles: list[str]


class ProjectMade(Answering):
    """What files brought into a project: new items and traps, queries and documents with texts, and every doubt."""

    project: ProjectShown
    items: int
    queries: int
    documents: int
    traps: int
    notes: list[str]


class Imported(Answering):
    """What was imported: labels that are new, that were there already, and by how many judges."""

    new: int
    known: int
    judges: int
    notes: list[str]


class TakenBack(Answering):
    """How many labels were taken back, and how many items that were there for them alone."""

    labels: int
    items: int


class FileShown(Answering):
    """A file of a project; `size` is that of the file when it was sent, in bytes."""

    id: int
    kind: str
    name: str
    size: int
    time: Moment


def shown(project: Project, caller: Caller) -> dict[str, Any]:
    """A project as whoever asks sees it."""
    roles = sorted(caller.person.roles.get(project.id, frozenset()) | ({"owner"} if caller.person.owner else set()))
    return {
        "name": project.name, "title": project.title, "guidelines": project.guidelines, "scale": project.scale,
        "settings": project.settings, "created": project.created, "closed": project.closed, "roles": roles,
    }  # fmt: skip


def made_of(made: Made, caller: Caller) -> dict[str, Any]:
    """What files brought, as it is sent back."""
    return {
        "project": shown(made.project, caller), "items": made.items, "queries": made.queries,
        "documents": made.documents, "traps": made.traps, "notes": made.notes,
    }  # fmt: skip


def scale_of(wanted: ScaleRequest) -> Scale:
    """The scale that was asked for."""
    if wanted.labels is None:
        if wanted.kind == "graded":
            raise UsageError("a graded scale needs labels, the worst first: [{'name': 'Not relevant'}, …]")
        return PREFERENCE
    values = [label.value or str(place) for place, label in enumerate(wanted.labels)]
    if wanted.kind == "preference" and not {"left", "right"} <= set(values) <= set(SIDES):
        raise UsageError(f"answers about two documents are left, right, tie, both_good, both_bad; found {values}")
    return Scale(
        kind=wanted.kind,
        labels=tuple(
            Label(value=value, name=label.name, hint=label.hint)
            for value, label in zip(values, wanted.labels, strict=True)
        ),
    )
