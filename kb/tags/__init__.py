"""Phrases → tags of a closed vocabulary: import, train, suggest, apply, evaluate. The rules are pure; models are read-only files.

vocabulary, formats, skos, faults     a file → canonical tags, aliases, ratings, items, every fault with its line
words, grams, fasttext, context       what is like what: character n-grams, FastText, TF-IDF→SVD
model, train                          the trained files of a home, stamped and memory-mapped
suggest, retriever                    phrases → candidates: the contract's rules; the parts they need, opened lazily
phrases, apply, measure               text → phrases; documents → tags; how good it is
"""
