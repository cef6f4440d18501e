"""The names of the store's file and of its schema steps, for readers and writers alike."""

FILE_NAME = "kb.sqlite"
MIGRATION_SET = "kb"
# In the order they are applied; a step that has been published is never renamed or edited.
MIGRATION_NAMES = (
    "m001_documents_chunks_answers",
    "m002_answer_history",
    "m003_tags",
    "m004_neighbourhoods",
    "m005_fingerprints",
    "m006_graph",
    "m007_nodes",
    "m008_file_identity",
    "m009_next_encoder",
    "m010_reader",
    "m011_seals",
    "m012_stopped_files",
    "m013_changes",
    "m014_answer_records",
    "m015_texts_of_chunks",
    "m016_file_seals",
    "m017_less_room",
    "m018_left_to_do",
)
