//! The commands printed beside what a report states.

use tiebreak_impls::fpm::Channel;

/// How the user starts the program.
const PROGRAM: &str = "cargo xtask verify";

/// The command of a run, and how to narrow it down to one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Arguments as given.
    pub arguments: Vec<String>,
    /// Reference, where it is not the usual one.
    pub reference: Option<String>,
    /// Rule of the reference of quantize and add, where it is not the usual one.
    pub rounding: Option<String>,
    /// Lanes file, where it is the caller's own.
    pub lanes: Option<String>,
}

impl Command {
    /// The whole run.
    pub fn whole(&self) -> String {
        let quoted = self.arguments.iter().map(|a| quoted(a));
        std::iter::once(PROGRAM.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
    }

    /// One kernel in one lane.
    pub fn kernel(&self, op: &str, kernel: &str, lane: &str) -> String {
        let option = |name: &str, value: &Option<String>| {
            value.as_ref().map(|v| format!(" --{name} {}", quoted(v))).unwrap_or_default()
        };
        let reference = match op {
            "quantize" | "add" => option("rounding", &self.rounding),
            _ => option("reference", &self.reference),
        };
        let lanes = option("lanes", &self.lanes);
        format!("{PROGRAM}{lanes} --op {op} --kernel {kernel} --lane {lane}{reference}")
    }

    /// One fixed point multiply.
    pub fn case(&self, kernel: &str, lane: &str, x: i32, channel: Channel, q: u32) -> String {
        let format = if q == 31 { String::new() } else { format!(" --q {q}") };
        let Channel { multiplier, shift } = channel;
        let kernel = self.kernel("fpm", kernel, lane);
        format!("{kernel} --multiplier={multiplier} --shift={shift}{format} --x={x}")
    }
}

/// An argument as a shell takes it.
pub(crate) fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
