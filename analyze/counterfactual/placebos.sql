-- The answers to placebos of one cell, by the answer that each stands beside.
SELECT label, value, doc_id, repeat, CAST({outcome} AS DOUBLE) AS outcome
FROM {view}
WHERE collection = ? AND model_key = ? AND coding = ? AND arm = ? AND outcome = ?
