//! What a rule does, one file for each fault: its words, its parameters, what it says of itself, what it does.
//!
//! A new fault is a file with a `TABLE` and an [`Act`], and a line in `faults!` below (ARCHITECTURE.md, "How to add a
//! fault").

pub mod buffer;
pub mod cut;
pub mod delay;
pub mod dropping;
pub mod duplicate;
pub mod event_text;
pub mod hold;
pub mod inject;
pub mod moving;
pub mod reframe;
pub mod reorder;
pub mod respond;
pub mod resumable;
pub mod rewrite;
pub mod route;
pub mod throttle;

use super::condition::{Condition, Time};
use super::effects::{Did, Outcome};
use super::engine::Engine;
use super::event::Moment;
use super::language::params::Params;
use super::language::{Complaints, Field, Spot};
use super::rule::Rule;
use super::selector::{At, Selector};
use super::unit::{LaneId, Parcel};

/// The table of faults, in the order of the manual: `Type = module`.
macro_rules! faults {
    ($($fault:ident = $module:ident,)*) => {
        /// What is done (docs/language.md, "Faults").
        #[derive(Debug, Clone, PartialEq)]
        pub enum Fault {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $fault($module::$fault),)*
        }

        impl Fault {
            fn acting(&self) -> &dyn Act {
                match self { $(Self::$fault(fault) => fault,)* }
            }

            /// Its words in the language.
            #[must_use]
            pub fn table(&self) -> &'static FaultTable {
                match self { $(Self::$fault(_) => &$module::TABLE,)* }
            }
        }

        /// All of them.
        pub static FAULTS: &[&FaultTable] = &[$(&$module::TABLE,)*];
    };
}

faults! {
    Delay = delay,
    Hold = hold,
    Buffer = buffer,
    Reorder = reorder,
    Throttle = throttle,
    Cut = cut,
    Drop = dropping,
    Duplicate = duplicate,
    Respond = respond,
    Rewrite = rewrite,
    Inject = inject,
    Reframe = reframe,
    Move = moving,
    Resumable = resumable,
    Route = route,
}

/// The fault of that name.
#[must_use]
pub fn fault(name: &str) -> Option<&'static FaultTable> {
    FAULTS.iter().copied().find(|fault| fault.name == name)
}

/// A fault's words: where it can act, its parameters.
#[derive(Debug)]
pub struct FaultTable {
    /// Its key in a rule.
    pub name: &'static str,
    /// The points at which it can act.
    pub at: &'static [At],
    /// The parameter that a value which is no table of parameters stands for.
    pub main: Option<&'static str>,
    /// What it does, without a full stop.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Field],
    /// Makes it of parameters that were read without a complaint.
    pub make: fn(&Params, At) -> Option<Fault>,
    /// What two parameters mean together: complains of combinations that could never do what they say.
    pub check: fn(&Params, At, &Spot, &mut Complaints),
}

/// The parameters cannot contradict each other.
pub(crate) fn unchecked(_: &Params, _: At, _: &Spot, _: &mut Complaints) {}

/// A fault's turn to act on a point that has arrived.
pub(crate) struct Turn<'a> {
    pub(in crate::engine) now: Moment,
    pub(in crate::engine) rule: usize,
    /// The queue on which the parcel will stand.
    pub(in crate::engine) lane: &'a mut LaneId,
    pub(in crate::engine) parcel: &'a mut Parcel,
}

