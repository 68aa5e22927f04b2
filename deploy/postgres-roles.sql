-- Runs once, when the database server is new: two users, each the owner of its own databases and of nothing else.
\set coordinator_password `cat /run/secrets/coordinator_database_password`
\set temporal_password `cat /run/secrets/temporal_database_password`

CREATE ROLE coordinator LOGIN PASSWORD :'coordinator_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE coordinator OWNER coordinator;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE CONNECT ON DATABASE coordinator, temporal, temporal_visibility FROM PUBLIC;
