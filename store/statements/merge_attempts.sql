-- A run happens in one study, so of two counts of the same tries the larger is the later one.
INSERT INTO attempts BY NAME
FROM incoming
ON CONFLICT DO UPDATE SET count = greatest(attempts.count, excluded.count);
