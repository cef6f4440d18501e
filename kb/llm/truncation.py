"""A prompt and the server's token count → whether the prompt was cut. Pure; needs no tokenizer; in doubt it says no."""

from __future__ import annotations

from kb.text import count_unspaced

# A count below this share of the least possible one is not an error of counting (trap 2 of kb/llm/ollama.py).
LEAST_SHARE = 0.9
# Most characters of one token in a long word, and in a script without spaces. benchmarks/prompt_tokens.py finds no count
# below the one they give, on prose, Korean, source code and tables.
WORD_CHARS, UNSPACED_CHARS = 16, 4


def least_tokens(text: str) -> int:
    """A lower bound of a text's length in tokens, for any tokenizer: none merges across spaces.

    Words count one token per 16 characters, rounded up; runs of punctuation count one; scripts without spaces one per four
    characters.

    >>> least_tokens("The mirror is cleaned every 14 days. ----------------------------------------")
    8
    """
    words = text.split()
    counted = sum(-(-len(word) // WORD_CHARS) if any(map(str.isalnum, word)) else 1 for word in words)
    if text.isascii():
        return counted
    return max(counted, count_unspaced(text) // UNSPACED_CHARS)


def is_cut(prompt: str, prompt_tokens: int | None, context_tokens: int) -> bool | None:
    """True when the server cannot have read the whole prompt; None when it gave no count.

    prompt_tokens   the server's count
    context_tokens  the allocated context; a prompt that fills it was cut to fit
    """
    if prompt_tokens is None:
        return None
    return prompt_tokens < LEAST_SHARE * least_tokens(prompt) or prompt_tokens >= context_tokens - 1
