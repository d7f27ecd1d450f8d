//! Parameters: `rule::incr([0:4])` and `%if lt([0:4], 3)`.

use larkspur_grammar::param::Comparison;
use larkspur_grammar::{Condition, ConditionId, ParamExpr, ParamRange};

use crate::error::{ParameterMistake, SyntaxMistake};
use crate::lexer::{Lexeme, SyntaxKind};
use crate::parser::{Parse, Parser};

/// What a number that may be any is called in messages.
const WHOLE: &str = "a whole number of at most 64 bits";

/// Names of parameter functions.
pub(crate) const FUNCTIONS: &[&str] = &["set_bit", "clear_bit", "bit_and", "bit_or", "incr", "decr"];

/// Names of conditions.
pub(crate) const CONDITIONS: &[&str] = &[
    "true",
    "bit_set",
    "bit_clear",
    "is_ones",
    "is_zeros",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bit_count_eq",
    "bit_count_ne",
    "bit_count_lt",
    "bit_count_le",
    "bit_count_gt",
    "bit_count_ge",
    "and",
    "or",
    "not",
];

fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "lt" => Comparison::Lt,
        "le" => Comparison::Le,
        "gt" => Comparison::Gt,
        "ge" => Comparison::Ge,
        _ => return None,
    })
}

/// `not(…)`, `and(…)` or `or(…)` whose end has not come yet.
struct OpenCondition {
    name: &'static str,
    opened: Lexeme,
    /// The first of two.
    left: Option<ConditionId>,
}

impl Parser<'_, '_> {
    /// What follows `rule::`.
    pub(crate) fn param_expr(&mut self) -> Parse<ParamExpr> {
        match self.peek().kind {
            SyntaxKind::Underscore => {
                self.next();
                return Ok(ParamExpr::Same);
            }
            SyntaxKind::Number => return Ok(ParamExpr::Const(self.param_number(u64::MAX, WHOLE)?)),
            SyntaxKind::RuleName => {}
            _ => return self.fail_expected("`_`, a number or a parameter function"),
        }
        let name = self.str(self.peek());
        if !FUNCTIONS.contains(&name) {
            let mistake = ParameterMistake::Function { name: name.to_string(), condition: false };
            self.sink.report(self.here(), mistake);
            self.next();
            self.skip_arguments();
            return Ok(ParamExpr::Same);
        }
        self.next();
        let opened = self.expect(SyntaxKind::LParen)?;
        let expr = match name {
            "set_bit" => ParamExpr::SetBit(self.bit(63)?),
            "clear_bit" => ParamExpr::ClearBit(self.bit(63)?),
            "bit_and" => ParamExpr::And(self.param_number(u64::MAX, WHOLE)?),
            "bit_or" => ParamExpr::Or(self.param_number(u64::MAX, WHOLE)?),
            "incr" => ParamExpr::Increment(self.bits()?),
            _ => ParamExpr::Decrement(self.bits()?),
        };
        self.close(SyntaxKind::RParen, opened)?;
        Ok(expr)
    }

    /// The parentheses behind an unknown function, so that what follows them is read.
    fn skip_arguments(&mut self) {
        let mut open = 0;
        loop {
            match self.peek().kind {
                SyntaxKind::LParen => open += 1,
                SyntaxKind::RParen if open > 0 => open -= 1,
                SyntaxKind::Newline | SyntaxKind::Eof => return,
                _ if open == 0 => return,
                _ => {}
            }
            self.next();
            if open == 0 {
                return;
            }
        }
    }

    /// What follows `%if`. Conditions that are open stand in a list, so that reading does not recurse.
    pub(crate) fn condition(&mut self) -> Parse<ConditionId> {
        let mut open: Vec<OpenCondition> = Vec::new();
        loop {
            let name = self.condition_name()?;
            let mut condition = Condition::True;
            if name != "true" {
                self.enter()?;
                let opened = self.expect(SyntaxKind::LParen)?;
                if ["not", "and", "or"].contains(&name) {
                    open.push(OpenCondition { name, opened, left: None });
                    continue;
                }
                condition = self.comparison(name)?;
                self.close(SyntaxKind::RParen, opened)?;
                self.leave();
            }
            let mut done = self.conditions.push(condition);
            loop {
                let Some(outer) = open.pop() else { return Ok(done) };
                let condition = match (outer.name, outer.left) {
                    ("not", _) => Condition::Not(done),
                    (_, None) => {
                        self.expect(SyntaxKind::Comma)?;
                        open.push(OpenCondition { left: Some(done), ..outer });
                        break;
                    }
                    ("and", Some(left)) => Condition::And(left, done),
                    (_, Some(left)) => Condition::Or(left, done),
                };
                self.close(SyntaxKind::RParen, outer.opened)?;
                self.leave();
                done = self.conditions.push(condition);
            }
        }
    }

