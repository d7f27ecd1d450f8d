"""Where llguidance keeps what is native in it; some clients import from here."""

from ._compilers import JsonCompileOptions, JsonCompiler, LarkCompiler, RegexCompiler
from ._executor import LLExecutor
from ._interpreter import LLInterpreter
from ._limits import LLParserLimits
from ._ll_tokenizer import LLTokenizer
from ._matcher import LLMatcher
from ._regex import regex_to_lark
from ._version import get_version

__all__ = [
    "JsonCompileOptions",
    "JsonCompiler",
    "LarkCompiler",
    "RegexCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLParserLimits",
    "LLTokenizer",
    "LLMatcher",
    "regex_to_lark",
    "get_version",
]
