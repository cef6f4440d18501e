"""The notes of an ask in the language of its question: a Korean question gets no English lines beside a Korean answer.

kb writes its notes in English; here is what each means in other languages. A note that is not in the table stays English:
it is rare, and about the machine.
"""

from __future__ import annotations

import re

_KOREAN = (
    (r"no Ollama at (\S+): answering with quotes from your documents, without a language model",
     r"\1에 Ollama가 없어, 언어 모델 없이 문서를 인용해 답합니다"),
    (r"no Ollama at (\S+): (.*)", r"\1에 Ollama가 없습니다: \2"),
    (r"Ollama at (\S+) has no (\S+) \((kb models pull [^;]+); it has (.*): (kb models use NAME)\): answering with quotes"
     r" from your documents, without a language model",
     r"\1의 Ollama에 \2 모델이 없고(\3) \4 모델이 있습니다(\5). 언어 모델 없이 문서를 인용해 답합니다"),
    (r"Ollama at (\S+) has no (\S+) \((kb models pull \S+)\): answering with quotes from your documents,"
     r" without a language model", r"\1의 Ollama에 \2 모델이 없어(\3), 언어 모델 없이 문서를 인용해 답합니다"),
    (r"(.*): answering with quotes from your documents, without a language model",
     r"\1: 언어 모델 없이 문서를 인용해 답합니다"),
    (r"answering with quotes from your documents, without a language model", r"언어 모델 없이 문서를 인용해 답합니다"),
    (r"answering with (\S+) on Ollama at (\S+)", r"\2의 Ollama에서 \1 모델이 답합니다"),
    (r"answering with (.*)", r"\1 모델이 답합니다"),
    (r"note: the evidence was shown before, in answer (\d+)", r"근거는 앞의 답 \1에서 이미 보여 드린 글입니다"),
    (r"note: the evidence was shown before, in an answer of this session",
     r"근거는 이 대화의 앞선 답에서 이미 보여 드린 글입니다"),
    (r"note: the evidence was shown before: you named it with --seen", r"근거는 --seen으로 알려 주신 글에 있습니다"),
    (r"note: (\S+) does not know this language: the order is that of the search",
     r"\1 모델은 한국어를 몰라, 검색한 순서 그대로입니다"),
    (r"the answer (.*): asking the model once more", r"답의 인용 표시가 잘못되어 모델에 한 번 더 묻습니다"),
    (r"the prompt was longer than estimated and was refused: asking again with less evidence",
     r"물음이 모델에 너무 길어, 근거를 줄여 다시 묻습니다"),
    (r"loading (\S+) on Ollama …", r"Ollama에서 \1 모델을 올리는 중 …"),
    (r"the answer broke off: (.*)", r"답이 중간에 끊겼습니다: \1"),
    (r"the context of ([\d,]+) tokens is full: raise llm\.context_tokens",
     r"모델의 문맥 \1토큰이 가득 찼습니다. llm.context_tokens를 늘리십시오"),
    (r"warning: Ollama gave (\S+) a context of ([\d,]+) tokens, ([\d,]+) were asked for; less evidence is packed",
     r"주의: Ollama가 \1 모델에 \3토큰 대신 \2토큰의 문맥을 주어, 근거를 줄입니다"),
    (r"preparing (?:the reader )?(.*) \(once per model\)…", r"\1 준비 중 (모델마다 한 번) …"),
    (r"this answer is not kept in the history: (.*)", r"이 답은 기록에 남지 않습니다: \1"),
    (r"searching", r"찾는 중"),
    (r"reading (\d+) passages", r"대목 \1개를 읽는 중"),
    (r"✗ the text above is not an answer: (.*)", r"✗ 위의 글은 답이 아닙니다: \1"),
    (r"✗ the text above was taken back; asked once more, the model said:",
     r"✗ 위의 글은 거두었습니다. 다시 물은 모델의 답:"),
    (r"✗ the text above is not an answer; this is one, and not from your documents:",
     r"✗ 위의 글은 답이 아닙니다. 이것이 답이며, 문서에서 나온 것은 아닙니다:"),
    (r"waiting for the model", r"모델을 기다리는 중"),
    (r"waiting for (\S+) to read the prompt …", r"\1 모델이 글을 읽는 중 …"),
    (r"searched for: (.*)", r"찾은 말: \1"),
    (r"what came of it: kb answers show last", r"쓰다 만 답: kb answers show last"),
    (r"✗ the prompt was cut: the model has not read all of the evidence",
     r"✗ 프롬프트가 잘려, 모델이 근거를 다 읽지 못했습니다"),
    (r"note: checking answers without a reader of claims: (.*)", r"답을 낱말로만 확인합니다: \1"),
)  # fmt: skip
_TABLES = {"ko": tuple((re.compile(pattern), words) for pattern, words in _KOREAN)}


def in_language(message: str, language: str) -> str:
    """A note in a language; as it is where that has no words for it.

    >>> in_language("note: the evidence was shown before, in answer 3", "ko")
    '근거는 앞의 답 3에서 이미 보여 드린 글입니다'
    >>> in_language("the disk is full", "ko"), in_language("searching", "en")
    ('the disk is full', 'searching')
    """
    for pattern, words in _TABLES.get(language, ()):
        if match := pattern.fullmatch(message):
            return match.expand(words)
    return message
