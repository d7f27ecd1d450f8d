"""The surface of llguidance 1.9, over Larkspur's engine. See `larkspur.compat`."""

from ._compilers import JsonCompiler, LarkCompiler, RegexCompiler
from ._executor import LLExecutor
from ._grammar_from import GrammarFormat, grammar_from
from ._interpreter import LLInterpreter
from ._limits import LLParserLimits
from ._ll_tokenizer import LLTokenizer
from ._matcher import LLMatcher
from ._regex import regex_to_lark
from ._struct_tag import StructTag
from ._tokenizer import TokenizerWrapper
from ._version import __version__, get_version

__all__ = [
    "LLTokenizer",
    "LLMatcher",
    "LLInterpreter",
    "LLExecutor",
    "LLParserLimits",
    "JsonCompiler",
    "LarkCompiler",
    "RegexCompiler",
    "TokenizerWrapper",
    "grammar_from",
    "GrammarFormat",
    "StructTag",
    "regex_to_lark",
    "get_version",
    "__version__",
]
