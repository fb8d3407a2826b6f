//! Execution of a function with terms in place of numbers: every path of an input, with the condition under which it is taken.
//!
//! A loop is followed while its condition is a constant, which unrolls loops with a known number of rounds. A branch on the input splits the path.
//! Names that are not known are refused, and nothing is guessed.

use super::instruction;
use super::module::{Block, Function, Module};
use super::term::{Op, Term, Terms};
use super::text::{Cursor, Operand, Type, name, tokens};
use super::value::{Lane, Memory, Pointer, Value};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::rc::Rc;

/// Upper bound on paths; more are not worth a proof.
const MOST_PATHS: usize = 256;
/// Upper bound on instructions, over all paths.
const MOST_STEPS: usize = 200_000;

/// Result of a function as a term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translated {
    /// Integer that the function returns.
    pub(crate) result: Term,
    /// True if the inputs lead to undefined behaviour, or the result is poison.
    pub(crate) undefined: Term,
}

/// Function in execution.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    function: Rc<Function>,
    block: usize,
    line: usize,
    from: String,
    names: HashMap<String, Value>,
    /// Name in the caller for the result, and label after an `invoke`.
    result: Option<String>,
    then: Option<String>,
}

/// Path through the code.
#[derive(Clone, Debug)]
pub(super) struct Path {
    frames: Vec<Frame>,
    pub(super) memory: Memory,
    pub(super) condition: Term,
}

/// State that all paths share.
pub(super) struct Executor<'a> {
    pub(super) terms: &'a mut Terms,
    module: &'a Module,
    functions: HashMap<String, Option<Rc<Function>>>,
    open: Vec<Path>,
    done: Vec<(Term, Value)>,
    undefined: Term,
    objects: usize,
    steps: usize,
}

/// Effect of an instruction on its path.
pub(super) enum Next {
    /// Continue at the next line.
    Line,
    /// The path has ended, or continues in `open`.
    Left,
}

/// Executes `function` of a module on these integers.
pub(crate) fn translate(terms: &mut Terms, module: &Module, function: &str, arguments: &[Term]) -> Result<Translated> {
    let (condition, undefined) = (terms.truth(true), terms.truth(false));
    let mut executor = Executor {
        terms,
        module,
        functions: HashMap::new(),
        open: Vec::new(),
        done: Vec::new(),
        undefined,
        objects: 0,
        steps: 0,
    };
    let Some(body) = executor.function(function)? else {
        bail!("the module has no function `{function}`; one that is `static` may have been removed")
    };
    let Type::Integer(_) = body.result else { bail!("{function} returns {}, and not an integer", body.result) };
    let lane = |term: &Term| Value::Lanes(vec![Lane { term: *term, poison: undefined }]);
    let values: Vec<Value> = arguments.iter().map(lane).collect();
    let mut path = Path { frames: Vec::new(), memory: Memory::default(), condition };
    executor.enter(&mut path, body, values, None, None)?;
    executor.open.push(path);
    while let Some(path) = executor.open.pop() {
        executor.follow(path)?;
    }
    executor.joined()
}

