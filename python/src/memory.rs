//! Masks in memory that Python points at. The only unsafe code of the door.
#![allow(unsafe_code, reason = "Python gives addresses, as numpy, torch and ctypes have them")]

use larkspur::TokenMask;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Rows of 32-bit words at an address. Whoever makes one promises that the memory is there and nobody else writes it.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pointer: usize,
    row_words: usize,
    rows: usize,
}

impl Table {
    /// A table whose rows hold masks of `vocabulary_len` tokens.
    ///
    /// Errors: `ValueError` for what can be seen to be wrong: no address or an odd one, a row that is too short.
    pub fn new(pointer: usize, row_bytes: usize, rows: usize) -> PyResult<Self> {
        if pointer == 0 || !pointer.is_multiple_of(4) {
            return Err(PyValueError::new_err(format!("the address {pointer:#x} is not one of 32-bit words")));
        }
        if !row_bytes.is_multiple_of(4) {
            return Err(PyValueError::new_err(format!("a row of {row_bytes} bytes is not one of 32-bit words")));
        }
        if rows
            .checked_mul(row_bytes)
            .and_then(|bytes| bytes.checked_add(pointer))
            .is_none_or(|end| end > isize::MAX as usize)
        {
            return Err(PyValueError::new_err(format!("{rows} rows of {row_bytes} bytes reach past all memory")));
        }
        Ok(Self { pointer, row_words: row_bytes / 4, rows })
    }

    /// Checks that a mask of so many tokens fits into a row.
    pub fn check(&self, row: usize, vocabulary_len: usize) -> PyResult<()> {
        let needed = vocabulary_len.div_ceil(32);
        if self.row_words < needed {
            let (found, needed) = (self.row_words * 4, needed * 4);
            return Err(PyValueError::new_err(format!(
                "a mask of {vocabulary_len} tokens needs {needed} bytes; there are {found}"
            )));
        }
        if row >= self.rows {
            return Err(PyValueError::new_err(format!("there is no row {row} in a table of {}", self.rows)));
        }
        Ok(())
    }

    /// Rows in all.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes a mask into a row that was [checked](Self::check); what is past the mask becomes 0.
    pub fn write(&self, row: usize, mask: &TokenMask) {
        assert!(row < self.rows && mask.words().len() <= self.row_words, "the row was checked");
        // SAFETY: the caller of the Python function promises `rows` rows of `row_words` aligned words at `pointer`, and the
        // assertion keeps within them. No reference is made, so that others may look at other rows meanwhile.
        unsafe {
            let start = (self.pointer as *mut u32).add(row * self.row_words);
            start.copy_from_nonoverlapping(mask.words().as_ptr(), mask.words().len());
            start.add(mask.words().len()).write_bytes(0, self.row_words - mask.words().len());
        }
    }
}
