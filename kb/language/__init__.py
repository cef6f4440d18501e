"""The language tables: words, phrases, numbers and endings of each language. Pure; knows no store or model.

    interface.py        Language: the tables and functions that one language brings
    english.py, korean.py   one language each; a third language is a third file and its entry in registry.py
    registry.py         LANGUAGES; `words` and `pattern` join the tables of all languages; which language is a question in
    manner.py           whether a prompt is small talk, urgent, a task for kb, or about the user
    quantities.py       a text → its numbers with units, dates, times of day and names
    sentences.py        a passage → the sentences that can be quoted
    english_phrases.py  an English question → words, noun phrases and names
    korean_particles.py the particles and endings of Korean, taken off a word and put on it

Rules that need grammar (follow-up questions, relations between names) are elsewhere and take their words from here.
"""
