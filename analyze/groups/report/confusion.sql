-- The three most frequent errors of each group, all seeds together, with their share of the cases of the true class.
WITH counted AS (
    SELECT group_name, true_class, predicted_class, sum(n) AS cases
    FROM group_confusion
    WHERE collection = ? AND outcome = ? AND arm = ? AND model = ? AND attribute = ?
    GROUP BY group_name, true_class, predicted_class
), shares AS (
    SELECT *, cases / sum(cases) OVER (PARTITION BY group_name, true_class) AS share FROM counted
)
SELECT
    group_name, true_class, coalesce(predicted_class, '(no valid answer)') AS answered_as, CAST(cases AS BIGINT), share
FROM shares
WHERE predicted_class IS DISTINCT FROM true_class
QUALIFY row_number() OVER (PARTITION BY group_name ORDER BY cases DESC, true_class, predicted_class) <= 3
ORDER BY group_name, cases DESC, true_class, predicted_class
