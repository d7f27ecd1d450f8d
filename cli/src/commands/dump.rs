//! `larkspur dump GRAMMAR --stage …`.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use larkspur::Limits;

use crate::Outcome;
use crate::args::{DumpArgs, Profile, Stage};
use crate::grammar::compile;
use crate::{render, vocabulary};

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome> {
    if args.pass.is_some() && args.stage != Stage::Ir {
        bail!("`--pass` goes with `--stage ir` only");
    }
    let text = match args.stage {
        Stage::Ast => {
            let source = args.read.source(&args.grammar)?;
            match larkspur::ast_dump(&source, &args.read.options(&source, Profile::Generate)?, &Limits::default()) {
                Ok(text) => text,
                Err(error) => {
                    render::diagnostics(&mut anstream::stderr().lock(), &error.diagnostics, &error.sources)?;
                    return Ok(Outcome::Failed);
                }
            }
        }
        stage => {
            let Some(mut linked) = args.read.linked(&args.grammar, Profile::Generate)? else {
                return Ok(Outcome::Failed);
            };
            if let (Stage::Ir, Some(pass)) = (stage, &args.pass) {
                larkspur::grammar::passes::simplify(&mut linked.grammar, Some(pass));
            }
            if stage == Stage::Ir {
                larkspur::ir_dump(&linked)
            } else {
                let vocabulary = match &args.read.tokenizer {
                    Some(name) => vocabulary::named(name)?,
                    None => Arc::new(linked.byte_vocabulary(Vec::new())?),
                };
                let Some(grammar) = compile(&args.grammar, linked, vocabulary)? else { return Ok(Outcome::Failed) };
                if stage == Stage::Lexer { grammar.dump_lexer() } else { grammar.dump_cfg() }
            }
        }
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Good)
}
