//! Test vectors of a scheme: few small cases that detect known bugs, for tests of a kernel without this program.
//!
//! Candidates are the smallest cases that show each known bug, the small cases of plans and catalogue, and inputs that distinguish the scheme from
//! every other scheme and from every known cause. A greedy cover takes the cases that detect most. Expected results are the oracle's, by both of its
//! forms. Finally, the known bugs run on the whole list in order, to measure what each vector detects.

mod cover;
mod pool;
mod targets;

use crate::erased::{Domain, Kernel, Mutant, Op};
use crate::lane::Lane;
use crate::operation::Element;
use crate::self_check::{Measure, planted};
use anyhow::{Result, bail, ensure};
use cover::{Limits, cover, needed};
use pool::{Entry, Pool, Sources};
use serde_json::Value as Json;
use std::collections::HashSet;
use targets::{Alternative, Seen, alternatives, in_order, seen};
use tiebreak_common::budget::Effort;
use tiebreak_common::{called, parallel};
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger;
use tiebreak_worker::protocol::Job;

/// Number of injected faults that a further vector must add.
const FAULTS: usize = 4;

/// Largest case for injected faults, in bytes.
const TRIED: usize = 512;

/// Request for vectors.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Scheme, `NAME` or `NAME:POLICY`; without a policy, every result fits, so that each policy gives it.
    pub scheme: String,
    /// Kernel with the domain of the vectors; `None`: the domains of the known bugs.
    pub like: Option<String>,
    /// Largest number of vectors.
    pub count: usize,
    /// Largest number of bytes of all vectors: operands, parameters and results.
    pub bytes: usize,
    /// Seed of the plans.
    pub seed: u64,
    /// Test if an output format can express a call; `None` for formats that can express every call.
    pub fits: Option<Fits>,
}

/// Test if an output format can express a call; arguments: parameters, domain, operands and results.
pub type Fits = fn(&Job, &Json, &[i32], &[i32]) -> bool;

/// Tensor of a vector.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name of the tensor; `out` is the result.
    pub name: &'static str,
    /// Dimensions of the tensor.
    pub dimensions: Vec<usize>,
    /// Element type of the tensor.
    pub element: Element,
    /// Words of the elements.
    pub words: Vec<i32>,
}

/// Test vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Case, by argument.
    pub case: ledger::Case,
    /// Element types, as in a line of a file of cases; `None` if the operation has no choice of types.
    pub types: Option<String>,
    /// Parameters, as a worker gets them.
    pub job: Job,
    /// Domain of the case.
    pub domain: Json,
    /// Operands of the case.
    pub operands: Vec<Tensor>,
    /// Results that the scheme expects.
    pub expected: Tensor,
    /// Elements between a 64-byte boundary and the first element of each operand.
    pub misalign: usize,
    /// Known bugs that the vector detects, in a run of all vectors in order.
    pub detects: Vec<&'static str>,
    /// Schemes with other results.
    pub excludes: Vec<String>,
    /// Number of causes of differences that the vector would show.
    pub causes: usize,
    /// Number of bytes of operands, parameters and results.
    pub bytes: usize,
}

impl Vector {
    /// Returns the parameters of the case, without the operands.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &ledger::Value)> {
        let is_operand = |name: &str| {
            let name = name.split('[').next().unwrap_or(name);
            self.operands.iter().any(|operand| operand.name == name)
        };
        self.case.iter().map(|(name, value)| (&**name, value)).filter(move |(name, _)| !is_operand(name))
    }
}

/// Known bug that no vector detects.
#[derive(Clone, Debug)]
pub struct Unreached {
    /// Name of the known bug.
    pub mutant: &'static str,
    /// Reason for a missing vector.
    pub why: String,
}

/// Number of reached targets, of all targets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Number of reached targets.
    pub reached: usize,
    /// Number of all targets.
    pub of: usize,
}

/// Vectors of a scheme.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// Name of the operation.
    pub op: &'static str,
    /// Name and policy of the scheme.
    pub scheme: String,
    /// Vectors, in the order of the greedy cover.
    pub vectors: Vec<Vector>,
    /// Known bugs of kernels that promise the scheme.
    pub mutants: Share,
    /// Known bugs that no vector detects.
    pub unreached: Vec<Unreached>,
    /// Other schemes with other results on some case of the pool.
    pub schemes: Share,
    /// Causes that would change a result on some case of the pool.
    pub causes: Share,
    /// Kernel into which faults of one place were injected, if a kernel promises the scheme.
    pub faulty: Option<&'static str>,
    /// Injected faults.
    pub faults: Share,
}

