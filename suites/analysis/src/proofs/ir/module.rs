//! A module of LLVM IR: its functions as blocks of lines, cut but not yet understood.

use super::text::{Cursor, Type, name, tokens};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;

/// A function with a body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Type and name of each parameter.
    pub(crate) parameters: Vec<(Type, String)>,
    /// Type of the result.
    pub(crate) result: Type,
    /// Blocks, the entry first.
    pub(crate) blocks: Vec<Block>,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its label.
    pub(crate) label: String,
    /// Its instructions, as written.
    pub(crate) lines: Vec<String>,
}

/// A module: text of its functions by name, and aliases.
#[derive(Clone, Debug, Default)]
pub struct Module {
    functions: HashMap<String, String>,
    aliases: HashMap<String, String>,
    /// The target that the module says it is for; empty if it says none.
    pub target: String,
}

impl Module {
    /// Cuts a module into functions. Nothing of them is read before [`Self::function`].
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

    /// Names of the functions, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.functions.keys().chain(self.aliases.keys()).map(String::as_str).collect();
        all.sort_unstable();
        all
    }

    /// The function of that name, or that its alias stands for.
    pub(crate) fn function(&self, name: &str) -> Result<Option<Function>> {
        let aliased = self.aliases.get(name).map_or(name, String::as_str);
        let Some(text) = self.functions.get(aliased) else { return Ok(None) };
        parse(text).with_context(|| format!("function {name}")).map(Some)
    }
}

/// The name behind `@` of a line that defines.
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
            // An entry without a label has the number behind the parameters.
            (None, None) => {
                let unnamed = parameters.iter().filter(|(_, name)| name.parse::<u32>().is_ok()).count();
                blocks.push(Block { label: unnamed.to_string(), lines: vec![line.trim().to_owned()] });
            }
        }
    }
    Ok(Function { parameters, result, blocks })
}

/// A line, or the rest of one: the cases of a switch and the clauses of a landing pad have lines of their own.
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

/// The type before a name, behind linkage, visibility and attributes.
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
