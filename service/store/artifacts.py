"""Dataset files: each table is an Arrow file, named by the digest of the table's content.

    <data_dir>/datasets/3f/3f5a….arrow      the digest's first two hex digits, then all of it
    <data_dir>/temporary/…                  files still being written

A file appears under its name completely or not at all: it is written elsewhere, flushed to the disk and renamed.
"""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import IOBase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import MISSING_CODE, Column, Table, is_missing

FORMAT = 1
DAY_SECONDS = 24 * 3600.0

DIGEST_PREFIX = "sha256:"
_METADATA_KEY = b"niwaki"
_ROWS_PER_BATCH = 1 << 20


@dataclass(frozen=True, slots=True)
class TemporaryFile:
    """A file of a table that is written and flushed, but does not have its final name yet."""

    path: Path
    digest: str
    size: int


class Artifacts:
    """The files of datasets in the data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._datasets = data_dir / "datasets"
        self._temporary = data_dir / "temporary"
        for folder in (self._datasets, self._temporary):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def temporary_folder(self) -> Path:
        """Where uploads may be stored while they are read; leftovers are removed after a day."""
        return self._temporary

    def path(self, digest: str) -> Path:
        """The path of the file with this digest."""
        hexadecimal = digest.removeprefix(DIGEST_PREFIX)
        assert len(hexadecimal) == 64, digest
        return self._datasets / hexadecimal[:2] / f"{hexadecimal}.arrow"

    def write_temporary(self, table: Table) -> TemporaryFile:
        """Write a table and flush it to the disk; the caller calls `keep` or `discard` next."""
        descriptor, name = tempfile.mkstemp(suffix=".arrow", dir=self._temporary)
        path = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                write_table(table, file)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return TemporaryFile(path, table_digest(table), size)

    def keep(self, temporary: TemporaryFile) -> None:
        """Give a temporary file its final name; an existing file of that name has the same content and is replaced."""
        path = self.path(temporary.digest)
        path.parent.mkdir(exist_ok=True)
        temporary.path.replace(path)
        _flush_folder(path.parent)

    def discard(self, temporary: TemporaryFile) -> None:
        """Remove a temporary file, if it is still there."""
        temporary.path.unlink(missing_ok=True)

    def remove(self, digest: str) -> None:
        """Remove the file with this digest, if it is there."""
        self.path(digest).unlink(missing_ok=True)

    def read(self, digest: str) -> Table:
        """The table with this digest."""
        return read_table(self.path(digest))

    def remove_abandoned(self, older_than: float = DAY_SECONDS) -> None:
        """Remove temporary files that have not been modified for `older_than` seconds."""
        for path in _untouched(self._temporary.iterdir(), older_than):
            path.unlink(missing_ok=True)

    def old_files(self, older_than: float = DAY_SECONDS) -> dict[str, int]:
        """Digest and size of every dataset file that has not been modified for `older_than` seconds."""
        found = _untouched(self._datasets.glob("??/*.arrow"), older_than)
        return {DIGEST_PREFIX + path.stem: path.stat().st_size for path in found}


def table_digest(table: Table) -> str:
    """`sha256:` and the hash of a table's content, whatever machine or library wrote it.

    Hashed in this order: the line `niwaki-table-1`, a line of compact JSON
    `{"n_rows": n, "columns": [{"name": …, "kind": …, "categories": […]}, …]}` in UTF-8 with characters as they are,
    then the cells column by column: numbers as little-endian float64, other kinds as little-endian int32 codes.
    A missing number is the NaN 0x7ff8000000000000, a missing code is -1, and -0.0 is 0.0. Lines end with "\\n".
    """
    digest = hashlib.sha256(b"niwaki-table-1\n")
    digest.update(_compact_json({"n_rows": table.n_rows, "columns": _description(table.schema)}) + b"\n")
    for values in table.columns:
        digest.update(_canonical_cells(values).data)
    return DIGEST_PREFIX + digest.hexdigest()


def write_table(table: Table, file: IOBase) -> None:
    """Write a table in the Arrow file format: numbers as float64, other kinds as dictionary<int32, utf8>.

    Missing cells are nulls. The schema's metadata holds under `niwaki` the format's number and the kinds; the
    dictionaries hold all categories in order, also those that no row has.
    """
    description = {"format": FORMAT, "kinds": [attribute.kind.value for attribute in table.schema]}
    schema = pa.schema(
        [pa.field(attribute.name, _arrow_type(attribute)) for attribute in table.schema],
        metadata={_METADATA_KEY: _compact_json(description)},
    )
    arrays = [_to_arrow(*column) for column in zip(table.schema, table.columns, strict=True)]
    with pa.ipc.new_file(file, schema) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema), max_chunksize=_ROWS_PER_BATCH)


def read_table(path: Path) -> Table:
    """The table that `write_table` wrote."""
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
        stored = reader.read_all()
        description = json.loads((stored.schema.metadata or {})[_METADATA_KEY])
        assert description["format"] == FORMAT, description
        kinds = [Kind(kind) for kind in description["kinds"]]
        columns = [stored.column(position).combine_chunks() for position in range(stored.num_columns)]
        attributes = tuple(map(_attribute, stored.column_names, kinds, columns))
        return Table(Schema(attributes), tuple(map(_from_arrow, attributes, columns)))


def _compact_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _description(schema: Schema) -> list[dict[str, Any]]:
    return [{"name": a.name, "kind": a.kind.value, "categories": list(a.categories)} for a in schema]


def _canonical_cells(values: Column) -> NDArray[Any]:
    if values.dtype != np.float64:
        return np.ascontiguousarray(values, dtype="<i4")
    # Adding 0.0 turns -0.0 into 0.0. NaNs may differ in bits that have no meaning, so all become the same one.
    return np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0), dtype="<f8")


def _arrow_type(attribute: Attribute) -> pa.DataType:
    return pa.float64() if attribute.is_numeric else pa.dictionary(pa.int32(), pa.utf8())


def _to_arrow(attribute: Attribute, values: Column) -> Any:
    cells = pa.array(np.ascontiguousarray(values), mask=is_missing(values))
    if attribute.is_numeric:
        return cells
    return pa.DictionaryArray.from_arrays(cells, pa.array(attribute.categories, pa.utf8()))


def _attribute(name: str, kind: Kind, stored: Any) -> Attribute:
    return Attribute(name, kind, () if kind is Kind.NUMERIC else tuple(stored.dictionary.to_pylist()))


def _from_arrow(attribute: Attribute, stored: Any) -> Column:
    # Nulls arrive as NaN, and codes beside them as float64, which holds each exactly. Arrow could fill nulls itself,
    # but its module for that takes longer to import. The cells are copied, because the file is unmapped afterwards.
    if attribute.is_numeric:
        return np.array(stored.to_numpy(zero_copy_only=False), dtype=np.float64)
    codes = stored.indices.to_numpy(zero_copy_only=False)
    return np.array(np.nan_to_num(codes, nan=MISSING_CODE), dtype=np.int32)


def _untouched(paths: Iterator[Path], seconds: float) -> Iterator[Path]:
    border = time.time() - seconds
    for path in paths:
        try:
            if path.stat().st_mtime < border:
                yield path
        except FileNotFoundError:
            continue  # another process has removed it


def _flush_folder(folder: Path) -> None:
    """Flush a folder to the disk, so that a rename in it survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
