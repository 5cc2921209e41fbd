"""Files that a program sends: small ones as texts in JSON, others as a form with files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from ringtrue.errors import UsageError
from ringtrue.service.collect.uploads import GivenFile
from ringtrue.service.web.api.schemas.common import Asking
from ringtrue.service.web.security import allow, form_of

if TYPE_CHECKING:
    from fastapi import Request

    from ringtrue.service.web.context import Site

__all__ = ["FileText", "FilesRequest", "ImportRequest", "body_of", "files_of", "given", "given_or_none"]

T = TypeVar("T", bound=Asking)
MOST = 50  # files at once
Depth = Annotated[int, Field(ge=1, le=1_000, description="How deep runs are pooled.")]
NUMBERS: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(strict=False)])


class FileText(Asking):
    """A small file: its name, and its text."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
    text: str


class FilesRequest(Asking):
    """What is to be judged (`ask`: runs, a pool, a judged table, pairs), texts of queries and documents, and traps."""

    ask: list[FileText] = Field(default=[], max_length=MOST)
    topics: FileText | None = None
    documents: list[FileText] = Field(default=[], max_length=MOST)
    traps: FileText | None = None
    depth: Depth = 10


class ImportRequest(Asking):
    """Labels or preferences that exist already, with the names of their judges."""

    file: FileText


def given(file: FileText) -> GivenFile:
    """A file as the rest of the package takes it."""
    try:
        return GivenFile(name=file.name, content=file.text.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{file.name}: the text has half a character (a lone surrogate) in it") from None


def given_or_none(file: FileText | None) -> GivenFile | None:
    """The same, where there may be none."""
    return None if file is None else given(file)


def body_of(model: type[Asking]) -> dict[str, Any]:
    """How OpenAPI describes a body that is JSON or a form with files."""
    json_schema = model.model_json_schema()
    fields: dict[str, Any] = {}
    for name, one in json_schema["properties"].items():
        if _is_file(one):
            fields[name] = {"type": "string", "format": "binary"}
        elif _is_file(one.get("items", {})):
            fields[name] = {"type": "array", "maxItems": MOST, "items": {"type": "string", "format": "binary"}}
        else:
            fields[name] = {key: value for key, value in one.items() if key != "title"}
    form = {"type": "object", "properties": fields, "additionalProperties": False}
    if "required" in json_schema:
        form["required"] = json_schema["required"]
    sent = {"$ref": f"#/components/schemas/{model.__name__}"}
    content = {"application/json": {"schema": sent}, "multipart/form-data": {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


def _is_file(schema: dict[str, Any]) -> bool:
    return any(one.get("$ref", "").endswith("/FileText") for one in (schema, *schema.get("anyOf", ())))


async def files_of(request: Request, site: Site, model: type[T]) -> tuple[T, dict[str, list[GivenFile]]]:
    """What was sent, and its files by field. Call it once it is known who sends: from here on, much may be sent."""
    allow(request, site.upload_limit)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        sent = model.model_validate_json(await request.body())
        return sent, {name: list(map(given, _listed(getattr(sent, name)))) for name in _fields(model)}
    if kind != "multipart/form-data":
        raise HTTPException(415, f"expected application/json or multipart/form-data, found '{kind or 'nothing'}'")
    files: dict[str, list[GivenFile]] = {name: [] for name in _fields(model)}
    plain: dict[str, Any] = {}
    for name, value in (await form_of(request)).multi_items():
        if isinstance(value, UploadFile):
            if name not in files:
                raise UsageError(f"no files are expected in '{name}'; there is {', '.join(files)}")
            files[name].append(GivenFile(name=value.filename or name, content=await value.read()))
        elif name in files:
            raise UsageError(f"expected a file in '{name}', with a file name; found a plain field")
        else:
            plain[name] = value
    return _checked(model, plain, files), files


def _fields(model: type[Asking]) -> list[str]:
    """The fields that hold files."""
    return [name for name, field in model.model_fields.items() if "FileText" in str(field.annotation)]


def _listed(value: Any) -> list[FileText]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _checked(model: type[T], plain: dict[str, Any], files: dict[str, list[GivenFile]]) -> T:
    """The plain fields of a form, with stand-ins for its files, by the same rules as JSON."""
    stand_ins: dict[str, Any] = {}
    for name, some in files.items():
        several = str(model.model_fields[name].annotation).startswith("list")
        if several:
            stand_ins[name] = [{"name": "file", "text": ""} for _ in some]
        elif len(some) > 1:
            raise UsageError(f"expected one file in '{name}', found {len(some)}")
        elif some:
            stand_ins[name] = {"name": "file", "text": ""}
    for name, value in plain.items():
        field = model.model_fields.get(name)
        if field is not None and field.annotation is int:
            try:
                plain[name] = NUMBERS.validate_python(value)
            except ValidationError:
                raise UsageError(f"expected a whole number in '{name}', found '{value[:80]}'") from None
    return model.model_validate(plain | stand_ins)
