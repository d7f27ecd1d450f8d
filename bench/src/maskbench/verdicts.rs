//! Verdicts against the labels of the instances.

use std::collections::HashMap;
use std::sync::Arc;

use larkspur::{CompiledGrammar, Spelling, Vocabulary};
use larkspur_conformance::{Opinion, validator};
use serde::Serialize;

use super::data::{Instance, Schema};
use super::engines::Larkspur;
use super::walk::{End, Outcome, Walk};
use crate::engines::Engine;

/// Instances named.
const EXAMPLES_MAX: usize = 20;

/// Counts of one engine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verdicts {
    pub schemas: usize,
    pub compiled: usize,
    /// Schemas that do not compile, the next ones included.
    pub refused: usize,
    /// Refused since no value is valid, and the suite has no valid instance.
    pub refused_rightly: usize,
    /// Compiled schemas with right verdicts only.
    pub all_right: usize,
    /// The same if `spelling_rejects` count as right.
    pub all_right_but_spelling: usize,
    /// Instances of all schemas, and of those that compile.
    pub instances: usize,
    pub judged: usize,
    /// Right verdicts; those on labels that a validator contradicts, too, are among them.
    pub right: usize,
    pub wrong_accepts: usize,
    pub wrong_rejects: usize,
    /// Valid instances that are rejected only since they are not written as a generator writes them (order of keys,
    /// spelling of numbers): in the validator's profile Larkspur accepts them, in the generator's it does not. Not among
    /// `wrong_rejects`.
    pub spelling_rejects: usize,
    /// The engine and the crate `jsonschema` contradict the suite.
    pub labels_contradicted: usize,
    /// The engine gave an error.
    pub failed: usize,
    /// What is wrong, for reading.
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// Decides what a verdict that is not the label's means. Knows each schema at most once.
#[derive(Default)]
pub struct Judge {
    reader: Option<Larkspur>,
    grammars: HashMap<String, Option<CompiledGrammar>>,
    opinions: HashMap<String, Option<Opinion>>,
}

impl Judge {
    /// Whether Larkspur as a validator accepts a text.
    fn reads(&mut self, schema: &Schema, text: &str) -> bool {
        let reader = self.reader.get_or_insert_with(|| {
            let engine = larkspur::Engine::new(Arc::new(Vocabulary::single_bytes()));
            Larkspur::over(engine, Spelling::validator(), None)
        });
        let compiled = || reader.compile(&schema.text).ok();
        let Some(grammar) = self.grammars.entry(schema.name.clone()).or_insert_with(compiled) else { return false };
        let accepts = |mut matcher: larkspur::Matcher| {
            matcher.consume_bytes(text.as_bytes())?;
            matcher.is_accepting()
        };
        grammar.matcher().and_then(accepts).unwrap_or(false)
    }

    /// Whether the crate `jsonschema` says that the label is wrong.
    fn contradicts(&mut self, schema: &Schema, instance: &Instance) -> bool {
        let opinion = self.opinions.entry(schema.name.clone()).or_insert_with(|| validator(&schema.case));
        opinion.as_ref().is_some_and(|opinion| opinion(&instance.text) == Some(!instance.valid))
    }
}

impl Verdicts {
    /// Counts the outcomes of one engine; the last of each three is Larkspur's, to tell what is spelling.
    pub fn count<'a>(
        outcomes: impl Iterator<Item = (&'a Schema, &'a Outcome, &'a Outcome)>,
        judge: &mut Judge,
    ) -> Self {
        let mut verdicts = Self::default();
        for (schema, outcome, ours) in outcomes {
            verdicts.schemas += 1;
            verdicts.instances += schema.instances.len();
            if let Some(refusal) = &outcome.refusal {
                verdicts.refused += 1;
                let has_valid = schema.instances.iter().any(|instance| instance.valid);
                verdicts.refused_rightly += usize::from(refusal.is_unsatisfiable && !has_valid);
                continue;
            }
            verdicts.compiled += 1;
            let before = (verdicts.right, verdicts.spelling_rejects);
            for (index, (instance, walk)) in schema.instances.iter().zip(&outcome.walks).enumerate() {
                let our_end = ours.walks.get(index).map(|walk| &walk.end);
                verdicts.add(schema, instance, walk, our_end, judge);
            }
            let right = verdicts.right - before.0;
            let spelled = verdicts.spelling_rejects - before.1;
            verdicts.all_right += usize::from(right == schema.instances.len());
            verdicts.all_right_but_spelling += usize::from(right + spelled == schema.instances.len());
        }
        verdicts
    }

    fn add(&mut self, schema: &Schema, instance: &Instance, walk: &Walk, our_end: Option<&End>, judge: &mut Judge) {
        self.judged += 1;
        let (count, what) = match (&walk.end, instance.valid) {
            (End::Failed(message), _) => {
                self.failed += 1;
                return self.name(format!("{}: failed: {message}", schema.name));
            }
            (End::Accepted, true) | (End::Refused | End::Incomplete, false) => {
                self.right += 1;
                return;
            }
            _ if judge.contradicts(schema, instance) => {
                self.right += 1;
                (&mut self.labels_contradicted, "label contradicted")
            }
            (End::Accepted, false) => (&mut self.wrong_accepts, "wrong accept"),
            _ if our_end.is_some_and(|end| *end != End::Accepted) && judge.reads(schema, &instance.text) => {
                (&mut self.spelling_rejects, "spelling")
            }
            _ => (&mut self.wrong_rejects, "wrong reject"),
        };
        *count += 1;
        let (at, len) = (walk.pass.consume_ns.len(), instance.tokens.len());
        let text: String = instance.text.chars().take(200).collect();
        self.name(format!("{what}: {}: {:?} at token {at} of {len}: {text}", schema.name, walk.end));
    }

    fn name(&mut self, example: String) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(example);
        }
    }
}
