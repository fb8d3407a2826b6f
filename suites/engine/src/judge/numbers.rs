//! Numbers of a serializable value by name, without JSON. Every case of a run passes here.

use super::spans::ParameterSpans;
use serde::ser::{self, Impossible, Serialize, Serializer};
use std::fmt::{Display, Error};

/// Notes every number under the name of its field: fields of fields as `field.inner`, every element of a list under the name of the list, and the length
/// of a list as `list.len`. Text, booleans and floats that JSON does not have are left out.
pub(super) struct Numbers<'a> {
    pub(super) spans: &'a mut ParameterSpans,
    pub(super) name: &'a mut String,
}

impl Numbers<'_> {
    fn note(&mut self, number: f64) {
        if number.is_finite() {
            self.spans.note(self.name, number);
        }
    }

    /// Serializes `value` under the name of a field.
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        let outer = self.name.len();
        if outer > 0 {
            self.name.push('.');
        }
        self.name.push_str(key);
        let result = value.serialize(Numbers { spans: &mut *self.spans, name: &mut *self.name });
        self.name.truncate(outer);
        result
    }
}

/// List whose elements are counted.
pub(super) struct List<'a> {
    numbers: Numbers<'a>,
    len: u32,
}

impl List<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.len += 1;
        value.serialize(Numbers { spans: &mut *self.numbers.spans, name: &mut *self.numbers.name })
    }

    fn end(mut self) -> Result<(), Error> {
        self.numbers.field("len", &self.len)
    }
}

/// Fields, of a variant too, whose name is `outer` bytes shorter outside.
pub(super) struct Fields<'a> {
    numbers: Numbers<'a>,
    outer: usize,
}

impl<'a> Fields<'a> {
    fn of(numbers: Numbers<'a>) -> Self {
        let outer = numbers.name.len();
        Self { numbers, outer }
    }

    /// Returns the fields of a variant, which JSON has as the only field of an object.
    fn of_variant(numbers: Numbers<'a>, variant: &str) -> Self {
        let fields = Self::of(numbers);
        if fields.outer > 0 {
            fields.numbers.name.push('.');
        }
        fields.numbers.name.push_str(variant);
        fields
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.numbers.field(key, value)
    }

    fn end(self) -> Result<(), Error> {
        self.numbers.name.truncate(self.outer);
        Ok(())
    }
}

macro_rules! numbers {
    ($($name:ident: $type:ty,)+) => {
        $(fn $name(mut self, number: $type) -> Result<(), Error> {
            self.note(number as f64);
            Ok(())
        })+
    };
}

impl<'a> Serializer for Numbers<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'a>;
    type SerializeTuple = List<'a>;
    type SerializeTupleStruct = List<'a>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    numbers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f64: f64,
    }

    fn serialize_f32(mut self, number: f32) -> Result<(), Error> {
        // JSON has the shortest decimal of an f32, which a reader takes for an f64.
        self.note(number.to_string().parse().unwrap_or(f64::NAN));
        Ok(())
    }

    fn serialize_bool(self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_char(self, _: char) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_str(self, _: &str) -> Result<(), Error> {
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'a>, Error> {
        Ok(List { numbers: self, len: 0 })
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        Err(Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Impossible<(), Error>, Error> {
        Err(Error)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, Error> {
        Ok(Fields::of(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields<'a>, Error> {
        Ok(Fields::of_variant(self, variant))
    }
}

macro_rules! compounds {
    ($($name:ident of $type:ident: $serialize:ident($($key:ident)?) by $by:ident,)+) => {
        $(impl ser::$name for $type<'_> {
            type Ok = ();
            type Error = Error;

            fn $serialize<T: Serialize + ?Sized>(&mut self, $($key: &'static str,)? value: &T) -> Result<(), Error> {
                self.$by($($key,)? value)
            }

            fn end(self) -> Result<(), Error> {
                $type::end(self)
            }
        })+
    };
}

compounds! {
    SerializeSeq of List: serialize_element() by element,
    SerializeTuple of List: serialize_element() by element,
    SerializeTupleStruct of List: serialize_field() by element,
    SerializeStruct of Fields: serialize_field(key) by field,
    SerializeStructVariant of Fields: serialize_field(key) by field,
}