impl Executor<'_> {
    fn function(&mut self, name: &str) -> Result<Option<Rc<Function>>> {
        if let Some(known) = self.functions.get(name) {
            return Ok(known.clone());
        }
        let read = self.module.function(name)?.map(Rc::new);
        self.functions.insert(name.to_owned(), read.clone());
        Ok(read)
    }

    fn joined(self) -> Result<Translated> {
        let (terms, mut undefined) = (self.terms, self.undefined);
        let mut result: Option<Term> = None;
        for (condition, value) in &self.done {
            let lane = value.scalar()?;
            let poisoned = terms.binary(Op::And, *condition, lane.poison);
            undefined = terms.binary(Op::Or, undefined, poisoned);
            result = Some(match result {
                None => lane.term,
                Some(other) => terms.choose(*condition, lane.term, other),
            });
        }
        let result = result.context("no path returns")?;
        Ok(Translated { result, undefined })
    }

    /// Marks inputs on this path as undefined under a condition.
    pub(super) fn undefined(&mut self, path: &Path, under: Term) {
        let here = self.terms.binary(Op::And, path.condition, under);
        self.undefined = self.terms.binary(Op::Or, self.undefined, here);
    }

    /// Returns a new object of memory.
    pub(super) fn object(&mut self) -> Value {
        self.objects += 1;
        Value::Pointer(Pointer { object: self.objects, offset: 0 })
    }

    fn enter(
        &mut self,
        path: &mut Path,
        function: Rc<Function>,
        values: Vec<Value>,
        result: Option<String>,
        then: Option<String>,
    ) -> Result<()> {
        if values.len() != function.parameters.len() {
            bail!(
                "{} arguments for {} parameters; --arguments names what each parameter is",
                values.len(),
                function.parameters.len()
            );
        }
        if path.frames.len() > 32 {
            bail!("calls are nested more than 32 times");
        }
        let mut names = HashMap::new();
        for ((of, name), value) in function.parameters.iter().zip(values) {
            match (of, &value) {
                (Type::Integer(bits), Value::Lanes(lanes)) if lanes.len() == 1 => {
                    let width = self.terms.width(lanes[0].term);
                    if width != *bits {
                        bail!("parameter %{name} is {of}, and the argument has {width} bits");
                    }
                }
                (Type::Pointer, Value::Pointer(_)) | (Type::Vector(..), Value::Lanes(_)) => {}
                _ => bail!("parameter %{name} of type {of} is not known here: the function must take integers"),
            }
            names.insert(name.clone(), value);
        }
        path.frames.push(Frame { function, block: 0, line: 0, from: String::new(), names, result, then });
        Ok(())
    }

    fn follow(&mut self, mut path: Path) -> Result<()> {
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.open.len() + self.done.len() > MOST_PATHS {
                bail!(
                    "more than {MOST_PATHS} paths or {MOST_STEPS} instructions: a loop that depends on the input, or too many branches"
                );
            }
            let frame = path.top();
            let block: &Block = &frame.function.blocks[frame.block];
            let Some(line) = block.lines.get(frame.line).cloned() else { bail!("block %{} has no end", block.label) };
            path.top_mut().line += 1;
            let next = self.line(&mut path, &line).with_context(|| format!("`{}`", shortened(&line)))?;
            if matches!(next, Next::Left) {
                return Ok(());
            }
        }
    }

    fn line(&mut self, path: &mut Path, line: &str) -> Result<Next> {
        let all = tokens(line);
        let mut at = Cursor::new(&all);
        let result = match all.get(1).map(String::as_str) {
            Some("=") if all[0].starts_with('%') => {
                at.next();
                at.next();
                Some(name(&all[0]))
            }
            _ => None,
        };
        at.flags(&["tail", "musttail", "notail"]);
        let op = at.next();
        match op {
            "ret" => self.returned(path, &mut at),
            "br" => self.branch(path, &mut at),
            "switch" => self.switch(path, &mut at),
            "unreachable" => {
                let truth = self.terms.truth(true);
                self.undefined(path, truth);
                Ok(Next::Left)
            }
            "call" | "invoke" => self.call(path, &mut at, result, op == "invoke"),
            _ => {
                let value = instruction::value(self, path, op, &mut at)?;
                match (result, value) {
                    (Some(result), Some(value)) => path.set(result, value),
                    (None, None) => {}
                    _ => bail!("the instruction `{op}` is not known"),
                }
                Ok(Next::Line)
            }
        }
    }

    fn returned(&mut self, path: &mut Path, at: &mut Cursor<'_>) -> Result<Next> {
        let value = match at.peek() {
            "void" => None,
            _ => Some(self.argument(path, at)?.1),
        };
        let frame = path.frames.pop().context("no function returns")?;
        let Some(caller) = path.frames.last_mut() else {
            self.done.push((path.condition, value.context("the function returns nothing")?));
            return Ok(Next::Left);
        };
        if let (Some(result), Some(value)) = (frame.result, value) {
            caller.names.insert(result, value);
        }
        match frame.then {
            Some(label) => path.go(&label),
            None => Ok(Next::Line),
        }
    }

    fn branch(&mut self, path: &mut Path, at: &mut Cursor<'_>) -> Result<Next> {
        if at.take("label") {
            return path.go(&name(at.next()));
        }
        let condition = self.argument(path, at)?.1.scalar()?;
        let mut labels = Vec::new();
        while at.take(",") && at.take("label") {
            labels.push(name(at.next()));
        }
        let [then, other] = labels.as_slice() else { bail!("a branch with {} labels", labels.len()) };
        self.undefined(path, condition.poison);
        self.fork(path, condition.term, then, other)
    }

    /// Goes to `then` if a condition holds, otherwise to `other`. Both paths are followed unless the condition is a constant.
    fn fork(&mut self, path: &mut Path, condition: Term, then: &str, other: &str) -> Result<Next> {
        match self.terms.value(condition) {
            Some(0) => path.go(other),
            Some(_) => path.go(then),
            None => {
                let against = self.terms.not(condition);
                let mut second = path.clone();
                path.condition = self.terms.binary(Op::And, path.condition, condition);
                second.condition = self.terms.binary(Op::And, second.condition, against);
                second.go(other)?;
                if self.terms.value(second.condition) != Some(0) {
                    self.open.push(second);
                }
                path.go(then)
            }
        }
    }

    fn switch(&mut self, path: &mut Path, at: &mut Cursor<'_>) -> Result<Next> {
        let value = self.argument(path, at)?.1.scalar()?;
        at.expect(",")?;
        at.expect("label")?;
        let default = name(at.next());
        at.expect("[")?;
        self.undefined(path, value.poison);
        while !at.take("]") {
            let case = self.argument(path, at)?.1.scalar()?;
            at.expect(",")?;
            at.expect("label")?;
            let label = name(at.next());
            let equal = self.terms.binary(Op::Equal, value.term, case.term);
            let against = self.terms.not(equal);
            let mut taken = path.clone();
            taken.condition = self.terms.binary(Op::And, taken.condition, equal);
            path.condition = self.terms.binary(Op::And, path.condition, against);
            taken.go(&label)?;
            if self.terms.value(taken.condition) != Some(0) {
                self.open.push(taken);
            }
        }
        if self.terms.value(path.condition) == Some(0) {
            return Ok(Next::Left);
        }
        path.go(&default)
    }

    fn call(&mut self, path: &mut Path, at: &mut Cursor<'_>, result: Option<String>, invoke: bool) -> Result<Next> {
        at.flags(&["fastcc", "coldcc", "ccc", "tailcc", "preserve_mostcc"]);
        let range = at.attributes()?;
        let of = at.r#type()?;
        let callee = callee(at)?;
        at.expect("(")?;
        let mut values = Vec::new();
        while !at.take(")") {
            if at.peek() == "metadata" {
                at.skip_to_close();
                break;
            }
            values.push(self.argument(path, at)?);
            at.take(",");
        }
        let then = match invoke {
            true => Some(continuation(at)?),
            false => None,
        };
        let function = match &callee {
            Callee::Function(name) if !name.starts_with("llvm.") => self.function(name)?,
            _ => None,
        };
        if let Some(function) = function {
            let values = values.into_iter().map(|(_, value)| value).collect();
            self.enter(path, function, values, result, then)?;
            return Ok(Next::Line);
        }
        let value = match callee {
            Callee::Function(name) => instruction::called(self, path, &name, of, &values)?,
            Callee::Assembly(template) => instruction::assembly(self, &template, of, &values)?,
        };
        let value = value.map(|value| instruction::in_range(self.terms, value, range)).transpose()?;
        if let (Some(result), Some(value)) = (result, value) {
            path.set(result, value);
        }
        match then {
            Some(label) => path.go(&label),
            None => Ok(Next::Line),
        }
    }

    /// Parses an operand with its type.
    pub(super) fn argument(&mut self, path: &Path, at: &mut Cursor<'_>) -> Result<(Type, Value)> {
        let of = at.r#type()?;
        let range = at.attributes()?;
        let operand = at.operand()?;
        let value = self.operand(path, of, &operand)?;
        Ok((of, instruction::in_range(self.terms, value, range)?))
    }

    /// Returns the value of an operand.
    pub(super) fn operand(&mut self, path: &Path, of: Type, operand: &Operand) -> Result<Value> {
        if let Operand::Local(name) = operand {
            return path.top().names.get(name).cloned().with_context(|| format!("%{name} has no value"));
        }
        if of == Type::Pointer {
            return match operand {
                // No object has the number 0, so nothing can be loaded from it.
                Operand::Number(0) | Operand::Poison => Ok(Value::Pointer(Pointer { object: 0, offset: 0 })),
                // Variables of the module are passed only to functions that are refused.
                Operand::Global(_) => Ok(Value::Pointer(Pointer { object: usize::MAX, offset: 0 })),
                _ => bail!("the address {operand:?} is not known"),
            };
        }
        let bits = of.bits()?;
        let lanes = match operand {
            Operand::Number(number) | Operand::Splat(number) => vec![self.lane(bits, Some(*number)); of.lanes()],
            Operand::Poison => vec![self.lane(bits, None); of.lanes()],
            Operand::Lanes(all) => {
                let lane = |operand: &Operand| match operand {
                    Operand::Number(number) => Ok(Some(*number)),
                    Operand::Poison => Ok(None),
                    other => bail!("the lane {other:?} is not known"),
                };
                let numbers = all.iter().map(lane).collect::<Result<Vec<_>>>()?;
                numbers.into_iter().map(|number| self.lane(bits, number)).collect()
            }
            other => bail!("the operand {other:?} is not known for {of}"),
        };
        Ok(Value::Lanes(lanes))
    }

    /// Returns a constant lane; poison without a number.
    fn lane(&mut self, bits: u32, number: Option<i128>) -> Lane {
        let term = self.terms.constant(number.unwrap_or(0), bits);
        Lane { term, poison: self.terms.truth(number.is_none()) }
    }
}

