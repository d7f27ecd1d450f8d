//! Just enough of the protobuf wire format to read a message field by field.

use crate::loaders::{LoadError, ProtobufFault};

/// The fields of a message, in the order of the file.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the file.
    at: usize,
}

/// One field.
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
    /// Offset of the field in the file.
    at: usize,
    /// Offset of the bytes of a `Value::Bytes`.
    content_at: usize,
}

pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64,
    Bytes(&'a [u8]),
    Fixed32(u32),
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8], at: usize) -> Self {
        Self { rest: message, at }
    }

    pub(super) fn next_field(&mut self) -> Result<Option<Field<'a>>, LoadError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8)?;
                Value::Fixed64
            }
            2 => {
                let len = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Value::Bytes(self.take(len)?)
            }
            5 => {
                let mut bits = [0; 4];
                bits.copy_from_slice(self.take(4)?);
                Value::Fixed32(u32::from_le_bytes(bits))
            }
            // Groups (3, 4) have not been written by anything for many years.
            _ => return Err(LoadError::Protobuf { at_bytes: at, fault: ProtobufFault::Field }),
        };
        if key >> 3 == 0 {
            return Err(LoadError::Protobuf { at_bytes: at, fault: ProtobufFault::Field });
        }
        let content_at = self.at - if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
        Ok(Some(Field { number: key >> 3, value, at, content_at }))
    }

    fn varint(&mut self) -> Result<u64, LoadError> {
        let at = self.at;
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(LoadError::Protobuf { at_bytes: at, fault: ProtobufFault::Varint })
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], LoadError> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(LoadError::Protobuf { at_bytes: self.at, fault: ProtobufFault::Truncated });
        };
        self.rest = rest;
        self.at += len;
        Ok(taken)
    }
}

impl<'a> Field<'a> {
    pub(super) fn error(&self, fault: ProtobufFault) -> LoadError {
        LoadError::Protobuf { at_bytes: self.at, fault }
    }

    pub(super) fn message(&self) -> Result<Fields<'a>, LoadError> {
        match self.value {
            Value::Bytes(bytes) => Ok(Fields::new(bytes, self.content_at)),
            _ => Err(self.error(ProtobufFault::Type)),
        }
    }

    pub(super) fn varint(&self) -> Result<u64, LoadError> {
        match self.value {
            Value::Varint(number) => Ok(number),
            _ => Err(self.error(ProtobufFault::Type)),
        }
    }
}
