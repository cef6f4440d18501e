"""kb: a command-line knowledge base over one SQLite file. The parts, in the order that data takes:

records, drafts, errors, text, arrays, setting, environment, config, config_nodes, wire   the ground: what everything talks about
normal_form, shingles, fingerprint   text → what it is recognised by: sha256, SimHash, MinHash
language/        words, phrases, numbers and endings of English and Korean, behind one record a language
store/           SQLite, the only truth: documents, chunks, vectors, answers
embed/           text → vectors: sentence-transformers for batches, ONNX for one query
index/           lexical (Tantivy BM25) and vector (FAISS), derived from the store, rebuilt when stale
graph/           text → names and stated relations; query entities → paths, with an admissibility token
support/         claim + texts → does the text back it: numbers, names, negations, words
rank/            how well passages hold together and fit a question; what to pack; what only repeats the reader's window
followup/        a question that leans on earlier ones → the same question, complete
relevance/       mode and signals of a prompt → which context nodes are worth their tokens
llm/             prompt → streamed text: Ollama, or the embedded extractive model
knowledge_base   opens store, indexes, encoder and model of one home, lazily, once
ingest/          discover → parse → chunk → embed → save → index
tags/            a closed vocabulary: import, train, suggest, apply
search/          filters → retrieve → fuse → hold against the window → hits
context/         a query and a window → a block for a prompt: retrieve → relate → press → expand → fill; context nodes
evidence/        how likely passages answer a question: what the gate before every answer decides by
ask/             retrieve → gate → pack → prompt → generate → verify → cite → persist
chat/            the same turn by turn: sessions, slash commands
eval/            suites → runs → metrics → compare → report
status, doctor, cswr   the state of a home; checks of this installation; thresholds of context stability
cli/             one thin module per command group; render.py prints
"""

__version__ = "0.1.0"
