"""Tables as clients send them: JSON, a raw CSV body, or a form with a CSV file and options."""

from pathlib import Path, PureWindowsPath
from typing import Any

from anyio import to_thread
from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from core.tables.from_json import table_from_columns, table_from_records
from core.tables.raw_values import has_control_characters
from core.tables.table import Table
from service.api.bodies import body_to_disk, parse_json, read_form, require_media_type
from service.api.openapi import schema_named
from service.api.schemas.datasets import CsvText, DatasetForm, DatasetOptions, DatasetUpload
from service.api.validation import validated
from service.errors import InvalidParameter
from service.usecases.datasets.read_csv import read_csv

JSON, CSV, FORM = "application/json", "text/csv", "multipart/form-data"
FILE_TOKENS = ("", "?", "NA")
LONGEST_NAME = 200

# For `openapi_extra`: the body, which FastAPI does not know, because the route reads it by itself.
DOCUMENTED_BODIES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: schema_named(DatasetUpload),
            CSV: schema_named(CsvText),
            FORM: {
                **schema_named(DatasetForm),
                "encoding": {"file": {"contentType": CSV}, "options": {"contentType": JSON}},
            },
        },
    }
}


async def read_table(request: Request, folder: Path, *, largest_field: int) -> tuple[str | None, Table]:
    """The name given by the client, if any, and the table in the body; large files are in `folder` while being read."""
    match require_media_type(request, JSON, CSV, FORM):
        case "application/json":
            return await to_thread.run_sync(_from_json, await request.body())
        case "text/csv":
            with await body_to_disk(request, folder) as file:
                return None, await to_thread.run_sync(read_csv, file, {}, FILE_TOKENS)
        case _:
            form = await read_form(request, largest_field=largest_field)
            try:
                return await to_thread.run_sync(_from_form, form)
            finally:
                await form.close()


def _from_json(body: bytes) -> tuple[str | None, Table]:
    upload: DatasetUpload = validated(DatasetUpload, parse_json(body))
    tokens = frozenset(upload.missing_tokens or ())
    if upload.columns is not None:
        return upload.name, table_from_columns(upload.columns, upload.declarations(), tokens)
    assert upload.records is not None
    return upload.name, table_from_records(upload.records, upload.declarations(), tokens)


def _from_form(form: FormData) -> tuple[str | None, Table]:
    for part in form:
        if part not in ("file", "options") or len(form.getlist(part)) > 1:
            raise InvalidParameter(part, "the form takes one file and one options, nothing else", location="body")
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InvalidParameter("file", "the form needs a CSV file as its part file", location="body")
    options = _options(form.get("options"))
    tokens = FILE_TOKENS if options.missing_tokens is None else options.missing_tokens
    table = read_csv(file.file, options.declarations(), frozenset(tokens))
    return options.name or _file_name(file), table


def _options(part: UploadFile | str | None) -> DatasetOptions:
    if part is None:
        return DatasetOptions()
    sent = part.file.read() if isinstance(part, UploadFile) else part.encode()
    options: DatasetOptions = validated(DatasetOptions, parse_json(sent))
    return options


def _file_name(file: UploadFile) -> str:
    """The file's name without folders (separated by `/` or `\\`) and without control characters."""
    name = PureWindowsPath(file.filename or "").name
    return "".join(character for character in name if not has_control_characters(character))[:LONGEST_NAME]
