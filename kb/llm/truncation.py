"""A prompt and the server's count of it → was the prompt cut? Pure; needs no tokenizer, and errs on the side of silence."""

from __future__ import annotations

from kb.text import count_unspaced

# A count this far below the least the prompt can have is no counting error (trap 2 of kb/llm/ollama.py).
LEAST_SHARE = 0.9
# Characters that one token covers at most in a long word, and in a script without spaces: benchmarks/prompt_tokens.py
# finds 16 and 4 below every count it makes, on prose, Korean, source code and tables.
WORD_CHARS, UNSPACED_CHARS = 16, 4


def least_tokens(text: str) -> int:
    """A length in tokens that no tokenizer of a language model stays below: what is between two spaces is never merged.

    Words of letters and digits count one for each 16 characters begun, rules and other runs of signs one whatever
    their length, scripts without spaces one for each four characters.

    >>> least_tokens("The mirror is cleaned every 14 days. ----------------------------------------")
    8
    """
    words = text.split()
    counted = sum(-(-len(word) // WORD_CHARS) if any(map(str.isalnum, word)) else 1 for word in words)
    if text.isascii():
        return counted
    return max(counted, count_unspaced(text) // UNSPACED_CHARS)


def is_cut(prompt: str, prompt_tokens: int | None, context_tokens: int) -> bool | None:
    """True when the server cannot have read the whole prompt; None when it did not say how much it read.

    prompt_tokens   as the server counted them
    context_tokens  what it has allocated; a prompt that fills it to the last token has been cut to fit
    """
    if prompt_tokens is None:
        return None
    return prompt_tokens < LEAST_SHARE * least_tokens(prompt) or prompt_tokens >= context_tokens - 1
