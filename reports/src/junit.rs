//! `junit.xml`: a run for a build server. A suite is a lane. A case is a kernel against its contract, a self-check, a bound, the catalogue of
//! an operation, or the start of a lane. Every finding of the ledger fails exactly one case, and so does a run that did not end. A catalogue
//! with outputs outside a contract fails in addition to the kernels. Bit-for-bit comparisons promise nothing, so they fail no case.

use crate::drawable;
use crate::ledger::{Against, Bound, CatalogueRun, CheckKind, Finding, Lane, LaneStatus, Ledger, Row, SelfCheck};
use crate::left_out;
use crate::text;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeSet;
use std::time::Duration;

/// Draws a ledger as JUnit XML.
pub fn render(ledger: &Ledger) -> String {
    drawn(&drawable::ledger(ledger))
}

/// Draws a ledger whose texts are drawable.
pub(crate) fn drawn(ledger: &Ledger) -> String {
    let mut report = Report::new("tiebreak");
    report.set_time(duration(ledger.seconds));
    report.add_test_suites(ledger.unfinished.as_deref().map(|why| unfinished(why, &ledger.command)));
    for suite in Suites::new(ledger).all() {
        report.add_test_suite(suite);
    }
    report.to_string().expect("written to memory, from strings")
}

/// Suite of a run that did not end.
fn unfinished(why: &str, command: &str) -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(format!("unfinished: {why}")).set_type("unfinished");
    status.set_description(format!("again: {command}"));
    let mut suite = TestSuite::new("run");
    suite.add_test_case(case("run", "the run ends".to_owned(), status));
    suite
}

/// Suites of a ledger, and the findings that no case has reported yet.
struct Suites<'a> {
    ledger: &'a Ledger,
    pending: Vec<&'a Finding>,
}

impl<'a> Suites<'a> {
    fn new(ledger: &'a Ledger) -> Self {
        Self { ledger, pending: ledger.findings.iter().collect() }
    }

    fn all(mut self) -> Vec<TestSuite> {
        let names: Vec<_> = self.ledger.lanes.iter().map(|lane| lane.name.as_str()).collect();
        let known: BTreeSet<_> = names.iter().copied().collect();
        let unknown: BTreeSet<_> = self.lanes_named().filter(|n| !known.contains(n)).collect();
        let names: Vec<_> = names.into_iter().chain(unknown).collect();
        names.into_iter().map(|lane| self.suite(lane)).collect()
    }

