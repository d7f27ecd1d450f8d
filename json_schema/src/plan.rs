//! Arrays and objects as counters and sets: which element or property may come next, and whether the end can be reached.
//!
//! A plan is made of one [`ArraySpec`](crate::ir::ArraySpec) or [`ObjectSpec`](crate::ir::ObjectSpec). What must hold of
//! *some* element or property is guessed where it is read: of each element a plan lists the choices, what its value must
//! then be and what that counts for. So a plan never asks what the value was. The same plan answers while the schema
//! is normalised (is there any such value?) and while a text is parsed (what may come next?).

mod alike;
pub(crate) mod arrays;
pub(crate) mod bits;
pub(crate) mod objects;

/// Why a plan has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// More combinations than the limit of what one property or element may be.
    TooManyChoices,
    /// The search for an end was given up.
    SearchGivenUp,
    /// There is a mistake, which is already reported.
    Reported,
}
