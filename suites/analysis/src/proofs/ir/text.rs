//! Text of LLVM IR: tokens of a line, types, and operands. Source: the LLVM Language Reference Manual.

use anyhow::{Result, bail};
use std::fmt;

/// Type that the translator supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Integer of this width.
    Integer(u32),
    /// Vector: number of integers, and their width.
    Vector(u32, u32),
    /// Address.
    Pointer,
    /// No value.
    Void,
}

impl Type {
    /// Returns the number of lanes: 1 for an integer.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Vector(lanes, _) => lanes as usize,
            _ => 1,
        }
    }

    /// Returns the width of one lane.
    pub(crate) fn bits(self) -> Result<u32> {
        match self {
            Self::Integer(bits) | Self::Vector(_, bits) => Ok(bits),
            Self::Pointer | Self::Void => bail!("type {self} has no bits here"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(bits) => write!(f, "i{bits}"),
            Self::Vector(lanes, bits) => write!(f, "<{lanes} x i{bits}>"),
            Self::Pointer => f.write_str("ptr"),
            Self::Void => f.write_str("void"),
        }
    }
}

/// Operand without its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Value of the function.
    Local(String),
    /// Number; `true` is 1.
    Number(i128),
    /// Lanes of constants.
    Lanes(Vec<Operand>),
    /// Constant in every lane.
    Splat(i128),
    /// Poison.
    Poison,
    /// Function or variable of the module.
    Global(String),
}

/// Splits a line into tokens: words, names with their sigil, and punctuation. Strings keep their quotes.
pub(crate) fn tokens(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == ';' {
            break;
        }
        let length = match first {
            '"' => quoted(rest),
            '%' | '@' if rest[1..].starts_with('"') => 1 + quoted(&rest[1..]),
            '%' | '@' | '#' | '!' => 1 + word(&rest[1..]),
            _ if word(rest) > 0 => word(rest),
            _ => first.len_utf8(),
        };
        all.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    all
}

fn quoted(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

fn word(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.$-".contains(c))).unwrap_or(text.len())
}

/// Returns a name without sigil and quotes.
pub(crate) fn name(token: &str) -> String {
    token.trim_start_matches(['%', '@']).trim_matches('"').to_owned()
}

/// Position in the tokens of a line.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [String],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first token.
    pub(crate) fn new(tokens: &'a [String]) -> Self {
        Self { tokens, at: 0 }
    }

    /// Returns the next token without consuming it.
    pub(crate) fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    /// Consumes and returns the next token.
    pub(crate) fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Consumes the next token if it is `token`; true if it was.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let same = self.peek() == token;
        self.at += usize::from(same);
        same
    }

    /// Consumes the token, or returns an error.
    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        if !self.take(token) {
            bail!("`{token}` expected, not `{}`", self.peek());
        }
        Ok(())
    }

    /// Consumes and returns words in the list.
    pub(crate) fn flags(&mut self, known: &[&str]) -> Vec<&'a str> {
        let mut flags = Vec::new();
        while known.contains(&self.peek()) {
            flags.push(self.next());
        }
        flags
    }

    /// Parses a type.
    pub(crate) fn r#type(&mut self) -> Result<Type> {
        let token = self.next();
        let integer = |text: &str| text.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok());
        match token {
            "ptr" => Ok(Type::Pointer),
            "void" => Ok(Type::Void),
            "<" => {
                let lanes = self.next();
                self.expect("x")?;
                let element = self.next();
                self.expect(">")?;
                match (lanes.parse(), integer(element)) {
                    (Ok(lanes), Some(bits)) if (1..=128).contains(&bits) => Ok(Type::Vector(lanes, bits)),
                    _ => bail!("type `<{lanes} x {element}>` is not one of integers"),
                }
            }
            _ => match integer(token) {
                Some(bits) if (1..=128).contains(&bits) => Ok(Type::Integer(bits)),
                _ => bail!("type `{token}` is not known: integers of 1 to 128 bits, vectors of them, ptr"),
            },
        }
    }

    /// Parses an operand.
    pub(crate) fn operand(&mut self) -> Result<Operand> {
        let token = self.next();
        Ok(match token {
            "true" => Operand::Number(1),
            "false" | "null" => Operand::Number(0),
            "zeroinitializer" => Operand::Splat(0),
            "poison" => Operand::Poison,
            "undef" => bail!("`undef` is not known: each use of it may be another value"),
            "splat" => {
                self.expect("(")?;
                self.r#type()?;
                let number = self.number()?;
                self.expect(")")?;
                Operand::Splat(number)
            }
            "<" => {
                let mut lanes = Vec::new();
                loop {
                    self.r#type()?;
                    lanes.push(self.operand()?);
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(">")?;
                Operand::Lanes(lanes)
            }
            _ if token.starts_with('%') => Operand::Local(name(token)),
            _ if token.starts_with('@') => Operand::Global(name(token)),
            _ => match token.parse() {
                Ok(number) => Operand::Number(number),
                Err(_) => bail!("operand `{token}` is not known"),
            },
        })
    }

    fn number(&mut self) -> Result<i128> {
        match self.operand()? {
            Operand::Number(number) => Ok(number),
            other => bail!("a number expected, not {other:?}"),
        }
    }

    /// Parses the attributes of an argument or a result. Returns the bounds of a `range`, outside of which a value is poison.
    pub(crate) fn attributes(&mut self) -> Result<Option<(i128, i128)>> {
        const NONE: [&str; 14] = [
            "noundef",
            "signext",
            "zeroext",
            "nonnull",
            "nocapture",
            "noalias",
            "readonly",
            "readnone",
            "writeonly",
            "immarg",
            "returned",
            "inreg",
            "nofree",
            "dead_on_return",
        ];
        const WITH: [&str; 5] = ["align", "dereferenceable", "captures", "dereferenceable_or_null", "initializes"];
        let mut range = None;
        loop {
            let token = self.peek();
            if NONE.contains(&token) {
                self.next();
            } else if WITH.contains(&token) {
                self.next();
                if self.take("(") {
                    self.skip_to_close();
                } else {
                    self.next();
                }
            } else if self.take("range") {
                self.expect("(")?;
                self.r#type()?;
                let low = self.number()?;
                self.expect(",")?;
                range = Some((low, self.number()?));
                self.expect(")")?;
            } else {
                return Ok(range);
            }
        }
    }

    /// Skips to after the `)` of an open `(`.
    pub(crate) fn skip_to_close(&mut self) {
        let mut depth = 1;
        while depth > 0 && self.at < self.tokens.len() {
            match self.next() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
    }
}
