//! Suites of JSON Schemas: Larkspur and the peer, judged by the same code in the same run, with times to compile.
//!
//! Both engines work on single bytes. Larkspur runs twice: as a validator, for which the instances of suites are written,
//! and as the generator that the peer is. Labels of MaskBench that an engine contradicts are shown to the `jsonschema`
//! crate.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use larkspur::{Draft, Spelling};
use larkspur_conformance::{Case, Engine, Judge, LarkspurEngine, Refusal, Report, Suite, outcomes, report, validator};
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory, TokenParser};
use serde_json::Value;
use toktrie::ApproximateTokEnv;

/// The peer.
struct Peer {
    factory: ParserFactory,
}

impl Peer {
    fn new() -> Result<Self> {
        let mut factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env())?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory })
    }
    fn parser(&self, case: &Case) -> Result<TokenParser> {
        let mut schema: Value = serde_json::from_str(&case.schema)?;
        // The draft of a suite's folder, which the peer cannot be told otherwise.
        if let Some(members) = schema.as_object_mut().filter(|members| !members.contains_key("$schema")) {
            members.insert("$schema".to_owned(), Value::from(uri(case.draft)));
        }
        let mut parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema))?;
        parser.start_without_prompt();
        Ok(parser)
    }
}

fn uri(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 => "http://json-schema.org/draft-04/schema#",
        Draft::Draft6 => "http://json-schema.org/draft-06/schema#",
        Draft::Draft7 => "http://json-schema.org/draft-07/schema#",
        Draft::Draft2019 => "https://json-schema.org/draft/2019-09/schema",
        Draft::Draft2020 => "https://json-schema.org/draft/2020-12/schema",
    }
}

impl Engine for Peer {
    fn name(&self) -> &'static str {
        "llguidance"
    }
    fn compile(&self, case: &Case) -> Result<Box<dyn Judge>, Refusal> {
        let failed = |error: anyhow::Error| {
            let message = format!("{error:#}");
            let reason = message.lines().next().unwrap_or_default().chars().take(60).collect();
            Refusal { reason, is_unsatisfiable: message.contains("nsatisfiable"), message }
        };
        match self.parser(case) {
            Ok(parser) => Ok(Box::new(PeerJudge(parser))),
            Err(error) => Err(failed(error)),
        }
    }
}

struct PeerJudge(TokenParser);

impl Judge for PeerJudge {
    fn accepts(&self, text: &str) -> Result<bool, String> {
        let mut matcher = Matcher::new(Ok(self.0.deep_clone()));
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        let consumed = matcher.try_consume_tokens(&tokens).map_err(|error| error.to_string())?;
        if consumed < tokens.len() {
            return match matcher.get_error() {
                Some(error) => Err(error),
                None => Ok(false),
            };
        }
        matcher.is_accepting().map_err(|error| error.to_string())
    }
}

/// Judges the suites in the folders and prints the tables.
pub fn run(folders: &[PathBuf], step: usize) -> Result<()> {
    for folder in folders {
        let suite = Suite::read(folder).with_context(|| folder.display().to_string())?;
        let cases: Vec<Case> = suite.cases.into_iter().step_by(step.max(1)).collect();
        let profile = |name, spelling: fn() -> Spelling| {
            let make = || LarkspurEngine::with_spelling(name, &suite.retriever, spelling());
            report(name, &cases, &outcomes(&cases, 1, make, Some(&validator)))
        };
        let mut reports = profile("larkspur", Spelling::validator);
        reports.extend(profile("larkspur, generator", Spelling::generator));
        Peer::new().map_err(|error| anyhow!("the peer does not start: {error}"))?;
        let peer = || Peer::new().expect("it has started before");
        reports.extend(report("llguidance", &cases, &outcomes(&cases, 1, peer, Some(&validator))));
        println!("{}", Report::table(&reports));
        for report in &reports {
            println!("refused in {} by {}:\n{}", report.set, report.engine, report.reasons());
        }
    }
    Ok(())
}
