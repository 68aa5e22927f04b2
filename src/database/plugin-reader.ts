import pg from 'pg';

export interface PluginReader {
  readonly role: string;
  readonly password: string;
  /** The schemas whose tables it may read. Those that do not exist are left out. */
  readonly schemas: readonly string[];
}

/**
 * Makes a role that may read the tables of plugins and nothing else, or gives the one that is there another password. It may read the tables that
 * are in the schemas now, and those that the service's own role adds later. The role of the URL must be allowed to create roles.
 */
export async function createPluginReader(
  databaseUrl: string,
  { role, password, schemas }: PluginReader,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
    const name = pg.escapeIdentifier(role);
    await client.query(
      `${rowCount ? 'alter' : 'create'} role ${name} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 20
         password ${pg.escapeLiteral(password)}`,
    );
    for (const schema of await findExisting(client, schemas)) await client.query(grantReading(schema, name));
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

function grantReading(schema: string, role: string): string {
  return `grant usage on schema ${schema} to ${role};
    grant select on all tables in schema ${schema} to ${role};
    alter default privileges in schema ${schema} grant select on tables to ${role}`;
}
