//! Rule attributes: `name[capture="x", stop="\n", max_tokens=10]:`.

use crate::ast::{Attribute, AttributeValue, Definition};
use crate::error::{AttributeMistake, SyntaxMistake};
use crate::lexer::SyntaxKind;
use crate::parser::{Parse, Parser, Reported};

/// Names of attributes.
pub(crate) const NAMES: &[&str] = &["capture", "lazy", "stop", "suffix", "stop_capture", "max_tokens", "temperature"];

impl AttributeValue {
    /// The attribute's name.
    pub fn name(&self) -> &'static str {
        match self {
            AttributeValue::Capture(_) => "capture",
            AttributeValue::Lazy => "lazy",
            AttributeValue::Stop(_) => "stop",
            AttributeValue::Suffix(_) => "suffix",
            AttributeValue::StopCapture(_) => "stop_capture",
            AttributeValue::MaxTokens(_) => "max_tokens",
            AttributeValue::Temperature(_) => "temperature",
        }
    }
}

impl Parser<'_, '_> {
    /// `[ … ]` before a rule's colon.
    pub(crate) fn attributes(&mut self, definition: &mut Definition) -> Parse<()> {
        let opened = self.next();
        while !self.is(SyntaxKind::RBracket) {
            let Ok(attribute) = self.attribute() else {
                self.skip_attribute()?;
                continue;
            };
            let name = attribute.value.name();
            let first = definition.attributes.iter().find(|other| other.value.name() == name).map(|other| other.span);
            match first {
                Some(first) => {
                    self.sink.report(attribute.span, AttributeMistake::Twice { name: name.to_string(), first })
                }
                None => definition.attributes.push(attribute),
            }
            if self.accept(SyntaxKind::Comma).is_none() {
                if !self.is(SyntaxKind::RuleName) {
                    break;
                }
                let (place, found) = (self.here(), self.found());
                self.sink.report(place, SyntaxMistake::Expected { expected: "`,` or `]`", found });
            }
        }
        self.close(SyntaxKind::RBracket, opened)
    }

    /// After a mistake, skips to the next attribute or the closing bracket. Where there is neither, the statement is
    /// given up.
    fn skip_attribute(&mut self) -> Parse<()> {
        loop {
            match self.peek().kind {
                SyntaxKind::RBracket => return Ok(()),
                SyntaxKind::Comma => {
                    self.next();
                    return Ok(());
                }
                SyntaxKind::Newline | SyntaxKind::Eof | SyntaxKind::Colon => return Err(Reported),
                _ => self.next(),
            };
        }
    }

    fn attribute(&mut self) -> Parse<Attribute> {
        let lexeme = self.peek();
        let Some(&name) = NAMES.iter().find(|&&name| lexeme.kind == SyntaxKind::RuleName && name == self.str(lexeme))
        else {
            if lexeme.kind != SyntaxKind::RuleName {
                return self.fail_expected("an attribute");
            }
            let name = self.str(lexeme).to_string();
            return self.fail(AttributeMistake::Unknown { name });
        };
        self.next();
        let has_value = self.accept(SyntaxKind::Equals).is_some();
        let missing = match name {
            "capture" => "a name, as in `capture=\"name\"`, or nothing",
            "lazy" => "no value",
            "stop" | "suffix" => "a string, a regex or a terminal",
            "stop_capture" => "a name, as in `stop_capture=\"name\"`",
            "max_tokens" => "a whole number of tokens",
            _ => "a number that is not negative",
        };
        let value = match (name, has_value) {
            ("capture", false) => AttributeValue::Capture(None),
            ("capture", true) if self.is(SyntaxKind::String) => AttributeValue::Capture(Some(self.string()?)),
            ("lazy", false) => AttributeValue::Lazy,
            ("stop", true) => AttributeValue::Stop(self.terminal_value()?),
            ("suffix", true) => AttributeValue::Suffix(self.terminal_value()?),
            ("stop_capture", true) if self.is(SyntaxKind::String) => AttributeValue::StopCapture(self.string()?),
            ("max_tokens" | "temperature", true) => match self.attribute_number(name) {
                Some(value) => value,
                None => return self.fail(AttributeMistake::Value { name, expected: missing }),
            },
            (_, false) => return self.fail_at(self.span(lexeme), AttributeMistake::Value { name, expected: missing }),
            _ => return self.fail(AttributeMistake::Value { name, expected: missing }),
        };
        Ok(Attribute { value, span: self.since(lexeme) })
    }

    fn attribute_number(&mut self, name: &str) -> Option<AttributeValue> {
        let lexeme = self.peek();
        if lexeme.kind != SyntaxKind::Number {
            return None;
        }
        let text = self.str(lexeme);
        let value = match name {
            "max_tokens" => AttributeValue::MaxTokens(text.parse().ok()?),
            _ => AttributeValue::Temperature(text.parse().ok().filter(|value: &f32| value.is_finite())?),
        };
        self.next();
        Some(value)
    }

    /// What does not go together, whatever the body is.
    pub(crate) fn check_attributes(&mut self, definition: &Definition) {
        let find = |name: &str| definition.attributes.iter().find(|attribute| attribute.value.name() == name);
        if let (Some(stop), Some(suffix)) = (find("stop"), find("suffix")) {
            let (first, second) = if stop.span.start < suffix.span.start { (stop, suffix) } else { (suffix, stop) };
            self.sink.report(second.span, AttributeMistake::StopAndSuffix { first: first.span });
        }
        if let (Some(capture), None, None) = (find("stop_capture"), find("stop"), find("suffix")) {
            self.sink.report(capture.span, AttributeMistake::StopCaptureAlone);
        }
        let unlike_capture = definition.attributes.iter().find(|attribute| attribute.value.name() != "capture");
        if let (true, Some(attribute)) = (definition.parametric, unlike_capture) {
            let mistake = AttributeMistake::OnParametric {
                attribute: attribute.value.name(),
                rule: definition.name.text.clone(),
            };
            self.sink.report(attribute.span, mistake);
        }
    }
}
