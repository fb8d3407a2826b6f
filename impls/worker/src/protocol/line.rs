//! Deserialization of a request in one pass. Serde's derived code for tagged and flattened types first copies all fields to find the tag. A worker in
//! an emulator spent more time on that than on its kernels.

use super::{Batch, Job, OpName, Request, Source};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// Fields of every request. The operation determines the type of the parameters.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "kebab-case")]
enum Field {
    Command,
    Op,
    Kernel,
    Params,
    Len,
    Source,
    Misalign,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Command {
    Hello,
    Run,
}

/// Fields read so far.
#[derive(Default)]
struct Line<'a> {
    command: Option<Command>,
    op: Option<OpName>,
    kernel: Option<String>,
    /// Text of parameters that came before operation and kernel.
    unread: Option<&'a RawValue>,
    job: Option<Job>,
    len: Option<usize>,
    source: Option<Source>,
    misalign: Option<usize>,
}

/// Accepts only JSON in memory, because the text of parameters that come too early is borrowed.
impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut line = deserializer.deserialize_map(Line::default())?;
        match given("command", line.command.take())? {
            Command::Hello => Ok(Self::Hello),
            Command::Run => Ok(Self::Run(Box::new(line.batch()?))),
        }
    }
}

impl<'de> Visitor<'de> for Line<'de> {
    type Value = Self;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(field) = map.next_key()? {
            match field {
                Field::Command => once(&mut self.command, "command", map.next_value()?)?,
                Field::Op => once(&mut self.op, "op", map.next_value()?)?,
                Field::Kernel if self.job.is_some() => return Err(A::Error::duplicate_field("kernel")),
                Field::Kernel => once(&mut self.kernel, "kernel", map.next_value()?)?,
                Field::Params if self.job.is_some() => return Err(A::Error::duplicate_field("params")),
                Field::Params => match (self.op, self.kernel.take()) {
                    (Some(op), Some(kernel)) if self.unread.is_none() => {
                        self.job = Some(map.next_value_seed(Parameters { op, kernel })?);
                    }
                    (_, kernel) => {
                        self.kernel = kernel;
                        once(&mut self.unread, "params", map.next_value()?)?;
                    }
                },
                Field::Len => once(&mut self.len, "len", map.next_value()?)?,
                Field::Source => once(&mut self.source, "source", map.next_value()?)?,
                Field::Misalign => once(&mut self.misalign, "misalign", map.next_value()?)?,
                Field::Other => drop(map.next_value::<serde::de::IgnoredAny>()?),
            }
        }
        Ok(self)
    }
}

impl Line<'_> {
    fn batch<E: Error>(self) -> Result<Batch, E> {
        let job = match self.job {
            Some(job) => job,
            None => {
                let (op, kernel) = (given("op", self.op)?, given("kernel", self.kernel)?);
                let mut params = serde_json::Deserializer::from_str(given("params", self.unread)?.get());
                Parameters { op, kernel }.deserialize(&mut params).map_err(E::custom)?
            }
        };
        Ok(Batch {
            job,
            len: given("len", self.len)?,
            source: given("source", self.source)?,
            misalign: given("misalign", self.misalign)?,
        })
    }
}

/// Deserializer of an operation's parameters, for a kernel.
struct Parameters {
    op: OpName,
    kernel: String,
}

impl<'de> DeserializeSeed<'de> for Parameters {
    type Value = Job;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Job, D::Error> {
        Job::read(self.op, self.kernel, deserializer).map_err(|error| D::Error::custom(format!("params: {error}")))
    }
}

/// Stores a field, and refuses a second value for it.
fn once<T, E: Error>(field: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    if field.replace(value).is_some() { Err(E::duplicate_field(name)) } else { Ok(()) }
}

fn given<T, E: Error>(field: &'static str, value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"command":"run","op":"fpm","kernel":"tvm-relay","params":{"q":31,"channels":[{"multiplier":1,"shift":-8}]},"len":2,"source":{"payload":{"bytes":8}},"misalign":3}"#;

    fn read(line: &str) -> Result<Request, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_come_in_any_order_and_others_are_ignored() {
        let line = r#"{"misalign":3,"later":[1,{}],"source":{"payload":{"bytes":8}},"len":2,"params":{"channels":[{"shift":-8,"multiplier":1}],"q":31},"kernel":"tvm\u002drelay","op":"\u0066pm","command":"run"}"#;
        let request = read(line).expect("a request");
        assert_eq!(serde_json::to_string(&request).expect("JSON"), RUN);
        assert_eq!(Ok(request), read(RUN));
        assert_eq!(read(r#"{"len":1,"command":"hello"}"#), Ok(Request::Hello));
    }

    #[test]
    fn a_field_that_comes_twice_is_refused() {
        let line: serde_json::Value = serde_json::from_str(RUN).expect("JSON");
        for (field, value) in line.as_object().expect("an object") {
            let again = format!("\"{field}\":{value}");
            let (first, rest) = RUN.split_at(1);
            for twice in [format!("{first}{again},{rest}"), format!("{},{again}}}", &RUN[..RUN.len() - 1])] {
                let error = read(&twice).expect_err(field);
                assert!(error.contains(&format!("duplicate field `{field}`")), "{twice}: {error}");
            }
        }
    }

    #[test]
    fn what_lacks_or_is_unknown_is_named() {
        for (field, value) in [
            ("op", r#""op":"fpm","#),
            ("kernel", r#""kernel":"tvm-relay","#),
            ("params", r#""params":{"q":31,"channels":[{"multiplier":1,"shift":-8}]},"#),
            ("len", r#""len":2,"#),
            ("source", r#""source":{"payload":{"bytes":8}},"#),
            ("misalign", r#","misalign":3"#),
            ("command", r#""command":"run","#),
        ] {
            let error = read(&RUN.replace(value, "")).expect_err(field);
            assert!(error.contains(&format!("missing field `{field}`")), "{error}");
        }
        for (from, to, part) in [
            ("fpm", "fpn", "unknown variant `fpn`, expected one of `fpm`, `instruction`"),
            ("run", "walk", "unknown variant `walk`"),
            (r#""q":31,"#, "", "params: missing field `q`"),
            (r#""q":31"#, r#""q":"31""#, "params: invalid type"),
        ] {
            let error = read(&RUN.replace(from, to)).expect_err(to);
            assert!(error.contains(part), "{error}");
        }
    }
}
