//! Columns of results that Python reads in place through its buffer protocol.
//! Tables of a large run have tens of megabytes, which are not copied.

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use sim::Column;
use std::ffi::{c_int, c_void};

// The type of a column is `u64` or the like, which Python reads in the byte order of this machine.
const _: () = assert!(cfg!(target_endian = "little"), "columns are little-endian");

/// Numbers of a column, contiguous in memory; they live as long as any Python object that refers to them.
#[pyclass(frozen, module = "overspill._core")]
pub(crate) struct NumberColumn(Column);

impl NumberColumn {
    /// Returns the type name of a column's numbers, and the memory of the column.
    pub(crate) fn from_column(column: Column) -> (&'static str, NumberColumn) {
        let kind = match &column {
            Column::U8(_) => "u8",
            Column::U16(_) => "u16",
            Column::U32(_) => "u32",
            Column::U64(_) => "u64",
            Column::I64(_) => "i64",
            Column::F64(_) => "f64",
        };
        (kind, NumberColumn(column))
    }

    /// Returns the address of the first number of the column, and the length in bytes.
    fn address_and_length(&self) -> (*const c_void, usize) {
        fn address_of_values<T>(values: &[T]) -> (*const c_void, usize) {
            (values.as_ptr().cast(), size_of_val(values))
        }
        match &self.0 {
            Column::U8(values) => address_of_values(values),
            Column::U16(values) => address_of_values(values),
            Column::U32(values) => address_of_values(values),
            Column::U64(values) => address_of_values(values),
            Column::I64(values) => address_of_values(values),
            Column::F64(values) => address_of_values(values),
        }
    }
}

#[pymethods]
impl NumberColumn {
    fn __len__(&self) -> usize {
        self.address_and_length().1
    }

    /// Exports the numbers to Python as read-only memory.
    #[expect(unsafe_code, reason = "Python's buffer protocol hands out addresses")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (start, length) = slf.get().address_and_length();
        let length = isize::try_from(length).map_err(|_| PyBufferError::new_err("a column is too long"))?;
        // SAFETY: `view` is Python's to fill. It keeps `slf` alive, whose column never moves or changes (the class
        // is frozen), and read-only is 1, so that nothing is written through `start`.
        let failed = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast_mut(), length, 1, flags) };
        if failed == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
