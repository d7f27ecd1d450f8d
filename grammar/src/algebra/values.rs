//! Finitely many numbers as an expression: all ways to write them with exponents, read digit by digit.
//!
//! A text is a mantissa and an exponent `k`, and its value that of the mantissa times `10^k`. Which exponents may follow is
//! decided by the digits and by where the point stands, so that a place in a text is a node in the trie of the values' digits
//! and the position of the point. All values are read at once: 1,000 of them have no more places than digits. As a union of
//! texts each had some 60 nodes, and what an array without repeated elements leaves out met the limit of expressions at 1,000.
//!
//! Exponents go from `-exponent_max` to `exponent_max`; the one of scientific notation, where one digit stands before the
//! point, is always one of them.

use super::tries::{NO_POINTS, NO_VALUES, PointsId, TrieId};
use super::{Algebra, Expr, MANY, Node};
use crate::number::Decimal;
use crate::regex::ByteSet;

/// How far a number is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    /// Nothing of a negative number.
    Minus,
    /// Nothing of the mantissa.
    Start,
    /// A 0 before the point.
    Zero,
    /// The point behind it, and zeros.
    Zeros,
    /// Digits before the point.
    Whole,
    /// The point behind them.
    Point,
    /// Digits behind the point, of which one is not 0 or some stand before it.
    Fraction,
}

/// What is left of the texts of positive values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    part: Part,
    /// How many digits stand before the point, so far in [`Part::Whole`]; of zeros behind it the number, negative.
    point: i64,
    exponent_max: i64,
    /// Values that have more digits than were read: those that come next.
    more: TrieId,
    /// Values whose digits were all read but for zeros.
    done: PointsId,
}

impl Place {
    fn is_beside(&self, other: &Self) -> bool {
        (self.part, self.point, self.exponent_max) == (other.part, other.point, other.exponent_max)
    }
}

impl Algebra {
    /// All texts of values, none of which is 0.
    pub(super) fn values(&mut self, values: &[Decimal], exponent_max: u8) -> Expr {
        let mut ways = Vec::new();
        for is_negative in [false, true] {
            let of_sign = values.iter().filter(|value| value.is_negative() == is_negative);
            let mut leaves: Vec<_> = of_sign.map(|value| (Box::from(value.digits()), value.point())).collect();
            leaves.sort_unstable();
            leaves.dedup();
            self.pay(leaves.len());
            let more = self.tries.build(&leaves);
            let part = if is_negative { Part::Minus } else { Part::Start };
            let exponent_max = i64::from(exponent_max);
            ways.push(self.place(Place { part, point: 0, exponent_max, more, done: NO_POINTS }));
        }
        self.or(ways)
    }

    fn place(&mut self, place: Place) -> Expr {
        self.pay(2);
        let is_over = place.more == NO_VALUES && place.done == NO_POINTS;
        if is_over { Expr::NOTHING } else { self.intern(Node::Values(&place)) }
    }

    /// Whether the number may end here.
    pub(super) fn is_value(&self, place: &Place) -> bool {
        matches!(place.part, Part::Whole | Part::Fraction) && self.tries.points(place.done).contains(&place.point)
    }

    /// Bytes that lead on, by where they lead.
    pub(super) fn value_classes(&self, place: &Place) -> impl Iterator<Item = ByteSet> {
        let one = |byte: u8| ByteSet::range(byte, byte);
        let digits = self.tries.digits(place.more).map(move |digit| one(b'0' + digit));
        let exponent = one(b'e').union(&one(b'E'));
        digits.chain([one(b'0'), one(b'.'), one(b'-'), exponent])
    }

    /// What is left after a byte.
    pub(super) fn value_after(&mut self, place: Place, byte: u8) -> Expr {
        use Part::{Fraction, Minus, Point, Start, Whole, Zero, Zeros};
        let Place { point, exponent_max: most, .. } = place;
        match (place.part, byte) {
            (Minus, b'-') => self.place(Place { part: Start, ..place }),
            (Start, b'0') => self.narrow(Place { part: Zero, ..place }, i64::MIN, most),
            (Zero, b'.') => self.place(Place { part: Zeros, ..place }),
            (Zeros, b'0') => self.narrow(Place { point: point - 1, ..place }, i64::MIN, most + point - 1),
            (Start, b'1'..=b'9') => self.digit(Place { part: Whole, point: 1, ..place }, byte),
            (Zeros, b'1'..=b'9') => {
                let more = self.tries.within(place.more, point - most, point + most);
                self.digit(Place { part: Fraction, more, ..place }, byte)
            }
            // More digits before the point only make the exponent less.
            (Whole, b'0'..=b'9') => {
                let low = point + 1 - most;
                let (more, done) = (self.tries.within(place.more, low, i64::MAX), self.points_from(place.done, low));
                self.digit(Place { point: point + 1, more, done, ..place }, byte)
            }
            (Whole, b'.') if point == 1 => self.place(Place { part: Point, ..place }),
            (Whole, b'.') => self.narrow(Place { part: Point, ..place }, point - most, point + most),
            (Point | Fraction, b'0'..=b'9') => self.digit(Place { part: Fraction, ..place }, byte),
            (Whole | Fraction, b'e' | b'E') => self.exponents(&place),
            _ => Expr::NOTHING,
        }
    }

