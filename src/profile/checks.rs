//! What two keys mean together: combinations that could never do what they say are refused at load.

use super::doubtful;
use super::problem::Report;
use super::waits;
use crate::engine::fault::FaultTable;
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Spot};
use crate::engine::rule::Rule;
use crate::engine::selector::At;

/// `nth` names points; `skip` and `every` count them: both at once would have two meanings.
pub(super) fn triggers(report: &mut Report, params: &Params) {
    let Some(spot) = params.written("nth") else { return };
    for other in ["skip", "every"] {
        if params.written(other).is_some() {
            report.wrong(spot, format!("`nth` together with `{other}`"), "write nth as a list, or leave it out");
        }
    }
}

/// The parameters of a fault, read without a problem, at the point where it acts.
pub(super) fn fault(report: &mut Report, table: &FaultTable, params: &Params, at: At, spot: &Spot) {
    let mut slips = Complaints::default();
    (table.check)(params, at, spot, &mut slips);
    report.complain(slips);
}

/// A whole rule.
pub(super) fn rule(report: &mut Report, rule: &Rule, spot: &Spot) {
    let mut slips = Complaints::default();
    rule.fault.check(rule, spot, &mut slips);
    report.complain(slips);
    waits::rule(report, rule, spot);
}

/// What of a rule is right and most likely not meant; `fault`: where its fault is written.
pub(super) fn doubts(report: &mut Report, rule: &Rule, params: &Params, fault: &Spot) {
    for (key, what, instead) in doubtful::rules::rule(rule) {
        let spot = key.and_then(|key| params.written(key)).unwrap_or(fault);
        report.doubt(spot, &what, instead);
    }
}
