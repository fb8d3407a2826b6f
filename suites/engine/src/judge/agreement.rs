//! Bitwise comparison of two kernels with the same scheme, or of a kernel in two lanes. Includes results without a value by the contract, for which
//! each target gives the value of the instructions.
//!
//! Poison has no expected value, but a reviewer wants to know which inputs change with target or optimization level. Compiled casts are therefore
//! compared to the bit with the models of their lowering, and lane with lane. Such a difference is never a finding.

use crate::erased::{Domain, Kernel, Params};
use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::case::Case;
use crate::operation::observed::Witness;
use crate::operation::selection::CaseSelection;
use crate::run::answers::{Answers, answers, tried};
use crate::run::shrink::shrink_by;
use crate::run::subject::ExpectedCase;
use std::collections::BTreeMap;
use tiebreak_impls::quantized;

/// Counterpart of a comparison.
enum Other {
    /// The same kernel in another lane, by the number of the lane.
    Lane(usize),
    /// A kernel of the same promise, in this process.
    Kernel(&'static Kernel),
}

/// Comparison of a kernel in a lane with a counterpart.
pub struct Agreement {
    lane: usize,
    other: Other,
    /// Number of results compared.
    pub results: u64,
    /// Number of results not compared, because the counterpart's domain does not have their case.
    pub not_compared: u64,
    /// Number of compared results without a value by the contract.
    pub open: u64,
    /// Number of differing results with a value by the contract.
    pub differ: u64,
    /// Number of differing results without a value by the contract.
    pub differ_open: u64,
    /// Number of differing results, by type.
    pub types: BTreeMap<String, u64>,
    smallest: Option<Case<Params>>,
}

/// All comparisons of a kernel.
pub struct Agreements<'a> {
    kernel: &'static Kernel,
    lanes: &'a [&'a Lane],
    host: Lane,
    /// Comparisons, in the order of lanes.
    each: Vec<Agreement>,
}

impl<'a> Agreements<'a> {
    /// Plans the comparisons. A compiled kernel is compared with the kernels of this process with the same promise, and lane with lane. Any other
    /// kernel is compared, in the first lane, with the following kernels of the registry.
    pub fn new(kernel: &'static Kernel, lanes: &'a [&'a Lane]) -> Self {
        let compiled = kernel.contract.domain.is_compiled();
        let after = kernel.op().kernels().iter().skip_while(|k| !compiled && k.name != kernel.name);
        let same = after.filter(|k| k.name != kernel.name && k.contract.promise == kernel.contract.promise);
        let models: Vec<_> =
            same.filter(|k| kernel.op().capabilities().compiled.compared && !k.contract.domain.is_compiled()).collect();
        let mut each = Vec::new();
        for lane in 0..lanes.len() {
            if compiled || lane == 0 {
                each.extend(models.iter().map(|model| Agreement::new(lane, Other::Kernel(model))));
            }
            if kernel.op().capabilities().compiled.compared && compiled {
                each.extend((lane + 1..lanes.len()).map(|other| Agreement::new(lane, Other::Lane(other))));
            }
        }
        Self { kernel, lanes, host: Lane::host(), each }
    }

    /// Compares the lanes' answers for some cases.
    pub fn compare(&mut self, cases: &[ExpectedCase], given: &[Answers]) {
        let Self { kernel, host, each, .. } = self;
        let mut models: BTreeMap<&str, Answers> = BTreeMap::new();
        for agreement in each {
            let theirs = match agreement.other {
                Other::Lane(lane) => &given[lane],
                Other::Kernel(model) => {
                    models.entry(model.name).or_insert_with(|| answers(&Runner::new(host), model, cases, true))
                }
            };
            for (at, expected_case) in cases.iter().enumerate() {
                if let (Some(ours), Some(theirs)) = (&given[agreement.lane].each[at], &theirs.each[at]) {
                    agreement.add(&kernel.contract.domain, expected_case, ours, theirs);
                }
            }
        }
    }

    /// Returns the comparisons with at least one result.
    pub fn compared(&self) -> Vec<&Agreement> {
        self.each.iter().filter(|agreement| agreement.results > 0).collect()
    }

    /// Returns the kernel's lane, and name and lane of the counterpart.
    pub fn parties(&self, agreement: &Agreement) -> (&Lane, (&'static str, &Lane)) {
        let lane = self.lanes[agreement.lane];
        match agreement.other {
            Other::Lane(other) => (lane, (self.kernel.name, self.lanes[other])),
            Other::Kernel(model) => (lane, (model.name, &self.host)),
        }
    }

    /// Returns a small case with different results of the two parties.
    pub fn witness(&self, agreement: &Agreement, selection: &CaseSelection) -> Option<Witness<Params>> {
        let domain = &self.kernel.contract.domain;
        let (lane, (other, their_lane)) = self.parties(agreement);
        let (mut ours, mut theirs) = (lane.lease(), their_lane.lease());
        let mut shows = |case: &Case<Params>| {
            let got = tried(&mut ours, self.kernel.name, domain, case)?;
            let expected = tried(&mut theirs, other, domain, case)?;
            let element = domain.result_element(&case.params);
            let pairs = || got.chunks(element.words()).zip(expected.chunks(element.words()));
            let index = pairs().position(|(a, b)| a != b)?;
            let (got, expected) = pairs().nth(index)?;
            Some(Witness {
                case: case.clone(),
                index,
                got: element.described(got),
                expected: element.described(expected),
            })
        };
        let first = shows(agreement.smallest.as_ref()?)?;
        Some(shrink_by(domain, selection, first, &mut shows))
    }
}

impl Agreement {
    fn new(lane: usize, other: Other) -> Self {
        let types = BTreeMap::new();
        Self { lane, other, results: 0, not_compared: 0, open: 0, differ: 0, differ_open: 0, types, smallest: None }
    }

    fn add(&mut self, domain: &Domain, expected_case: &ExpectedCase, ours: &[i32], theirs: &[i32]) {
        let words = domain.result_element(&expected_case.case.params).words();
        if let Other::Kernel(model) = self.other
            && !model.contract.domain.covers(&expected_case.case.params)
        {
            self.not_compared += (ours.len() / words) as u64;
            return;
        }
        let mut differ = 0;
        for (at, (a, b)) in ours.chunks(words).zip(theirs.chunks(words)).enumerate() {
            let open = expected_case.contract[at * words].is_none();
            self.results += 1;
            self.open += u64::from(open);
            if a != b {
                differ += 1;
                *(if open { &mut self.differ_open } else { &mut self.differ }) += 1;
            }
        }
        if differ == 0 {
            return;
        }
        *self.types.entry(type_name(&expected_case.case.params)).or_default() += differ;
        let size = |case: &Case<Params>| case.tensors.iter().map(Vec::len).sum::<usize>();
        if self.smallest.as_ref().is_none_or(|known| size(&expected_case.case) < size(known)) {
            self.smallest = Some((*expected_case.case).clone());
        }
    }
}

/// Names the stored and the expressed type: `i8:f32`.
fn type_name(params: &Params) -> String {
    let name = |p: &quantized::Params| format!("{}:{}", p.quantized.storage.name(), p.quantized.expressed.name());
    (params.op().capabilities().compiled.function)(params).map_or_else(String::new, |function| name(&function.params))
}
