ALTER TABLE documents ADD COLUMN file_seal TEXT
