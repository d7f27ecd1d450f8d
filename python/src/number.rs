//! Numbers from Python that have a range. What is outside of it is a `ValueError` that names the argument.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// A number of that range. Errors: `ValueError`, and `TypeError` for what is no integer.
pub(crate) fn number<T>(name: &str, object: &Bound<PyAny>, range: RangeInclusive<T>) -> PyResult<T>
where
    T: TryFrom<u64> + PartialOrd + std::fmt::Display,
{
    let outside = || {
        let (first, last) = (range.start(), range.end());
        PyValueError::new_err(format!("{name} is {object}; from {first} to {last} are possible"))
    };
    let value = match object.extract::<u64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => return Err(outside()),
        value => value?,
    };
    T::try_from(value).ok().filter(|value| range.contains(value)).ok_or_else(outside)
}

/// The same where nothing may be given.
pub(crate) fn optional<T>(name: &str, object: Option<&Bound<PyAny>>, range: RangeInclusive<T>) -> PyResult<Option<T>>
where
    T: TryFrom<u64> + PartialOrd + std::fmt::Display,
{
    object.map(|object| number(name, object, range)).transpose()
}

/// A row of a table.
pub(crate) struct Row(pub usize);

impl<'a, 'py> FromPyObject<'a, 'py> for Row {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        number("row", &object, 0..=usize::MAX).map(Self)
    }
}