/// What a fault does, and what must be known of it beforehand.
pub(crate) trait Act {
    /// Says what the parcel waits for, or what happens when it leaves; carries nothing out. Where the wire changes or an
    /// order is ensured it says so ([`Engine::effective`]): a rule that never does fails the run.
    fn act(&self, engine: &mut Engine, turn: Turn<'_>);

    /// It in English, as the second half of "at these points: ...".
    fn explain(&self) -> String;

    /// The condition on which it waits.
    fn waits_for(&self) -> Option<&Condition> {
        None
    }

    /// A time that is drawn for each point, and the purpose under which the journal has it.
    fn drawn(&self) -> Option<(&'static str, Time)> {
        None
    }

    /// The streams to which it moves blocks, as a selector of their heads.
    fn target(&self) -> Option<Selector> {
        None
    }

    /// Whether the body of an answer may not be what its length says, if it acts at this point.
    fn changes(&self, at: At) -> bool {
        at == At::Block
    }

    /// What it has done, as the rule of this number, to a point whose fate is known, for the verdict; what a hold did its gate
    /// says, and what was done to a body piece by piece is summed up ([`Engine::sum`]).
    fn told(&self, _: &Engine, _: &Outcome<'_>, _: usize) -> Option<Did> {
        None
    }

    /// What a point that it made has done by passing; then it is effective, if it was made at a firing.
    fn made(&self, _: &Engine, _: &Outcome<'_>) -> Option<Did> {
        None
    }

    /// Whether it happens in the place of the unit it is planned for, which then does not pass.
    fn stands_in_for(&self) -> bool {
        false
    }

    /// Whether it may act on the body behind a head at which it fires.
    fn reaches_the_body(&self) -> bool {
        false
    }

    /// Whether it acts on each block behind a point at which it fires, or puts something between them.
    fn takes_the_blocks(&self) -> bool {
        false
    }

    /// Whether it gives the body behind a head at which it acts another form.
    fn turns_the_body(&self) -> bool {
        false
    }

    /// Whether it gives requests other ids, which what answers them must not show.
    fn renames(&self) -> bool {
        false
    }

    /// How many servers it needs.
    fn servers(&self) -> usize {
        1
    }

    /// Whether it wants the server to feel that something waits.
    fn presses(&self) -> bool {
        false
    }

    /// Complains of a whole rule that could never do what it says.
    fn check(&self, _: &Rule, _: &Spot, _: &mut Complaints) {}
}

impl Fault {
    /// Whether it keeps a unit for good: then it changed something when it began.
    pub(super) fn is_for_good(&self) -> bool {
        matches!(self, Self::Hold(hold) if hold.until == Condition::Never)
    }

    /// Its word in the language.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.table().name
    }
}

// What the table of faults is asked for, by name.
impl Fault {
    pub(super) fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        self.acting().act(engine, turn);
    }

    pub(crate) fn explain(&self) -> String {
        self.acting().explain()
    }

    pub(crate) fn waits_for(&self) -> Option<&Condition> {
        self.acting().waits_for()
    }

    pub(super) fn drawn(&self) -> Option<(&'static str, Time)> {
        self.acting().drawn()
    }

    pub(super) fn target(&self) -> Option<Selector> {
        self.acting().target()
    }

    pub(super) fn changes(&self, at: At) -> bool {
        self.acting().changes(at)
    }

    pub(super) fn told(&self, engine: &Engine, outcome: &Outcome<'_>, rule: usize) -> Option<Did> {
        self.acting().told(engine, outcome, rule)
    }

    pub(crate) fn servers(&self) -> usize {
        self.acting().servers()
    }

    pub(super) fn takes_the_blocks(&self) -> bool {
        self.acting().takes_the_blocks()
    }

    pub(super) fn reaches_the_body(&self) -> bool {
        self.acting().reaches_the_body()
    }

    pub(super) fn turns_the_body(&self) -> bool {
        self.acting().turns_the_body()
    }

    pub(super) fn renames(&self) -> bool {
        self.acting().renames()
    }

    pub(super) fn made(&self, engine: &Engine, outcome: &Outcome<'_>) -> Option<Did> {
        self.acting().made(engine, outcome)
    }

    pub(super) fn presses(&self) -> bool {
        self.acting().presses()
    }

    pub(super) fn stands_in_for(&self) -> bool {
        self.acting().stands_in_for()
    }

    pub(crate) fn check(&self, rule: &Rule, spot: &Spot, slips: &mut Complaints) {
        self.acting().check(rule, spot, slips);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_main_parameter_is_the_first() {
        for fault in FAULTS {
            if let Some(main) = fault.main {
                assert_eq!(fault.params.first().map(|field| field.key), Some(main), "{}", fault.name);
            }
        }
    }
}