impl Vectors {
    /// Returns the number of bytes of all vectors.
    pub fn bytes(&self) -> usize {
        self.vectors.iter().map(|vector| vector.bytes).sum()
    }

    /// Returns the number of results of all vectors.
    pub fn results(&self) -> usize {
        self.vectors.iter().map(|vector| vector.expected.words.len() / vector.expected.element.words()).sum()
    }
}

/// Chooses the vectors of a scheme.
pub fn vectors(op: Op, wanted: &Wanted) -> Result<Vectors> {
    let scheme = op.scheme(&wanted.scheme)?;
    let name = scheme.label();
    let like = wanted.like.as_deref().map(|name| like(op, name)).transpose()?;
    let bugs: Vec<&Mutant> = op.mutants().iter().filter(|mutant| follows(&mutant.kernel, &name)).collect();
    let lane = Lane::host();
    let domains = domains(op, like, &bugs, &name);
    ensure!(
        !domains.is_empty(),
        "no kernel and no known bug of {} promises {name}: say whose domain the vectors are to have, with --like KERNEL; `{} kernels --op {}` lists them",
        op.name(),
        called::program(),
        op.name()
    );
    let alternatives = alternatives(&scheme, domains[0]);
    let (bugs, domains) = (&bugs[..], &domains[..]);
    let sources = Sources { scheme: &scheme, bugs, domains, alternatives: &alternatives, lane: &lane, wanted };
    let pool = Pool::of(&sources);
    let entries = &pool.entries;
    let of_bugs: Vec<Vec<Seen>> =
        parallel::map(bugs, |bug| entries.iter().map(|entry| seen(bug, entry, &lane)).collect());
    let of_alternatives: Vec<Vec<bool>> =
        parallel::map(&alternatives, |other| entries.iter().map(|entry| other.differs(entry)).collect());
    let bytes: Vec<usize> = entries.iter().map(|entry| entry.bytes).collect();
    let shows: Vec<Vec<bool>> =
        of_bugs.iter().map(|of| of.iter().map(|seen| *seen == Seen::Differs).collect()).collect();
    let limits = Limits { count: wanted.count, bytes: wanted.bytes, gain: 1 };
    let mut chosen = needed(&shows, &bytes, cover(&shows, &bytes, limits, Vec::new()));
    // The remaining room is for vectors that distinguish the scheme from others.
    chosen = cover(&of_alternatives, &bytes, limits, chosen);
    let (faulty, of_faults) = faults(op, (wanted, &name), entries, &lane);
    chosen = cover(&of_faults, &bytes, Limits { gain: FAULTS, ..limits }, chosen);
    let detects = in_order(bugs, &chosen.iter().map(|at| &entries[*at]).collect::<Vec<_>>(), &lane);
    let vector = |(place, at): (usize, &usize)| {
        let of_bug = detects.iter().zip(bugs).filter(|(of, _)| of[place]).map(|(_, bug)| bug.kernel.name).collect();
        let others = alternatives.iter().zip(&of_alternatives).filter(|(_, of)| of[*at]).map(|(other, _)| other);
        entries[*at].vector(of_bug, others)
    };
    let vectors: Vec<Vector> = chosen.iter().enumerate().map(vector).collect::<Result<_>>()?;
    let alive = (0..bugs.len()).filter(|at| !detects[*at].contains(&true));
    let alive = alive.map(|at| Unreached { mutant: bugs[at].kernel.name, why: pool.why(at, &of_bugs[at], wanted) });
    let processes = processes(op, &name);
    let all = bugs.len() + processes.len();
    let unreached: Vec<Unreached> = alive.chain(processes).collect();
    let share = |is: fn(&Alternative) -> bool| {
        let kind = || alternatives.iter().zip(&of_alternatives).filter(|(other, of)| is(other) && of.contains(&true));
        Share { reached: kind().filter(|(_, of)| chosen.iter().any(|at| of[*at])).count(), of: kind().count() }
    };
    Ok(Vectors {
        op: op.name(),
        scheme: name,
        vectors,
        mutants: Share { reached: all - unreached.len(), of: all },
        unreached,
        schemes: share(|other| other.is_scheme),
        causes: share(|other| !other.is_scheme),
        faulty,
        faults: Share {
            reached: of_faults.iter().filter(|of| chosen.iter().any(|at| of[*at])).count(),
            of: of_faults.len(),
        },
    })
}

/// Returns the known bugs of the process, which no result shows.
fn processes(op: Op, name: &str) -> Vec<Unreached> {
    let of_scheme = op.lists().process_mutants.iter().filter(|kernel| follows(kernel, name));
    let why = "it is right on a case alone: it crashes, hangs, gives another number of results, or depends on calls before; `verify` detects it";
    of_scheme.map(|kernel| Unreached { mutant: kernel.name, why: why.to_owned() }).collect()
}

