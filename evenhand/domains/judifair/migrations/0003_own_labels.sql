-- Labels of one's own that the study's queries ask: what each is, as its file has it, with the sentence that puts it
-- into a case. Whoever has the study can analyse it without the file.
CREATE TABLE judifair.own_labels (
    label      VARCHAR PRIMARY KEY,
    position   INTEGER NOT NULL,
    definition JSON NOT NULL
);
