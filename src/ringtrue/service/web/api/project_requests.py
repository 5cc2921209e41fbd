"""What is sent to make and change a project: its scale and settings, and its files.

Small files come as texts in JSON, others as a form with files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from ringtrue.errors import UsageError
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.store.records import PREFERENCE, SETTING_LIMITS, FailedTraps, Label, Scale
from ringtrue.service.web.api.schemas import NO_NUL_PATTERN, ProjectName, RequestModel
from ringtrue.service.web.security import allow_large_body, read_form

if TYPE_CHECKING:
    from fastapi import Request

    from ringtrue.service.web.context import ServerContext

T = TypeVar("T", bound=RequestModel)
Title = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL_PATTERN)]
Guidelines = Annotated[str, StringConstraints(max_length=200_000, pattern=NO_NUL_PATTERN)]
ButtonName = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=NO_NUL_PATTERN)]
PREFERENCE_ANSWERS = ("left", "right", "tie", "both_good", "both_bad")
MAX_FILES = 50  # files at once
Depth = Annotated[int, Field(ge=1, le=1_000, description="How deep runs are pooled.")]
INTEGER_ADAPTER: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(strict=False)])


class FileText(RequestModel):
    """A small file: its name, and its text."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
    text: str


class FilesRequest(RequestModel):
    """What is to be judged (`ask`: runs, a pool, a judged table, pairs), texts of queries and documents, and traps."""

    ask: list[FileText] = Field(default=[], max_length=MAX_FILES)
    topics: FileText | None = None
    documents: list[FileText] = Field(default=[], max_length=MAX_FILES)
    traps: FileText | None = None
    depth: Depth = 10


class ImportRequest(RequestModel):
    """Labels or preferences that exist already, with the names of their judges."""

    file: FileText


class LabelRequest(RequestModel):
    """One of the answers. A label's value is its place, from 0, unless it is given; the worst comes first."""

    value: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,4}|left|right|tie|both_good|both_bad)$")] | None = None
    name: ButtonName
    hint: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL_PATTERN)] = ""


class ScaleRequest(RequestModel):
    """How it is judged: `graded` labels with names, or which of two documents is better."""

    kind: Literal["graded", "preference"]
    labels: Annotated[list[LabelRequest], Field(min_length=2, max_length=10)] | None = None


def _limited(name: str, description: str | None = None) -> Any:
    """A field for a number of `Settings`, with its limits."""
    low, high = SETTING_LIMITS[name]
    return Field(ge=low, le=high, description=description)


class SettingsRequest(RequestModel):
    """How a project is judged; what is left out stays as it is."""

    judges: Annotated[int, _limited("judges", description="How many judges each item gets.")] = 3
    task_size: Annotated[int, _limited("task_size")] = 20
    traps: Annotated[int, _limited("traps")] = 5
    traps_needed: Annotated[int, _limited("traps_needed")] = 4
    failed_traps: FailedTraps = "flag"
    minutes: Annotated[int, _limited("minutes")] | None = 30
    lease_minutes: Annotated[int, _limited("lease_minutes")] = 30
    shortcuts: bool = True
    highlight: bool = True
    html: bool = False
    together: bool = True
    active: bool = False


class ProjectRequest(FilesRequest):
    """A new project, with the files that it is made from; more can be added later."""

    name: ProjectName
    title: Title
    scale: ScaleRequest
    settings: SettingsRequest = SettingsRequest()
    guidelines: Guidelines = ""


class ProjectChangeRequest(RequestModel):
    """What to change; what is left out stays."""

    title: Title | None = None
    guidelines: Guidelines | None = None
    settings: SettingsRequest | None = None
    closed: bool | None = None


def make_scale(requested: ScaleRequest) -> Scale:
    """The scale that was asked for."""
    if requested.labels is None:
        if requested.kind == "graded":
            raise UsageError("a graded scale needs labels, the worst first: [{'name': 'Not relevant'}, …]")
        return PREFERENCE
    values = [label.value or str(position) for position, label in enumerate(requested.labels)]
    if requested.kind == "preference" and not {"left", "right"} <= set(values) <= set(PREFERENCE_ANSWERS):
        raise UsageError(f"answers about two documents are left, right, tie, both_good, both_bad; found {values}")
    return Scale(
        kind=requested.kind,
        labels=tuple(
            Label(value=value, name=label.name, hint=label.hint)
            for value, label in zip(values, requested.labels, strict=True)
        ),
    )


