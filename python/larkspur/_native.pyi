"""The engine, as Rust gives it. Import these names from `larkspur`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import final

from typing_extensions import disjoint_base

__all__ = [
    "Diagnostic",
    "Engine",
    "Executor",
    "Grammar",
    "KbnfEngine",
    "MaskId",
    "Matcher",
    "Vocabulary",
    "__version__",
    "capture_spans",
    "check",
    "convert",
    "unsettled_len",
]

__version__: str

@final
class Vocabulary:
    """A model's tokens: bytes of the ordinary ones, names of the special ones, and which of these end the text.

    Immutable; may be used from any thread. `len(vocabulary)` is the number of bits of a mask. What is asked for a token
    below 0 raises `UnknownToken`.
    """

    @staticmethod
    def single_bytes() -> Vocabulary:
        """Ids 0 to 255 are the bytes, 256 is the special EOS token `<eos>`."""

    @staticmethod
    def from_tokens(
        tokens: Iterable[tuple[int, bytes]],
        specials: Iterable[tuple[int, str]],
        eos: Sequence[int],
        *,
        size: int | None = None,
        tokenize: Callable[[str], Sequence[int]] | None = None,
    ) -> Vocabulary:
        """A vocabulary of (id, bytes) for ordinary tokens and (id, name) for special ones, in any order.

        `eos` are ids of special tokens. `size` is the model's, where it is padded. `tokenize` is the model's own
        tokenizer without anything added at the ends; it is called from whatever thread needs it.
        Raises `VocabularyError`.
        """

    @staticmethod
    def from_tokenizer_json(
        json: bytes,
        *,
        tokenizer_config: bytes | None = None,
        generation_config: bytes | None = None,
        eos: Sequence[int | str] = ...,
        special_names: Sequence[str] = ...,
        size: int | None = None,
    ) -> Vocabulary:
        """The vocabulary and tokenizer of a Hugging Face `tokenizer.json`. Raises `VocabularyError`."""

    @staticmethod
    def from_tiktoken_ranks(
        ranks: bytes,
        *,
        name: str | None = None,
        specials: Sequence[tuple[int, str]] | None = None,
        eos: Sequence[int | str] = ...,
        size: int | None = None,
        tokenize: Callable[[str], Sequence[int]] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a `*.tiktoken` ranks file.

        `o200k_base`, `o200k_harmony` and `cl100k_base` as `name` bring their special tokens. Raises `VocabularyError`.
        """

    @staticmethod
    def from_sentencepiece(model: bytes, *, eos: Sequence[int | str] = ..., size: int | None = None) -> Vocabulary:
        """The vocabulary of a sentencepiece `*.model`. Raises `VocabularyError`."""

    def with_eos(self, eos: Sequence[int], *, size: int | None = None) -> Vocabulary:
        """The same vocabulary with other tokens ending the text; ordinary ones among them become special.

        Raises `VocabularyError`.
        """

    def __len__(self) -> int: ...
    @property
    def eos(self) -> list[int]:
        """The tokens that end the text, in the order given."""

    @property
    def has_tokenizer(self) -> bool:
        """Whether `tokenize` is canonical, by the model's own tokenizer."""

    def token_bytes(self, token: int) -> bytes | None:
        """The bytes of an ordinary token; `None` for special tokens, empty slots and ids past the end."""

    def special_name(self, token: int) -> str | None:
        """The name of a special token, such as `<|endoftext|>`."""

    def special_by_name(self, name: str) -> int | None:
        """The special token of that name."""

    def specials(self) -> list[tuple[int, str]]:
        """The special tokens by ascending id."""

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The text of the tokens; special and unknown ones add nothing."""

    def tokenize(self, text: bytes) -> list[int] | None:
        """Canonical tokenization into ordinary tokens; `None` without a tokenizer or if no tokens make up the text."""

    def tokenize_greedy(self, text: bytes) -> list[int] | None:
        """Tokenization by longest match; `None` if no tokens make up the text."""

    def stable_tokens(self, tokens: Sequence[int], text: bytes) -> int:
        """How many of `tokens`, the tokenization of `text`, stand whatever text follows it."""

    def display(self, token: int) -> str:
        """A token for human eyes."""

@final
class Diagnostic:
    """One mistake or lint in a grammar. A value: equal if all of it is; can be copied and pickled."""

    def __new__(
        cls,
        code: str,
        severity: str,
        message: str,
        source: str | None,
        span: tuple[int, int] | None,
        line: int | None,
        column: int | None,
        help: str | None,
        rendered: str,
        summary: str,
    ) -> Diagnostic: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Diagnostic], tuple[object, ...]]: ...
    @property
    def code(self) -> str:
        """Stable code, such as `L012`; `larkspur explain` tells more."""
    @property
    def severity(self) -> str:
        """`error` or `warning`."""
    @property
    def message(self) -> str:
        """One sentence."""
    @property
    def source(self) -> str | None:
        """The name of the source the place is in."""
    @property
    def span(self) -> tuple[int, int] | None:
        """The primary place in the source, in UTF-8 bytes from its start; end exclusive."""
    @property
    def line(self) -> int | None:
        """Line of the place, from 1."""
    @property
    def column(self) -> int | None:
        """Column of the place, in characters from 1."""
    @property
    def help(self) -> str | None:
        """The way out, such as "did you mean …"."""
    @property
    def rendered(self) -> str:
        """The diagnostic with the lines that it is about, as plain text."""
    @property
    def summary(self) -> str:
        """One line: `file:line:column: error[L012]: message`."""

def check(
    kind: str,
    text: str,
    *,
    name: str | None = None,
    start: str | None = None,
    lexer: str | None = None,
    llguidance_face: bool = False,
    spelling: Mapping[str, object] | str | None = None,
    import_path: str | None = None,
    modules: Mapping[str, str] | None = None,
    retriever: Callable[[str], str | None] | None = None,
    draft: str | None = None,
    format_annotation: bool = False,
    limits: Mapping[str, int] | None = None,
) -> list[Diagnostic]:
    """Everything that is wrong or doubtful in a grammar, on a vocabulary of bytes that has every special token it names.

    Arguments as `Engine.compile`. Empty if there is nothing to say.
    """

def convert(
    kind: str,
    text: str,
    to: str,
    *,
    name: str | None = None,
    start: str | None = None,
    lexer: str | None = None,
    llguidance_face: bool = False,
    spelling: Mapping[str, object] | str | None = None,
    import_path: str | None = None,
    modules: Mapping[str, str] | None = None,
    retriever: Callable[[str], str | None] | None = None,
    draft: str | None = None,
    format_annotation: bool = False,
) -> tuple[str, list[str]]:
    """The grammar in another language (`lark` or `gbnf`), and what could not be carried over. Raises `GrammarError`."""

@disjoint_base
class Engine:
    """What all grammars of one vocabulary share."""

    def __new__(
        cls, vocabulary: Vocabulary, *, limits: Mapping[str, int] | None = None, slices: Sequence[str] | None = None
    ) -> Engine:
        """`limits` by name (docs/limits.md); `slices` are at most 64 regexes of texts whose tokens are looked up in a piece.

        Raises `ValueError` for unknown limits, for slices that are no regexes or too many, and for limits that are too small
        for a slice, also for one of the default slices.
        """
    @property
    def vocabulary(self) -> Vocabulary: ...
    def compile(
        self,
        kind: str,
        text: str,
        *,
        name: str | None = None,
        start: str | None = None,
        lexer: str | None = None,
        llguidance_face: bool = False,
        spelling: Mapping[str, object] | str | None = None,
        import_path: str | None = None,
        modules: Mapping[str, str] | None = None,
        retriever: Callable[[str], str | None] | None = None,
        draft: str | None = None,
        format_annotation: bool = False,
    ) -> Grammar:
        """Compiles a grammar; the GIL is released meanwhile.

        `kind` is one of `lark`, `gbnf`, `kbnf`, `regex`, `json_schema`, `list`, or `file` for what the end of `name` says;
        `lexer` is `longest` or `exact`, and `longest` for Lark only (`ValueError`);
        `spelling` is `generate`, `validate`, or the options of docs/json_schema.md; `import_path` is the folder and
        `modules` are the texts by name that `%import` reads; `retriever` gives documents that schemas refer to.
        Raises `GrammarError` with everything that is wrong.
        """
    def load(self, data: bytes) -> Grammar:
        """The grammar that `Grammar.save` wrote; a grammar that speaks of tokens only for the same vocabulary.

        Bytes from somewhere else may be a grammar that nobody wrote: load them from where you would load a model from.
        Raises `SavedGrammarError`: no saved grammar, of another version or vocabulary, damaged, beyond a limit.
        """
    def compile_tags(
        self,
        tags: Sequence[tuple[tuple[bool, str], tuple[str, str] | None, tuple[bool, str]]],
        *,
        triggers: Sequence[str] = ...,
        excludes: Sequence[str] = ...,
        at_least: int = 0,
        at_most: int | None = None,
        end_with_last_tag: bool = False,
        name: str | None = None,
        lexer: str | None = None,
        llguidance_face: bool = False,
        spelling: Mapping[str, object] | str | None = None,
        import_path: str | None = None,
        modules: Mapping[str, str] | None = None,
        retriever: Callable[[str], str | None] | None = None,
        draft: str | None = None,
        format_annotation: bool = False,
    ) -> Grammar:
        """Compiles structural tags: (begin, (kind, text) of the content or `None` for any text, end).

        Begin and end are (whether it is a token's name, text). `Engine.structural_tags` is made of it.
        """

@final
class Grammar:
    """A compiled grammar; may be used from any thread."""

    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def max_tokens(self) -> int | None: ...
    @property
    def lexer_mode(self) -> str: ...
    def matcher(self, *, backtracking: bool = False, max_tokens: int | None = None) -> Matcher:
        """A matcher at the start of a text.

        With `backtracking` the text of a `stop` is taken back: `consume_token` then says how many tokens.
        """
    def save(self) -> bytes:
        """The grammar as bytes for `Engine.load`: what compiling found out, without the source. Equal grammars give equal
        bytes.

        Raises `SavedGrammarError` if a program made it of automata of its own.
        """
    def dump_lexer(self) -> str: ...
    def dump_cfg(self) -> str: ...

@final
class MaskId:
    """A mask that a grammar keeps: equal ids are equal masks, as long as the process lives. A mask that was dropped
    (`mask_cache_bytes_max`) has another id when it is made again."""

    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Matcher:
    """One text being generated. One thread at a time: a second one gets `RuntimeError`.

    After an error the matcher is where it was. A token that the vocabulary does not have, or below 0, is `UnknownToken`.
    """

    @property
    def grammar(self) -> Grammar:
        """The grammar that it follows."""
    def fork(self) -> Matcher:
        """Another matcher at the same place, for the same price whatever the length of the text."""
    def __copy__(self) -> Matcher: ...
    def __deepcopy__(self, memo: object) -> Matcher: ...
    def reset(self) -> None:
        """Back to the start of the text."""
    def rollback(self, tokens: int) -> None:
        """Takes the last `tokens` tokens back, EOS among them. Raises `RollbackTooFar` where there are not so many."""
    @property
    def step_count(self) -> int:
        """How many tokens were taken, each call of `consume_bytes` counting as one."""
    @property
    def tokens_left(self) -> int | None:
        """How many tokens `max_tokens` leaves; `None` without it."""
    def is_accepting(self) -> bool:
        """Whether the text may end here."""
    def is_stopped(self) -> bool:
        """Whether the text has ended: `stop_reason` says why. Only `rollback` and `reset` lead on."""
    def stop_reason(self) -> str | None:
        """`end_of_sentence`, `no_extension`, `max_tokens`, or `None`."""
    def temperature(self) -> float | None:
        """The temperature that the grammar's rules have here, the highest of them; `None` where they have none."""
    def compute_mask(self) -> bytes:
        """The allowed tokens: 32-bit words, least significant bit first, `ceil(len(vocabulary) / 32)` of them."""
    def compute_mask_id(self) -> MaskId:
        """Which mask `compute_mask` would give, without a copy: for those who keep a table of masks."""
    def mask_by_id(self, id: MaskId) -> bytes | None:
        """The mask of an id, as `compute_mask` gives it. `None` if it is of another grammar, or was dropped."""
    def compute_bias(self) -> bytes:
        """The allowed tokens, one byte each: 200, or 0 where not allowed."""
    def fill_mask_at(self, pointer: int, byte_len: int) -> None:
        """`compute_mask` into memory at an address, 4-byte aligned, of a multiple of 4 bytes.

        A vocabulary smaller than the memory leaves the rest 0; a larger one raises `ValueError`. Nothing else can be
        checked: the memory must be there, writable, and stay while the call runs.
        """
    def allowed_tokens(self) -> list[int]:
        """The ids of the allowed tokens, ascending."""
    def is_allowed(self, token: int) -> bool:
        """Whether one token is allowed, without a mask."""
    def consume_token(self, token: int) -> int:
        """Returns how many tokens to take back, this one included; 0 without `backtracking`."""
    def consume_tokens(self, tokens: Sequence[int]) -> None:
        """Takes all of the tokens, or raises and takes none."""
    def try_consume_tokens(self, tokens: Sequence[int]) -> int:
        """Takes the tokens up to the first one that is not allowed; returns how many."""
    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the tokens could be taken, up to the first one that is not allowed. Takes none."""
    def consume_bytes(self, text: bytes) -> None:
        """Takes text, cut into tokens at no particular places. Raises `TextRejected` and takes none of it."""
    def forced_bytes(self) -> bytes:
        """The text that must follow, up to the first choice."""
    def forced_tokens(self) -> list[int]:
        """The tokens that must follow: those in which the tokenizer spells the text that must, as far as nothing that comes after could
        change them (without a tokenizer, none), and those that the grammar names by themselves."""
    def process_prompt(self, prompt: Sequence[int]) -> list[int]:
        """The prompt without tokens at its end that the tokenizer could make longer with the text to come (token healing), and with
        forced ones. The matcher must be at the start of its text; else the prompt is returned as it is."""
    def text(self) -> bytes:
        """The text so far."""
    def expected(self) -> list[str]:
        """Names of what may come next, for messages."""
    def capture(self, name: str) -> bytes | None:
        """The last text captured under a name; `None` if there is none."""
    def captures(self) -> list[tuple[str, bytes]]:
        """The captured texts with their names, in the order of their ends."""

@final
class KbnfEngine:
    """One generated sequence, as KBNF's programs know it; `larkspur.kbnf.Engine` is made of it."""

    def __new__(
        cls,
        grammar: str,
        vocabulary: Vocabulary,
        *,
        start: str = "start",
        finish: str = "eager",
        cache_enabled: bool = True,
        limits: Mapping[str, int] | None = None,
    ) -> KbnfEngine:
        """`finish` is `eager` (as soon as the text is complete) or `eos` (at an EOS token). Raises `GrammarError`."""
    @property
    def vocabulary(self) -> Vocabulary: ...
    def try_accept_new_token(self, token: int) -> str:
        """`Ongoing`, `Finished`, `UnknownTokenID`, `Rejected` or `AlreadyFinished`."""
    def try_accept_new_bytes(self, text: bytes) -> str: ...
    def compute_allowed_token_ids(self) -> None: ...
    def allowed_mask(self) -> bytes: ...
    def allowed_token_ids(self) -> list[int]: ...
    def is_allowed(self, token: int) -> bool: ...
    def write_allowed_mask_at(self, pointer: int, byte_len: int) -> None: ...
    def is_finished(self) -> bool: ...
    def reset(self) -> None: ...
    def fork(self) -> KbnfEngine: ...

@final
class Executor:
    """Threads that compute masks of many matchers at once; the GIL is released meanwhile."""

    def __new__(cls, threads: int | None = None) -> Executor:
        """`threads`, from 1 to 1,024: if not given as many as the machine has processors, but no more than 32.

        Raises `ValueError` for any other number."""

    @property
    def threads(self) -> int: ...
    def fill_masks_at(
        self, batch: Sequence[tuple[Matcher, int]], pointer: int, row_bytes: int, rows: int
    ) -> list[Exception | None]:
        """The mask of each matcher into its row of a table in memory.

        A matcher whose mask fails leaves its row empty, and its exception stands in the list.
        Raises `ValueError` if a row is out of range, too short, or given twice, and `RuntimeError` for a matcher that is
        given twice or in use in another thread.
        """

    def fill_draft_masks_at(
        self, batch: Sequence[tuple[Matcher, int, Sequence[int]]], pointer: int, row_bytes: int, rows: int
    ) -> list[int | Exception]:
        """Masks along drafts: row r before the draft, row r + i + 1 after its token i (the EOS tokens, if the text ends
        there), up to the first token that is not allowed or stands behind the end; later rows stay as they are. Matchers
        end where they began.

        Returns how many rows of each were written. Raises as `fill_masks_at`.
        """

    def consume_tokens(self, batch: Sequence[tuple[Matcher, int]]) -> list[Exception | None]:
        """A token for each matcher."""

def unsettled_len(matcher: Matcher) -> int:
    """Bytes at the end of `matcher.text()` that may be the beginning of a `stop`, which would be taken back."""

def capture_spans(matcher: Matcher) -> list[tuple[str, int, int, bytes]]:
    """The captures: name, start and end in `matcher.text()`, text. Raises as `Matcher.captures`."""
