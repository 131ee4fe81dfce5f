"""Arrow tables over the core's plain buffers, without copies."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa

from overspill.errors import Failed

# Re-exported as public names: programs decode numbered kinds in the tables with them.
from overspill.results.names import PACKET_HIST as PACKET_HIST
from overspill.results.names import REORDER as REORDER

ARROW_TYPES = {
    "u8": pa.uint8(),
    "u16": pa.uint16(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "i64": pa.int64(),
    "f64": pa.float64(),
}
U32_NONE = 0xFFFF_FFFF
U64_NONE = 0xFFFF_FFFF_FFFF_FFFF
# Columns in which one value of the buffer stands for "none"; it becomes null.
NULL_VALUES = {
    ("flows", "query"): U32_NONE,
    ("flows", "end_ps"): U64_NONE,
    ("pause_storms", "to_ps"): U64_NONE,
}


class Memory(Protocol):
    """Buffer of numbers in the memory of Python or of the core, read without a copy."""

    def __len__(self) -> int:
        """Returns the size of the buffer in bytes."""

    def __buffer__(self, flags: int, /) -> memoryview:
        """Returns a view of the memory, by Python's buffer protocol."""


Buffers = Mapping[str, tuple[str, Memory]]


def build_array(dtype: str, data: Memory, none: int | None = None) -> pa.Array:
    """Returns a column over the given memory, in which values equal to `none` are null."""
    if dtype not in ARROW_TYPES:
        raise Failed(f"the core gave a column of the unknown type {dtype!r}")
    kind = ARROW_TYPES[dtype]
    width = kind.bit_width // 8
    if len(data) % width:
        raise Failed(
            f"the core gave {len(data)} bytes for a column of {dtype}; expected a multiple of {width}"
        )
    validity = None
    if none is not None:
        present = np.frombuffer(memoryview(data), dtype=f"<u{width}") != none
        if not present.all():
            validity = pa.py_buffer(np.packbits(present, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(data) // width, [validity, pa.py_buffer(data)])


def build_table(name: str, buffers: Buffers) -> pa.Table:
    """Returns one table of a run as an Arrow table."""
    columns = {
        column: build_array(dtype, data, NULL_VALUES.get((name, column)))
        for column, (dtype, data) in buffers.items()
    }
    if len({len(column) for column in columns.values()}) > 1:
        raise Failed(f"the core gave columns of different lengths in {name}")
    return pa.table(columns)


def build_tables(buffers: Mapping[str, Buffers]) -> dict[str, pa.Table]:
    """Returns every table of a run as Arrow tables, by name."""
    return {name: build_table(name, columns) for name, columns in buffers.items()}


def column_to_numpy(table: pa.Table, column: str) -> np.ndarray:
    """Returns a column as a numpy array, with the largest integer of its type for nulls."""
    data = table.column(column)
    if data.num_chunks == 1:
        return chunk_to_numpy(data.chunk(0))
    if not data.null_count:
        return np.asarray(data.to_numpy())
    return np.concatenate([chunk_to_numpy(chunk) for chunk in data.chunks])


def chunk_to_numpy(data: pa.Array) -> np.ndarray:
    """Returns a chunk as a numpy array, with the largest integer of its type for nulls.

    pyarrow's own conversion imports all of its functions, which takes longer than a small run.
    """
    if not data.null_count:
        return np.asarray(data.to_numpy())
    validity, values = data.buffers()
    here = slice(data.offset, data.offset + len(data))
    there = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[here] == 1
    none = U64_NONE if data.type == pa.uint64() else U32_NONE
    found = np.frombuffer(values, data.type.to_pandas_dtype())[here]
    return np.where(there, found, found.dtype.type(none))


def distinct_values(values: np.ndarray) -> np.ndarray:
    """Returns the distinct values of a column, in order.

    Counts are requested as well, since `numpy.unique` imports masked arrays otherwise.
    """
    return np.asarray(np.unique(values, return_counts=True)[0])


def with_run_columns(
    table: pa.Table, variant: str, seed: int, point: Mapping[str, str] | None = None
) -> pa.Table:
    """Returns a table with the point's values, `variant` and `seed` added as first columns."""
    count = table.num_rows
    made = table.add_column(0, "seed", pa.array(np.full(count, seed, np.uint64)))
    for name, text in reversed([*(point or {}).items(), ("variant", variant)]):
        same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text]))
        made = made.add_column(0, name, same)
    return made
