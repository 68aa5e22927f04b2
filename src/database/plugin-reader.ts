import pg from 'pg';

export interface PluginReader {
  readonly role: string;
  readonly password: string;
  /** The schemas whose tables the role may read. Schemas that do not exist are ignored. */
  readonly schemas: readonly string[];
}

/**
 * Creates a role that may read only the tables of plugins, or gives an existing role a new password. It may read the tables that are in the
 * schemas now, and those that the service's own role adds later. Its other rights to read schemas are revoked. The role of the URL must be
 * allowed to create roles.
 */
export async function createPluginReader(
  databaseUrl: string,
  { role, password, schemas }: PluginReader,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
    const name = pg.escapeIdentifier(role);
    await client.query(
      `${rowCount ? 'alter' : 'create'} role ${name} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 20
         password ${pg.escapeLiteral(password)}`,
    );
    for (const schema of await findReadable(client, role)) await client.query(revokeReading(schema, name));
    for (const schema of await findExisting(client, schemas)) await client.query(grantReading(schema, name));
    await client.query('commit');
  } finally {
    await client.end();
  }
}

async function findExisting(client: pg.Client, schemas: readonly string[]): Promise<string[]> {
  const found = await client.query<{ nspname: string }>('select nspname from pg_namespace where nspname = any($1)', [
    schemas,
  ]);
  return found.rows.map(({ nspname }) => pg.escapeIdentifier(nspname));
}

/** The schemas that the role may use because of a grant. */
async function findReadable(client: pg.Client, role: string): Promise<string[]> {
  const found = await client.query<{ nspname: string }>(
    `select distinct n.nspname from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee where r.rolname = $1`,
    [role],
  );
  return found.rows.map(({ nspname }) => pg.escapeIdentifier(nspname));
}

function revokeReading(schema: string, role: string): string {
  return `revoke all on all tables in schema ${schema} from ${role};
    revoke all on schema ${schema} from ${role};
    alter default privileges in schema ${schema} revoke all on tables from ${role}`;
}

function grantReading(schema: string, role: string): string {
  return `grant usage on schema ${schema} to ${role};
    grant select on all tables in schema ${schema} to ${role};
    alter default privileges in schema ${schema} grant select on tables to ${role}`;
}
