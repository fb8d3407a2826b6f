//! Table of the numbers among the parameters of a case. A line of the table writes, reads and shrinks a field.

use crate::operation::arguments::{Arguments, nothing_left, take_flag, take_int32, take_size};
use crate::operation::errors::CaseError;
use tiebreak_reports::ledger::Value;

/// Accessor of a number in parameters.
pub enum Number<P> {
    /// Size, 0 or more.
    Size(fn(&mut P) -> &mut usize),
    /// An int32.
    Int32(fn(&mut P) -> &mut i32),
    /// Flag: 1 or 0.
    Flag(fn(&mut P) -> &mut bool),
}

/// Named number.
pub struct Field<P> {
    /// Name in the text of a case.
    pub name: &'static str,
    number: Number<P>,
    always: bool,
}

impl<P: Clone> Field<P> {
    /// Creates a size, written only if different from the default.
    pub const fn size(name: &'static str, of: fn(&mut P) -> &mut usize) -> Self {
        Self { name, number: Number::Size(of), always: false }
    }

    /// Creates an int32, written only if different from the default.
    pub const fn int32(name: &'static str, of: fn(&mut P) -> &mut i32) -> Self {
        Self { name, number: Number::Int32(of), always: false }
    }

    /// Creates a flag, written only if different from the default.
    pub const fn flag(name: &'static str, of: fn(&mut P) -> &mut bool) -> Self {
        Self { name, number: Number::Flag(of), always: false }
    }

    /// Makes the field always written.
    pub const fn always(self) -> Self {
        let Self { name, number, .. } = self;
        Self { name, number, always: true }
    }

    /// Reads the value of the field.
    pub fn value(&self, params: &P) -> i64 {
        let mut params = params.clone();
        match self.number {
            Number::Size(of) => *of(&mut params) as i64,
            Number::Int32(of) => (*of(&mut params)).into(),
            Number::Flag(of) => (*of(&mut params)).into(),
        }
    }

    /// Returns the parameters with another value of the field.
    pub fn with(&self, params: &P, value: i64) -> P {
        let mut params = params.clone();
        match self.number {
            Number::Size(of) => *of(&mut params) = value as usize,
            Number::Int32(of) => *of(&mut params) = value as i32,
            Number::Flag(of) => *of(&mut params) = value != 0,
        }
        params
    }
}

/// Returns the fields in the order of the table, without fields at their default.
pub fn written<P: Clone>(fields: &[Field<P>], params: &P, usual: &P) -> Vec<(String, Value)> {
    let shown = fields.iter().filter(|field| field.always || field.value(params) != field.value(usual));
    shown.map(|field| (field.name.to_owned(), field.value(params).into())).collect()
}

/// Parses the fields of a case; without an argument a field keeps the value in `usual`.
pub fn read<P: Clone>(fields: &[Field<P>], usual: P, arguments: &mut Arguments) -> Result<P, CaseError> {
    fields.iter().try_fold(usual, |params, field| {
        let value = match (&field.number, field.value(&params)) {
            (Number::Size(_), usual) => take_size(arguments, field.name, usual as usize)? as i64,
            (Number::Int32(_), usual) => take_int32(arguments, field.name, usual as i32)?.into(),
            (Number::Flag(_), usual) => take_flag(arguments, field.name, usual != 0)?.into(),
        };
        Ok(field.with(&params, value))
    })
}

/// Parses the parameters of a case that has only fields and the named tensors.
pub fn read_all<P: Clone>(
    fields: &[Field<P>],
    usual: P,
    arguments: &Arguments,
    tensors: &[&str],
) -> Result<P, CaseError> {
    let mut left = arguments.clone();
    let params = read(fields, usual, &mut left)?;
    let names: Vec<&str> = fields.iter().map(|field| field.name).chain(tensors.iter().copied()).collect();
    nothing_left(&left, &names)?;
    Ok(params)
}