/// Returns the kernel into which faults are injected, with flags, for each fault, of the entries that show it.
fn faults(
    op: Op,
    (wanted, name): (&Wanted, &str),
    entries: &[Entry],
    lane: &Lane,
) -> (Option<&'static str>, Vec<Vec<bool>>) {
    let promised = |kernel: &&Kernel| {
        !kernel.contract.domain.is_compiled()
            && lane.isa_path(op.name(), kernel.name).is_some()
            && follows(kernel, name)
            && wanted.like.as_ref().is_none_or(|like| like == kernel.name)
    };
    let takes = |kernel: &&'static Kernel| entries.iter().filter(|e| e.is_of(&kernel.contract.domain)).count();
    let Some(kernel) = op.kernels().iter().filter(promised).max_by_key(takes) else { return (None, Vec::new()) };
    let places: Vec<usize> = (0..entries.len())
        .filter(|at| entries[*at].is_of(&kernel.contract.domain) && entries[*at].bytes <= TRIED)
        .collect();
    let cases: Vec<_> = places.iter().map(|at| &entries[*at].case).collect();
    let measure = Measure { lane, effort: Effort::Quick, seed: wanted.seed, sample: 1 };
    // Faults cannot be injected into a kernel that differs from its contract.
    let Ok(rows) = planted::alone(kernel, &cases, &measure) else { return (None, Vec::new()) };
    let whole = |row: Vec<bool>| {
        let mut out = vec![false; entries.len()];
        places.iter().zip(row).for_each(|(at, shows)| out[*at] = shows);
        out
    };
    (Some(kernel.name), rows.into_iter().map(whole).collect())
}

/// True if the results of a promise are the wanted scheme's. A wanted scheme without a policy has no value where policies differ; with a value, each
/// policy gives the same.
fn follows(kernel: &Kernel, wanted: &str) -> bool {
    let promised = kernel.promise().map(|scheme| scheme.label());
    promised.is_ok_and(|promised| promised == wanted || promised.split(':').next() == Some(wanted))
}

/// Returns the domain of a kernel.
fn like(op: Op, name: &str) -> Result<&'static Domain> {
    let kernel = op.find(name).ok_or_else(|| unknown("kernel", name, op.kernels().iter().map(|kernel| kernel.name)))?;
    if kernel.contract.domain.is_compiled() {
        bail!("{name} is made by a compiler and runs in lanes of its modules; name another kernel");
    }
    Ok(&kernel.contract.domain)
}

/// Returns the domains of candidates: the domain of the caller's kernel; otherwise the domains of the known bugs, or of kernels if there is no bug.
fn domains(op: Op, like: Option<&'static Domain>, bugs: &[&'static Mutant], name: &str) -> Vec<&'static Domain> {
    if let Some(domain) = like {
        return vec![domain];
    }
    let promised = op.kernels().iter().filter(|kernel| follows(kernel, name));
    let all: Vec<&'static Domain> = match bugs {
        [] => promised.map(|kernel| &kernel.contract.domain).collect(),
        bugs => bugs.iter().map(|bug| &bug.kernel.contract.domain).collect(),
    };
    let mut known = HashSet::new();
    let is_new = |domain: &&Domain| !domain.is_compiled() && known.insert(format!("{domain:?}"));
    all.into_iter().filter(is_new).collect()
}

impl Entry {
    /// Builds the vector for the caller.
    fn vector<'a>(&self, detects: Vec<&'static str>, others: impl Iterator<Item = &'a Alternative>) -> Result<Vector> {
        let (domain, case) = (self.domain, &self.case);
        let tensor = |t: usize, name: &'static str, words: &[i32]| Tensor {
            name,
            dimensions: domain.dimensions(&case.params, t),
            element: domain.element(&case.params, t),
            words: words.to_vec(),
        };
        let operands =
            domain.op().tensors().iter().enumerate().map(|(t, name)| tensor(t, name, &case.tensors[t])).collect();
        let (schemes, causes): (Vec<_>, Vec<_>) = others.partition(|other| other.is_scheme);
        Ok(Vector {
            case: self.text.clone(),
            types: self.types.clone(),
            job: case.params.job("vector"),
            domain: domain.json()?,
            operands,
            expected: tensor(domain.op().tensors().len(), "out", &self.expected),
            misalign: case.misalign,
            detects,
            excludes: schemes.into_iter().map(|other| other.name.clone()).collect(),
            causes: causes.len(),
            bytes: self.bytes,
        })
    }
}
