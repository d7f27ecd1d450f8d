"""Grammars (Lark, GBNF, KBNF, JSON Schema, regex) to token masks for language models.

    from larkspur import Engine

    engine = Engine.from_tokenizer(tokenizer)
    grammar = engine.json_schema({"type": "object", "properties": {"name": {"type": "string"}}})
    matcher = grammar.matcher()
    mask = matcher.compute_mask()      # one bit a token
    matcher.consume_token(token)
"""

from ._native import Diagnostic, Executor, Grammar, MaskId, Matcher, Vocabulary, __version__, check, convert
from .engine import Engine
from .errors import (
    BatchError,
    GrammarError,
    LarkspurError,
    LimitExceeded,
    MatcherError,
    NoToken,
    RollbackTooFar,
    SavedGrammarError,
    Stopped,
    TextRejected,
    TokenRejected,
    UnknownToken,
    VocabularyError,
)
from .masks import allocate, fill, fill_drafts
from .tags import Tag, Token
from .tokenizers import Report, Tokenizer

__all__ = [
    "BatchError",
    "Diagnostic",
    "Engine",
    "Executor",
    "Grammar",
    "GrammarError",
    "LarkspurError",
    "LimitExceeded",
    "MaskId",
    "Matcher",
    "MatcherError",
    "NoToken",
    "Report",
    "RollbackTooFar",
    "SavedGrammarError",
    "Stopped",
    "Tag",
    "TextRejected",
    "Token",
    "TokenRejected",
    "Tokenizer",
    "UnknownToken",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "allocate",
    "check",
    "convert",
    "fill",
    "fill_drafts",
]
