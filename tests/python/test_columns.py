"""Tests of columns of the core's tables as numpy arrays."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from overspill.results import columns
from overspill.results.columns import U32_NONE, U64_NONE


def test_nulls_come_back_as_the_value_that_stands_for_none_in_every_piece() -> None:
    long = pa.array([*range(20), None, 7], pa.uint64())
    pieces = [long[3:], long[:2], pa.array([None], pa.uint64()), long[:0], long[19:]]
    table = pa.table({"all": pa.chunked_array(pieces)})
    expected = [*range(3, 20), U64_NONE, 7, 0, 1, U64_NONE, 19, U64_NONE, 7]
    found = columns.column_to_numpy(table, "all")
    assert (found.tolist(), found.dtype) == (expected, np.uint64)
    assert columns.column_to_numpy(pa.table({"some": pa.array([None, 4], pa.uint32())}), "some").tolist() == [
        U32_NONE,
        4,
    ]


def test_what_a_column_was_made_of_comes_back() -> None:
    raw = np.array([5, U64_NONE, 6, U64_NONE], np.uint64)
    made = columns.build_table("flows", {"end_ps": ("u64", raw.tobytes()), "bytes": ("u64", raw.tobytes())})
    assert made.column("end_ps").null_count == 2
    assert columns.column_to_numpy(made, "end_ps").tolist() == raw.tolist()
    assert columns.column_to_numpy(made, "bytes").tolist() == raw.tolist()


def test_distinct_values_come_once_and_in_order() -> None:
    assert columns.distinct_values(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert columns.distinct_values(np.zeros(0, np.uint64)).tolist() == []


PIECES = st.lists(
    st.tuples(st.lists(st.none() | st.integers(0, 9), max_size=30), st.integers(0, 12), st.integers(0, 30)),
    max_size=4,
)


@given(PIECES, st.sampled_from([(pa.uint32(), U32_NONE), (pa.uint64(), U64_NONE)]))
def test_random_slices_with_nulls_come_back(
    pieces: list[tuple[list[int | None], int, int]], kind: tuple[pa.DataType, int]
) -> None:
    dtype, none = kind
    chunks = [pa.array(values, dtype)[start : start + length] for values, start, length in pieces]
    expected = [one for values, start, length in pieces for one in values[start : start + length]]
    table = pa.table({"all": pa.chunked_array(chunks, dtype)})
    found = columns.column_to_numpy(table, "all")
    assert found.tolist() == [none if one is None else one for one in expected]
    assert found.dtype == dtype.to_pandas_dtype()