    /// Returns the lane of each row, check, bound, catalogue run and finding.
    fn lanes_named(&self) -> impl Iterator<Item = &'a str> {
        let rows = self.ledger.rows.iter().map(|row| row.lane.as_str());
        let checks = self.ledger.self_checks.iter().map(|check| check.lane.as_str());
        let bounds = self.ledger.bounds.iter().map(|bound| bound.lane.as_str());
        let catalogue = self.ledger.catalogue.iter().map(|run| run.lane.as_str());
        rows.chain(checks)
            .chain(bounds)
            .chain(catalogue)
            .chain(self.ledger.findings.iter().map(|finding| finding.lane.as_str()))
    }

    fn suite(&mut self, name: &str) -> TestSuite {
        let ledger = self.ledger;
        let mut suite = TestSuite::new(if name.is_empty() { "run" } else { name });
        for lane in ledger.lanes.iter().filter(|lane| lane.name == name) {
            suite.add_test_case(self.lane(lane));
        }
        for run in ledger.catalogue.iter().filter(|run| run.lane == name) {
            suite.add_test_case(self.catalogue(run));
        }
        // Bounds take their findings first, because a kernel takes every other finding about it.
        let bounds: Vec<_> = ledger.bounds.iter().filter(|bound| bound.lane == name).map(|b| self.bound(b)).collect();
        let contract = |row: &&Row| row.lane == name && row.against == Against::Contract;
        for row in ledger.rows.iter().filter(contract) {
            suite.add_test_case(self.kernel(row));
        }
        suite.add_test_cases(bounds);
        for check in ledger.self_checks.iter().filter(|check| check.lane == name) {
            suite.add_test_case(self.check(check));
        }
        for finding in self.take(|finding| finding.lane == name) {
            suite.add_test_case(self.lone(finding));
        }
        let seconds = suite.test_cases.iter().filter_map(|case| case.time).sum();
        suite.set_time(seconds);
        suite
    }

    fn take(&mut self, wanted: impl Fn(&Finding) -> bool) -> Vec<&'a Finding> {
        let (taken, left) = self.pending.drain(..).partition(|finding| wanted(finding));
        self.pending = left;
        taken
    }

    fn lane(&mut self, lane: &Lane) -> TestCase {
        let findings = self.take(|f| f.lane == lane.name && f.class == "not-run");
        let status = match &lane.status {
            LaneStatus::Ran { .. } => self.status(&findings),
            LaneStatus::NotRun { reason, allowed: true } => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(format!("not run: {reason}"));
                status
            }
            LaneStatus::NotRun { reason, allowed: false } => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(format!("not run: {reason}")).set_type("not-run");
                status.set_description(format!("again: {}", self.ledger.command));
                status
            }
        };
        case("lane", format!("{} runs", lane.name), status)
    }

    fn kernel(&mut self, row: &Row) -> TestCase {
        let of_row = |f: &Finding| (&f.op, &f.kernel, &f.lane) == (&row.op, &row.kernel, &row.lane) && !is_check(f);
        let findings = self.take(of_row);
        let name = format!("{} against {}", row.kernel, row.scheme);
        let status = if findings.is_empty() && row.judged() == 0 { unjudged() } else { self.status(&findings) };
        let mut case = case(&row.op, name, status);
        case.set_time(duration(row.seconds));
        case
    }

    fn check(&mut self, check: &SelfCheck) -> TestCase {
        let of_check =
            |f: &Finding| (&f.op, &f.kernel, &f.lane) == (&check.op, &check.name, &check.lane) && is_check(f);
        let findings = self.take(of_check);
        let status = match check.passed {
            true => self.status(&findings),
            false => self.failed_check(check, &findings),
        };
        let kind = match check.kind {
            CheckKind::Mutant => "mutant",
            CheckKind::Control => "control",
        };
        case(&format!("{}.self-check", check.op), format!("{kind} {}", check.name), status)
    }

    /// Case of a catalogue. The kernels fail with their own findings; this case states that kept cases are among the failures.
    fn catalogue(&self, run: &CatalogueRun) -> TestCase {
        let mut status = TestCaseStatus::success();
        if run.broken > 0 {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let [broken, judged] = [run.broken, run.judged].map(text::count);
            status.set_message(format!("{broken} of {judged} outputs are outside a contract")).set_type("catalogue");
            status.set_description(format!("again: {}", self.ledger.command));
        }
        case(&format!("{}.catalogue", run.op), "kept cases".to_owned(), status)
    }

    fn bound(&mut self, bound: &Bound) -> TestCase {
        let begins = format!("{} is not ", bound.quantity);
        let findings = self.take(|f| {
            let about = (&f.op, &f.kernel, &f.lane) == (&bound.op, &bound.kernel, &bound.lane);
            about && f.class == "bound" && f.message.starts_with(&begins)
        });
        let mut status = self.status(&findings);
        if findings.is_empty() && !bound.shown {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(format!("{} is not {}", bound.quantity, text::bound(bound))).set_type("bound");
            status.set_description(format!("again: {}", self.ledger.command));
        }
        case(&format!("{}.bounds", bound.op), format!("{} {}", bound.kernel, bound.quantity), status)
    }

    fn failed_check(&self, check: &SelfCheck, findings: &[&Finding]) -> TestCaseStatus {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(crate::self_checks::describe(check)).set_type("self-check");
        let description = self.describe(findings);
        let again = format!("again: {}", self.ledger.command);
        status.set_description(if description.is_empty() { again } else { description });
        status
    }

    /// Case of a finding without a row and self-check: about a lane, or about a kernel without a row.
    fn lone(&self, finding: &Finding) -> TestCase {
        let kernel = if finding.kernel.is_empty() { "lane" } else { &finding.kernel };
        let name = format!("{kernel} {}", finding.class);
        let class = if finding.op.is_empty() { "lane" } else { &finding.op };
        case(class, name, self.status(&[finding]))
    }

    fn status(&self, findings: &[&Finding]) -> TestCaseStatus {
        let Some(first) = findings.first() else {
            return TestCaseStatus::success();
        };
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(text::finding(first)).set_type(first.class.as_str());
        status.set_description(self.describe(findings));
        status
    }

    fn describe(&self, findings: &[&Finding]) -> String {
        let mut lines = Vec::new();
        for finding in findings {
            lines.push(text::finding(finding));
            lines.extend(text::finding_details(finding));
            lines.push(format!("again: {}", text::rerun(finding, &self.ledger.command)));
        }
        lines.join("\n")
    }
}

/// Status of a kernel without an input judged by its contract: skipped, not passed.
fn unjudged() -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(left_out::NOTHING_JUDGED);
    status
}

fn is_check(finding: &Finding) -> bool {
    finding.class == "self-check"
}

fn case(class: &str, name: String, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}

/// A ledger from a file may have any number, but a duration cannot be negative.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