    fn condition_name(&mut self) -> Parse<&'static str> {
        if !self.is(SyntaxKind::RuleName) {
            return self.fail_expected("a condition");
        }
        let written = self.str(self.peek());
        let Some(&name) = CONDITIONS.iter().find(|&&name| name == written) else {
            return self.fail(ParameterMistake::Function { name: written.to_string(), condition: true });
        };
        self.next();
        Ok(name)
    }

    /// The arguments of a condition that has no others in it.
    fn comparison(&mut self, name: &str) -> Parse<Condition> {
        let whole = |range: ParamRange| range.mask() >> range.start;
        Ok(match name {
            "bit_set" | "bit_clear" => {
                let bit = self.bit(63)?;
                let range = ParamRange { start: bit, end: bit + 1 };
                Condition::Compare(range, Comparison::Eq, u64::from(name == "bit_set"))
            }
            "is_ones" => {
                let range = self.bits()?;
                Condition::Compare(range, Comparison::Eq, whole(range))
            }
            "is_zeros" => Condition::Compare(self.bits()?, Comparison::Eq, 0),
            _ => {
                let range = self.bits()?;
                self.expect(SyntaxKind::Comma)?;
                let counted = name.strip_prefix("bit_count_");
                let comparison = comparison(counted.unwrap_or(name)).expect("the other names are comparisons");
                match counted {
                    Some(_) => Condition::BitCount(
                        range,
                        comparison,
                        self.param_number(64, "a count of bits, 0 to 64")? as u32,
                    ),
                    None => Condition::Compare(range, comparison, self.param_number(u64::MAX, WHOLE)?),
                }
            }
        })
    }

    /// `_` or `[start:end]`.
    fn bits(&mut self) -> Parse<ParamRange> {
        if self.accept(SyntaxKind::Underscore).is_some() {
            return Ok(ParamRange::ALL);
        }
        if !self.is(SyntaxKind::LBracket) {
            return self.fail_expected("`_` or `[start:end]`");
        }
        let opened = self.next();
        let start = self.bit(63)?;
        self.expect(SyntaxKind::Colon)?;
        let end = self.bit(64)?;
        self.close(SyntaxKind::RBracket, opened)?;
        if start < end {
            return Ok(ParamRange { start, end });
        }
        let span = self.since(opened);
        if !self.sink.has_error_in(span) {
            self.sink.report(span, ParameterMistake::BitRange { start: start.into(), end: end.into() });
        }
        Ok(ParamRange::ALL)
    }

    /// A mistake in the number itself is reported, and reading goes on with another.
    fn bit(&mut self, max: u8) -> Parse<u8> {
        let lexeme = self.peek();
        let expected = if max == 64 { "the end of a range of bits, 1 to 64" } else { "a bit's number, 0 to 63" };
        let value = self.param_number(u64::MAX, expected)?;
        match u8::try_from(value) {
            Ok(bit) if bit <= max => Ok(bit),
            _ => {
                let span = self.span(lexeme);
                let found = self.str(lexeme).to_string();
                self.sink.report(span, ParameterMistake::BitIndex { found, is_end: max == 64 });
                Ok(0)
            }
        }
    }

    fn param_number(&mut self, max: u64, expected: &'static str) -> Parse<u64> {
        let lexeme = self.peek();
        let text = self.str(lexeme);
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match hex {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse::<u64>().ok(),
        };
        match value.filter(|&value| lexeme.kind == SyntaxKind::Number && value <= max) {
            Some(value) => {
                self.next();
                Ok(value)
            }
            None => {
                let found = self.found();
                self.fail(SyntaxMistake::NumberExpected { expected, found })
            }
        }
    }
}
