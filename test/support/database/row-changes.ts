import pg from 'pg';

/** The changes of a table's rows: how many rows were added, and each new or changed row without its random parts. */
export type RowChanges = Readonly<Record<string, { readonly more: number; readonly rows: readonly string[] }>>;

/** Tables that requests write independently of what they ask for. */
const ignoredTables = new Set(['api_key_uses', 'rate_counts', 'migrations']);

/** Observes all tables of a database from outside the service. */
export class RowWatch {
  readonly #client: pg.Client;
  readonly #tables: readonly string[];
  #snapshot = '';
  #counts: Readonly<Record<string, number>> = {};

  private constructor(client: pg.Client, tables: readonly string[]) {
    this.#client = client;
    this.#tables = tables;
  }

  static async open(databaseUrl: string): Promise<RowWatch> {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        order by relname`,
    );
    return new RowWatch(
      client,
      rows.map(({ relname }) => relname).filter((name) => !ignoredTables.has(name)),
    );
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async execute(sql: string, ...params: unknown[]): Promise<void> {
    await this.#client.query(sql, params);
  }

  /** Begins to observe changes. */
  async start(): Promise<void> {
    await this.#untilQuiet();
    const { rows } = await this.#client.query('select pg_current_snapshot()::text as snapshot');
    this.#snapshot = rows[0].snapshot;
    this.#counts = await this.#count();
  }

  /** The changes since `start`, once no other session works on the database. Without changes, an empty object. */
  async changes(): Promise<RowChanges> {
    await this.#untilQuiet();
    const counts = await this.#count();
    const changed = await this.#changedRows();
    const touched = this.#tables.filter((table) => changed[table] || counts[table] !== this.#counts[table]);
    return Object.fromEntries(
      touched.map((table) => {
        const more = (counts[table] ?? 0) - (this.#counts[table] ?? 0);
        return [table, { more, rows: (changed[table] ?? []).sort() }];
      }),
    );
  }

  async #count(): Promise<Record<string, number>> {
    const each = this.#tables.map((table) => `(select count(*)::int from "${table}") as "${table}"`);
    const { rows } = await this.#client.query(`select ${each.join(', ')}`);
    return rows[0];
  }

  /** The rows that were written by transactions after the snapshot. */
  async #changedRows(): Promise<Record<string, string[]>> {
    const each = this.#tables.map(
      (table) =>
        `select '${table}' as name, to_jsonb(t) as row from "${table}" t where not pg_visible_in_snapshot(t.xmin::text::xid8, $1)`,
    );
    const { rows } = await this.#client.query(each.join(' union all '), [this.#snapshot]);
    const changed: Record<string, string[]> = {};
    for (const { name, row } of rows) {
      changed[name] ??= [];
      changed[name].push(JSON.stringify(withoutRandomParts(row)));
    }
    return changed;
  }

  async #untilQuiet(): Promise<void> {
    for (;;) {
      const { rows } = await this.#client.query(
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'`,
      );
      if (rows[0].n === 0) return;
    }
  }
}

const random: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'],
  [/^\\x[0-9a-f]*$/, 'BYTES'],
  [/^\$argon2.*$/, 'HASH'],
  [/^\d{4}-\d\d-\d\dT[\d:.+Z]+$/, 'TIME'],
  // Thumbprints and moduli of keys, in base64url.
  [/^(?:[\w-]{43}|[\w-]{300,})$/, 'KEY'],
  [/[0-9a-f]{12,}/g, 'HEX'],
  // The end of an id, in sentences.
  [/…[0-9a-f]{6}\b/g, '…END'],
  [/\d+/g, '0'],
];

/** A row without the parts that differ from command to command: ids, times, keys, and numbers in names. */
function withoutRandomParts(value: unknown): unknown {
  if (typeof value === 'string') return random.reduce((text, [pattern, name]) => text.replace(pattern, name), value);
  if (Array.isArray(value)) return value.map(withoutRandomParts);
  if (value === null || typeof value !== 'object') return value;
  const isOfInstallation =
    'subject_kind' in value && (value.subject_kind === 'installation' || value.subject_kind === 'settings');
  const isSettings = 'only' in value && 'document' in value;
  const members = Object.entries(value).filter(
    // The installation is the same in every try, so its events and the revisions of its pause, its settings and of deleted pools are counted on.
    // The offset of repeated work comes from the id of its owner.
    ([name, member]) =>
      name !== 'hint' &&
      name !== 'apply_pause_revision' &&
      name !== 'removed_pool_revision' &&
      name !== 'offsetSeconds' &&
      !isNumber(name, member) &&
      !(isOfInstallation && name === 'sequence') &&
      !(isSettings && name === 'revision'),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutRandomParts(member)]));
}

/** The number of a row in a table whose rows are numbered. A command that was rolled back leaves a gap in the numbers. */
function isNumber(name: string, member: unknown): boolean {
  return (name === 'id' || name === 'position') && typeof member === 'number';
}
