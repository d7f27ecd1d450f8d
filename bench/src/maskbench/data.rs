//! Which schemas are run in which order, as the engines get them.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use larkspur_conformance::{Case, Suite};
use serde_json::Value;

use super::engines::Host;
use super::respell::respell;
use super::tokenizer::Tokenizer;
use crate::random::Random;

/// The order is the same in all runs.
const SEED: u64 = 20_261_122;

/// A schema with its instances.
pub struct Schema {
    /// The file, without extension.
    pub name: String,
    /// As both engines read it, without a host.
    pub text: String,
    /// What they compile: the text, within its host.
    pub source: String,
    pub instances: Vec<Instance>,
    /// A schema before this one, also one of the warm-up, is the same but for titles and descriptions.
    pub is_near_duplicate: bool,
    /// As it stands in the file.
    pub case: Case,
}

/// An instance as a text and as the tokens that both engines are given.
pub struct Instance {
    /// Without a host.
    pub text: String,
    pub tokens: Vec<u32>,
    pub valid: bool,
}

/// The schemas of a run, in order.
pub struct Plan {
    /// Run first, to warm the engine up.
    pub warm_up: Vec<Schema>,
    pub measured: Vec<Schema>,
}

impl Plan {
    /// Reads a folder, shuffles its schemas, and takes the first `warm_up` of them and then `limit` more, or all.
    pub fn read(
        folder: &Path,
        tokenizer: &Tokenizer,
        (warm_up, limit): (usize, Option<usize>),
        host: Option<Host>,
    ) -> Result<Self> {
        let mut names = names(folder).with_context(|| folder.display().to_string())?;
        shuffle(&mut names);
        names.truncate(limit.map_or(names.len(), |limit| warm_up.saturating_add(limit)));
        let places: HashMap<OsString, usize> = names.into_iter().zip(0..).collect();
        let place = |name: Option<&OsStr>| name.and_then(|name| places.get(name).copied());
        let mut cases = Suite::read_some(folder, |path| place(path.file_name()).is_some())?.cases;
        cases.sort_by_cached_key(|case| place(Some(OsStr::new(&format!("{}.json", case.file)))));
        ensure!(cases.len() > warm_up, "{} schemas are not enough for a warm-up of {warm_up}", cases.len());
        let mut seen = HashSet::new();
        let mut schemas: Vec<Schema> = Vec::with_capacity(cases.len());
        for case in cases {
            schemas.push(prepared(case, tokenizer, host, &mut seen));
        }
        let measured = schemas.split_off(warm_up);
        Ok(Self { warm_up: schemas, measured })
    }

    /// All texts of instances, in bytes and in tokens.
    pub fn size(&self) -> (usize, usize) {
        let instances = || self.measured.iter().flat_map(|schema| &schema.instances);
        (instances().map(|instance| instance.text.len()).sum(), instances().map(|instance| instance.tokens.len()).sum())
    }
}

/// The JSON files of a folder, in order.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    let mut names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
    names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"));
    names.sort();
    Ok(names)
}

/// R. Fisher, F. Yates, in D. Knuth's form: TAOCP 2, 3.4.2, algorithm P.
fn shuffle<T>(items: &mut [T]) {
    let mut random = Random::new(SEED);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

fn prepared(case: Case, tokenizer: &Tokenizer, host: Option<Host>, seen: &mut HashSet<String>) -> Schema {
    let instance = |test: &larkspur_conformance::Test| {
        let text = respell(&test.text);
        let tokens = tokenizer.encode(&host.map_or_else(|| text.clone(), |host| host.text(&text)));
        Instance { tokens, text, valid: test.valid }
    };
    let text = respell(&case.schema);
    Schema {
        name: case.file.clone(),
        source: host.map_or_else(|| text.clone(), |host| host.grammar(&text)),
        text,
        instances: case.tests.iter().map(instance).collect(),
        is_near_duplicate: !seen.insert(essence(&case.schema)),
        case,
    }
}

/// A schema without its titles and descriptions.
fn essence(schema: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(schema) else { return schema.to_owned() };
    let mut stack = vec![&mut value];
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(members) => {
                // Members that are called so are strings; properties of these names are schemas.
                members.retain(|key, value| !(value.is_string() && (key == "title" || key == "description")));
                stack.extend(members.values_mut());
            }
            Value::Array(items) => stack.extend(items),
            _ => {}
        }
    }
    value.to_string()
}