impl Path {
    fn top(&self) -> &Frame {
        self.frames.last().expect("a path has a function")
    }

    fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a path has a function")
    }

    /// Assigns a value to a name.
    pub(super) fn set(&mut self, name: String, value: Value) {
        self.top_mut().names.insert(name, value);
    }

    /// Returns the label of the previous block.
    pub(super) fn from(&self) -> &str {
        &self.top().from
    }

    /// Goes to the beginning of a block.
    fn go(&mut self, label: &str) -> Result<Next> {
        let frame = self.top_mut();
        let target = frame.function.blocks.iter().position(|block| block.label == label);
        let target = target.with_context(|| format!("no block %{label}"))?;
        frame.from = frame.function.blocks[frame.block].label.clone();
        frame.block = target;
        frame.line = 0;
        Ok(Next::Line)
    }

    /// Returns the further phi lines of the block, whose operands must not see the value of the first phi.
    pub(super) fn lines_of_phi(&self) -> Vec<String> {
        let frame = self.top();
        let lines = &frame.function.blocks[frame.block].lines;
        lines[frame.line..].iter().take_while(|line| line.contains("= phi ")).cloned().collect()
    }

    /// Skips executed lines.
    pub(super) fn skip(&mut self, lines: usize) {
        self.top_mut().line += lines;
    }
}