    /// Behind one digit more.
    fn digit(&mut self, place: Place, byte: u8) -> Expr {
        let child = self.tries.child(place.more, byte - b'0');
        let done = if byte == b'0' { place.done } else { self.tries.ends(child) };
        let more = self.tries.longer(child);
        self.place(Place { more, done, ..place })
    }

    /// Only values with these points.
    fn narrow(&mut self, place: Place, low: i64, high: i64) -> Expr {
        let more = self.tries.within(place.more, low, high);
        let points: Vec<i64> = self.tries.points(place.done).to_vec();
        let done = self.tries.point_set(points.into_iter().filter(|point| (low..=high).contains(point)).collect());
        self.place(Place { more, done, ..place })
    }
    fn points_from(&mut self, points: PointsId, low: i64) -> PointsId {
        let left = self.tries.points(points).iter().copied().filter(|&point| point >= low).collect();
        self.tries.point_set(left)
    }

    /// What may follow the `e`.
    fn exponents(&mut self, place: &Place) -> Expr {
        let Place { point, exponent_max: most, .. } = *place;
        let exponents = self.tries.points(place.done).iter().map(|of| of - point);
        let exponents: Vec<i64> = exponents.filter(|exponent| point == 1 || exponent.abs() <= most).collect();
        let mut ways = Vec::with_capacity(exponents.len());
        for exponent in exponents {
            let digits = self.literal(exponent.abs().to_string().as_bytes(), Expr::EPSILON);
            let zero = self.byte_set(ByteSet::range(b'0', b'0'));
            let zeros = self.repeat(zero, 0, MANY);
            let digits = self.concat(zeros, digits);
            let (plus, minus) = (ByteSet::range(b'+', b'+'), ByteSet::range(b'-', b'-'));
            let sign = match exponent.signum() {
                0 => plus.union(&minus),
                1 => plus,
                _ => minus,
            };
            let sign = self.byte_set(sign);
            let sign = if exponent < 0 { sign } else { self.repeat(sign, 0, 1) };
            ways.push(self.concat(sign, digits));
        }
        self.or(ways)
    }

    /// In a union: places beside each other become one.
    pub(super) fn unite_values(&mut self, parts: &mut Vec<Expr>) {
        let mut places = self.value_places(parts);
        if places.len() < 2 {
            return;
        }
        parts.retain(|&part| !matches!(self.node(part), Node::Values(_)));
        while let Some(mut all) = places.pop() {
            let (beside, others): (Vec<Place>, Vec<Place>) = places.iter().partition(|other| other.is_beside(&all));
            for other in beside {
                all.more = self.tries.union(all.more, other.more);
                let done = [self.tries.points(all.done), self.tries.points(other.done)].concat();
                all.done = self.tries.point_set(done);
            }
            places = others;
            let united = self.place(all);
            super::add(parts, united);
        }
    }

    /// In an intersection: values lose those that must not be. Different values have no text in common.
    pub(super) fn subtract_values(&mut self, parts: &mut Vec<Expr>) {
        let places = self.value_places(parts);
        if places.is_empty() {
            return;
        }
        let excluded: Vec<Expr> = parts
            .iter()
            .filter_map(|&part| if let Node::Not(child) = self.node(part) { Some(child) } else { None })
            .collect();
        let mut without: Vec<Place> = Vec::new();
        for child in excluded {
            match self.node(child) {
                Node::Values(place) => without.push(*place),
                Node::Or(ways) => without.extend(self.value_places(ways)),
                _ => {}
            }
        }
        for mut place in places {
            let (whole, before) = (self.place(place), place);
            for other in without.iter().filter(|other| other.is_beside(&before)) {
                place.more = self.tries.minus(place.more, other.more);
                let gone = self.tries.points(other.done);
                let left =
                    self.tries.points(place.done).iter().copied().filter(|point| !gone.contains(point)).collect();
                place.done = self.tries.point_set(left);
            }
            let left = self.place(place);
            if left != whole {
                parts.retain(|&part| part != whole);
                super::add(parts, left);
            }
        }
    }

    fn value_places(&self, parts: &[Expr]) -> Vec<Place> {
        let place = |&part: &Expr| if let Node::Values(place) = self.node(part) { Some(*place) } else { None };
        parts.iter().filter_map(place).collect()
    }
}
