"""Phrases → tags of a closed vocabulary: import, train, suggest, apply, evaluate. The rules are pure; models are read-only files.

formats, skos, draft, merge        a file → rows → canonical tags, aliases, ratings, items; every fault with its line
importing, vocabulary, words       the vocabulary in the store and in memory; how two spellings compare
grams, fasttext, context           which tokens are alike, which tags go together: n-grams, FastText, TF-IDF→SVD
train, model, arrays               the trained files of a home, stamped and memory-mapped
suggest, neighbours, retriever     phrases → candidates: the contract's rules; the parts they need, opened lazily
phrases, documents                 a text or a stored document → phrases
apply, thresholds, listing, measure   documents → tags, the vocabulary as rows, how good suggestions are
"""
