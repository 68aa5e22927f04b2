#!/bin/sh
# Makes Temporal's schema in PostgreSQL, or brings it to this release's. It may run again at every start.
set -eu

SQL_PASSWORD=$(cat "$SQL_PASSWORD_FILE")
export SQL_PASSWORD

for store in temporal visibility; do
  database=temporal
  [ "$store" = temporal ] || database=temporal_visibility
  tool="temporal-sql-tool --plugin postgres12_pgx --endpoint $SQL_HOST --port $SQL_PORT --user $SQL_USER --database $database"
  $tool setup-schema -v 0.0
  $tool update-schema --schema-name "postgresql/v12/$store"
done
