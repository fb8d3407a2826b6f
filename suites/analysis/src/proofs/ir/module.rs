//! Module of LLVM IR: its functions as blocks of lines, split and not parsed further.

use super::text::{Cursor, Type, name, tokens};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;

/// Function with a body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Type and name of each parameter.
    pub(crate) parameters: Vec<(Type, String)>,
    /// Type of the result.
    pub(crate) result: Type,
    /// Blocks, the entry first.
    pub(crate) blocks: Vec<Block>,
}

/// Basic block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Label of the block.
    pub(crate) label: String,
    /// Text of the instructions.
    pub(crate) lines: Vec<String>,
}

/// Module: text of its functions by name, and aliases.
#[derive(Clone, Debug, Default)]
pub struct Module {
    functions: HashMap<String, String>,
    aliases: HashMap<String, String>,
    /// Target triple of the module; empty if it has none.
    pub target: String,
}

impl Module {
    /// Splits a module into functions. [`Self::function`] parses them.
    pub fn read(text: &str) -> Self {
        let mut module = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("define ") {
                let mut body = line.to_owned();
                for line in lines.by_ref() {
                    if line.starts_with('}') {
                        break;
                    }
                    body.push('\n');
                    body.push_str(line);
                }
                if let Some(name) = symbol(line) {
                    module.functions.insert(name, body);
                }
            } else if line.starts_with('@') && line.contains(" alias ") {
                let all = tokens(line);
                let target = all.iter().rev().find(|token| token.starts_with('@'));
                if let (Some(first), Some(target)) = (all.first(), target) {
                    module.aliases.insert(name(first), name(target));
                }
            } else if let Some(rest) = line.strip_prefix("target triple = ") {
                module.target = rest.trim_matches('"').to_owned();
            }
        }
        module
    }

    /// Returns the names of the functions, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.functions.keys().chain(self.aliases.keys()).map(String::as_str).collect();
        all.sort_unstable();
        all
    }

    /// Returns the function of a name or alias.
    pub(crate) fn function(&self, name: &str) -> Result<Option<Function>> {
        let aliased = self.aliases.get(name).map_or(name, String::as_str);
        let Some(text) = self.functions.get(aliased) else { return Ok(None) };
        parse(text).with_context(|| format!("function {name}")).map(Some)
    }
}

/// Returns the name after `@` in a definition.
fn symbol(line: &str) -> Option<String> {
    let all = tokens(line);
    all.iter().find(|token| token.starts_with('@')).map(|token| name(token))
}

fn parse(text: &str) -> Result<Function> {
    let mut lines = text.lines();
    let all = tokens(lines.next().unwrap_or_default());
    let mut at = Cursor::new(&all);
    let result = result_type(&mut at)?;
    at.next();
    at.expect("(")?;
    let mut parameters = Vec::new();
    while !at.take(")") {
        if at.peek() == "..." {
            bail!("a variable number of arguments is not known");
        }
        let of = at.r#type()?;
        at.attributes()?;
        parameters.push((of, name(at.next())));
        at.take(",");
    }
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with(';')) {
        match (label(line), blocks.last_mut()) {
            (Some(label), _) => blocks.push(Block { label, lines: Vec::new() }),
            (None, Some(block)) => join(&mut block.lines, line),
            // An unlabelled entry has the number after the unnamed parameters.
            (None, None) => {
                let unnamed = parameters.iter().filter(|(_, name)| name.parse::<u32>().is_ok()).count();
                blocks.push(Block { label: unnamed.to_string(), lines: vec![line.trim().to_owned()] });
            }
        }
    }
    Ok(Function { parameters, result, blocks })
}

/// Adds a line, or appends it to the last instruction: cases of a switch and clauses of a landing pad are on separate lines.
fn join(lines: &mut Vec<String>, line: &str) {
    let open = lines.last().is_some_and(|last: &String| last.starts_with("switch") && !last.contains(']'));
    let rest = line.trim();
    match lines.last_mut() {
        Some(last) if open || ["to label", "cleanup", "catch", "filter"].iter().any(|s| rest.starts_with(s)) => {
            last.push(' ');
            last.push_str(rest);
        }
        _ => lines.push(rest.to_owned()),
    }
}

fn label(line: &str) -> Option<String> {
    if line.starts_with(' ') {
        return None;
    }
    let (label, _) = match line.strip_prefix('"') {
        Some(rest) => rest.split_once("\":")?,
        None => line.split_once(':')?,
    };
    Some(label.to_owned())
}

/// Parses the type before a name, after linkage, visibility and attributes.
fn result_type(at: &mut Cursor<'_>) -> Result<Type> {
    loop {
        let mut here = at.clone();
        if let Ok(of) = here.r#type()
            && here.peek().starts_with('@')
        {
            *at = here;
            return Ok(of);
        }
        if at.next().is_empty() {
            bail!("the definition has no result type that is known");
        }
    }
}
