//! Instructions on bytes run on every pair of operands.

use std::collections::BTreeSet;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::instruction::Instruction;
use tiebreak_suites::operation::CaseSelection;

#[test]
fn bytes_are_all_there() {
    let domain = &op::<Instruction>().find("srshl.s8").expect("an instruction on bytes").contract.domain;
    let plan = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let cases: Vec<_> = plan.iter().map(|spec| spec.case(domain, 1).expect("it has sizes")).collect();
    let domain = domain.typed::<Instruction>();
    // Each lane of a vector has every pair.
    for lane in 0..domain.lanes() {
        let of_lane = |t: usize| cases.iter().flat_map(move |c| c.tensors[t].iter().skip(lane).step_by(domain.lanes()));
        let pairs: BTreeSet<_> = of_lane(0).zip(of_lane(1)).collect();
        assert_eq!(pairs.len(), 1 << 16, "lane {lane}");
    }
    assert!(Instruction::exhaustive(domain));
}
