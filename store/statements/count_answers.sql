-- How many answers a study holds, and how many queries were given up.
SELECT (SELECT count(*) FROM predictions), (SELECT count(*) FROM failures)
