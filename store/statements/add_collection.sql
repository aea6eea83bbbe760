INSERT INTO collections BY NAME
SELECT $1 AS collection, $2 AS kind, $3 AS description, $4 AS created_at, $5 AS domain
ON CONFLICT (collection) DO UPDATE SET description = excluded.description, domain = coalesce(excluded.domain, domain);
