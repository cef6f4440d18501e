CREATE TABLE stopped_files (
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    state TEXT NOT NULL,            -- of the file and its reader, when reading it was stopped
    reason TEXT NOT NULL,
    PRIMARY KEY (source, path)
) WITHOUT ROWID