def encode_file(file: FileText) -> UploadedFile:
    """A file as the rest of the package takes it."""
    try:
        return UploadedFile(name=file.name, content=file.text.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{file.name}: the text has half a character (a lone surrogate) in it") from None


def encode_file_or_none(file: FileText | None) -> UploadedFile | None:
    """The same, where there may be none."""
    return None if file is None else encode_file(file)


def describe_upload_body(model: type[RequestModel]) -> dict[str, Any]:
    """How OpenAPI describes a body that is JSON or a form with files."""
    json_schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    json_schema.pop("$defs")  # FileText, which other bodies bring along
    fields: dict[str, Any] = {}
    for name, property_schema in json_schema["properties"].items():
        if _is_file(property_schema):
            fields[name] = {"type": "string", "format": "binary"}
        elif _is_file(property_schema.get("items", {})):
            fields[name] = {"type": "array", "maxItems": MAX_FILES, "items": {"type": "string", "format": "binary"}}
        else:
            fields[name] = {key: keyword_value for key, keyword_value in property_schema.items() if key != "title"}
    form = {"type": "object", "properties": fields, "additionalProperties": False}
    if "required" in json_schema:
        form["required"] = json_schema["required"]
    content = {"application/json": {"schema": json_schema}, "multipart/form-data": {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


def _is_file(schema: dict[str, Any]) -> bool:
    return any(variant.get("$ref", "").endswith("/FileText") for variant in (schema, *schema.get("anyOf", ())))


async def read_upload(
    request: Request, server: ServerContext, model: type[T]
) -> tuple[T, dict[str, list[UploadedFile]]]:
    """What was sent, and its files by field. Call it once it is known who sends: from here on, much may be sent."""
    allow_large_body(request, server.upload_limit)
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == "application/json":
        body = model.model_validate_json(await request.body())
        return body, {name: list(map(encode_file, _as_file_list(getattr(body, name)))) for name in _file_fields(model)}
    if content_type != "multipart/form-data":
        raise HTTPException(
            415, f"expected application/json or multipart/form-data, found '{content_type or 'nothing'}'"
        )
    files: dict[str, list[UploadedFile]] = {name: [] for name in _file_fields(model)}
    plain_fields: dict[str, Any] = {}
    for name, submitted in (await read_form(request)).multi_items():
        if isinstance(submitted, UploadFile):
            if name not in files:
                raise UsageError(f"no files are expected in '{name}'; there is {', '.join(files)}")
            files[name].append(UploadedFile(name=submitted.filename or name, content=await submitted.read()))
        elif name in files:
            raise UsageError(f"expected a file in '{name}', with a file name; found a plain field")
        else:
            plain_fields[name] = submitted
    return _validate_form(model, plain_fields, files), files


def _file_fields(model: type[RequestModel]) -> list[str]:
    """The fields that hold files."""
    return [name for name, field in model.model_fields.items() if "FileText" in str(field.annotation)]


def _as_file_list(files: Any) -> list[FileText]:
    return [] if files is None else files if isinstance(files, list) else [files]


def _validate_form(model: type[T], plain_fields: dict[str, Any], files: dict[str, list[UploadedFile]]) -> T:
    """The plain fields of a form, with stand-ins for its files, by the same rules as JSON."""
    stand_ins: dict[str, Any] = {}
    for name, field_files in files.items():
        is_list = str(model.model_fields[name].annotation).startswith("list")
        if is_list:
            stand_ins[name] = [{"name": "file", "text": ""} for _ in field_files]
        elif len(field_files) > 1:
            raise UsageError(f"expected one file in '{name}', found {len(field_files)}")
        elif field_files:
            stand_ins[name] = {"name": "file", "text": ""}
    for name, text in plain_fields.items():
        field = model.model_fields.get(name)
        if field is not None and field.annotation is int:
            try:
                plain_fields[name] = INTEGER_ADAPTER.validate_python(text)
            except ValidationError:
                raise UsageError(f"expected a whole number in '{name}', found '{text[:80]}'") from None
    return model.model_validate(plain_fields | stand_ins)