enum Callee {
    Function(String),
    Assembly(String),
}

fn callee(at: &mut Cursor<'_>) -> Result<Callee> {
    // The type of a variadic function precedes its name.
    if at.take("(") {
        at.skip_to_close();
    }
    match at.peek() {
        "asm" => {
            at.next();
            at.flags(&["sideeffect", "alignstack", "inteldialect"]);
            let template = at.next().trim_matches('"').to_owned();
            at.expect(",")?;
            let constraints = at.next().trim_matches('"').to_owned();
            let registers = constraints.split(',').filter(|part| !part.starts_with('~'));
            if !registers.clone().all(|part| matches!(part, "=w" | "w")) {
                bail!("assembly with the operands `{constraints}` is not known");
            }
            Ok(Callee::Assembly(template))
        }
        token if token.starts_with('@') => Ok(Callee::Function(name(at.next()))),
        token => bail!("the callee `{token}` is not known"),
    }
}

/// Returns the label to which an `invoke` returns.
fn continuation(at: &mut Cursor<'_>) -> Result<String> {
    while !at.peek().is_empty() {
        if at.take("to") {
            at.expect("label")?;
            return Ok(name(at.next()));
        }
        at.next();
    }
    bail!("an invoke without a label")
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().take(120).collect();
    if short.len() < line.len() {
        short.push_str(" ..");
    }
    short
}
