"""Bodies with files: small files come as texts in JSON, others as a form with files, by the same rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from ringtrue.errors import UsageError
from ringtrue.messages import Note
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.web.api.schemas import MAX_FILES, FileText, RequestModel
from ringtrue.service.web.security import allow_large_body, read_form

if TYPE_CHECKING:
    from fastapi import Request

    from ringtrue.service.web.context import ServerContext

JSON_LIMIT = 5_000_000  # bytes: while JSON is parsed, nothing else runs
INTEGER_ADAPTER: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(strict=False)])
RequestT = TypeVar("RequestT", bound=RequestModel)


def encode_file(file: FileText) -> UploadedFile:
    """A file as the rest of the package takes it."""
    try:
        return UploadedFile(name=file.name, content=file.text.encode())
    except UnicodeEncodeError:
        raise UsageError(
            "lone-surrogate", "the text has half a character (a lone surrogate) in it", file=file.name
        ) from None


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


async def read_upload(
    request: Request, server: ServerContext, model: type[RequestT]
) -> tuple[RequestT, dict[str, list[UploadedFile]]]:
    """What was sent, and its files by field. Call it once it is known who sends: from here on, much may be sent."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = content_type == "application/json"
    allow_large_body(request, min(server.upload_limit, JSON_LIMIT) if is_json else server.upload_limit)
    if is_json:
        body = model.model_validate_json(await request.body())
        return body, {name: list(map(encode_file, _as_file_list(getattr(body, name)))) for name in _file_fields(model)}
    if content_type != "multipart/form-data":
        raise HTTPException(
            415,
            Note(
                "unsupported-body",
                f"expected application/json or multipart/form-data, found '{content_type or 'nothing'}'",
            ),
        )
    files: dict[str, list[UploadedFile]] = {name: [] for name in _file_fields(model)}
    plain_fields: dict[str, Any] = {}
    for name, submitted in (await read_form(request)).multi_items():
        if isinstance(submitted, UploadFile):
            if name not in files:
                raise UsageError("unexpected-file", f"no files are expected in '{name}'; there is {', '.join(files)}")
            files[name].append(UploadedFile(name=submitted.filename or name, content=await submitted.read()))
        elif name in files:
            raise UsageError("no-file-in-field", f"expected a file in '{name}', with a file name; found a plain field")
        else:
            plain_fields[name] = submitted
    return _validate_form(model, plain_fields, files), files


def _is_file(schema: dict[str, Any]) -> bool:
    return any(variant.get("$ref", "").endswith("/FileText") for variant in (schema, *schema.get("anyOf", ())))


def _file_fields(model: type[RequestModel]) -> list[str]:
    """The fields that hold files."""
    return [name for name, field in model.model_fields.items() if "FileText" in str(field.annotation)]


def _as_file_list(files: Any) -> list[FileText]:
    return [] if files is None else files if isinstance(files, list) else [files]


def _validate_form(
    model: type[RequestT], plain_fields: dict[str, Any], files: dict[str, list[UploadedFile]]
) -> RequestT:
    """The plain fields of a form, with stand-ins for its files, by the same rules as JSON."""
    stand_ins: dict[str, Any] = {}
    for name, field_files in files.items():
        is_list = str(model.model_fields[name].annotation).startswith("list")
        if is_list:
            stand_ins[name] = [{"name": "file", "text": ""} for _ in field_files]
        elif len(field_files) > 1:
            raise UsageError("several-files", f"expected one file, found {len(field_files)}", parameter=name)
        elif field_files:
            stand_ins[name] = {"name": "file", "text": ""}
    for name, text in plain_fields.items():
        field = model.model_fields.get(name)
        if field is not None and field.annotation is int:
            try:
                plain_fields[name] = INTEGER_ADAPTER.validate_python(text)
            except ValidationError:
                raise UsageError(
                    "not-a-whole-number", f"expected a whole number, found '{text[:80]}'", parameter=name
                ) from None
    return model.model_validate(plain_fields | stand_ins)
