import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';
import { anonymous, shownIdOf } from '#domain/shared/access/principal.ts';
import { isId } from '#domain/shared/ids.ts';
import type { AuditFilter, AuditRecord } from './model.ts';

/** The position of a record in the order of time and id. */
export interface Position {
  readonly at: string;
  readonly id: string;
}

/** The records to read, and the position to start from. */
export interface Selection {
  readonly filter: AuditFilter;
  /** Records older than this are not read, even while their partition still exists; null: all are kept. */
  readonly retentionDays: number | null;
  /** `older` reads from the newest record on, `newer` from the oldest. */
  readonly direction: 'older' | 'newer';
  /** The position to continue after. Null: start with the first record in the direction. */
  readonly from: Position | null;
  readonly limit: number;
}

const columns = [
  'id',
  'at',
  'action',
  'outcome',
  'actor_type',
  'actor_id',
  'actor_name',
  'credential_type',
  'credential_id',
  'resource_type',
  'resource_id',
  'organization_id',
  'team_id',
  'request_id',
  'address',
  'before',
  'after',
] as const;

/**
 * Reads records. The statement is kept unprepared by selecting `*`: which index serves best depends on the values, and one plan
 * for all values would read millions of records to find a few. A migration cannot change what `*` means here, because the
 * inner select names its columns.
 */
export async function selectRecords(
  em: Em,
  { filter, retentionDays, direction, from, limit }: Selection,
): Promise<AuditRecord[]> {
  const order = direction === 'older' ? 'desc' : 'asc';
  const page = db(em)
    .selectFrom('audit_records as r')
    .where((eb) => eb.and([...matches(eb, filter, retentionDays), ...(from ? liesBeyond(eb, from, direction) : [])]))
    .select(columns)
    .orderBy('at', order)
    .orderBy('id', order)
    .limit(limit);
  const rows = await db(em).selectFrom(page.as('page')).selectAll().execute();
  return rows.map(toRecord);
}

export async function hasRecord(em: Em, id: string): Promise<boolean> {
  const found = await db(em).selectFrom('audit_records').where('id', '=', id).select('id').executeTakeFirst();
  return found !== undefined;
}

export async function readRecord(em: Em, id: string, retentionDays: number | null): Promise<AuditRecord | undefined> {
  const row = await db(em)
    .selectFrom('audit_records as r')
    .where('id', '=', id)
    .where((eb) => isInRetention(eb, retentionDays))
    .select(columns)
    .executeTakeFirst();
  return row && toRecord(row);
}

export async function findUserIdByEmail(em: Em, email: string): Promise<string | undefined> {
  const user = await db(em)
    .selectFrom('users')
    .where('email_key', '=', emailKey(email))
    .select('id')
    .executeTakeFirst();
  return user?.id;
}

/**
 * The clock, and the time up to which every record is visible. A record takes its time inside its transaction, so no record
 * that is still to be committed is older than the oldest transaction that writes. `marginSeconds` covers transactions that have
 * not been given an id yet.
 */
export async function readHorizon(em: Em, marginSeconds: number): Promise<{ now: string; settled: string }> {
  const activity = sql<{ datname: string; backend_xid: string | null; xact_start: string | null }>`pg_stat_activity`;
  const clock = sql<string>`clock_timestamp()`;
  const row = await db(em)
    .selectFrom(activity.as('activity'))
    .where('activity.datname', '=', sql<string>`current_database()`)
    .where('activity.backend_xid', 'is not', null)
    .select((eb) => [
      clock.as('now'),
      sql<string>`least(${clock} - make_interval(secs => ${marginSeconds}), ${eb.fn.min('activity.xact_start')})`.as(
        'settled',
      ),
    ])
    .executeTakeFirstOrThrow();
  return { now: new Date(row.now).toISOString(), settled: new Date(row.settled).toISOString() };
}

type RecordTable = Over<{ r: 'audit_records' }>;
type Condition = Expression<SqlBool>;

/** The filters by a column's exact value. */
const columnFilters = ['action', 'resource_type', 'resource_id', 'organization_id', 'team_id', 'request_id'] as const;

function matches(eb: RecordTable, filter: AuditFilter, retentionDays: number | null): Condition[] {
  const { actor, outcome, from, to } = filter;
  const conditions: Condition[] = [isInRetention(eb, retentionDays)];
  for (const column of columnFilters) {
    const value = filter[column];
    if (value !== undefined) conditions.push(eb(column, '=', value));
  }
  if (from !== undefined) conditions.push(eb('at', '>=', new Date(from).toISOString()));
  if (to !== undefined) conditions.push(eb('at', '<', new Date(to).toISOString()));
  if (actor !== undefined) conditions.push(...isActor(eb, actor));
  const isNarrow = actor !== undefined || columnFilters.some((column) => filter[column] !== undefined);
  if (outcome === 'refused') conditions.push(sql<SqlBool>`${eb.ref('outcome')} = 'refused'`);
  if (outcome === 'committed') conditions.push(sql<SqlBool>`${eb.ref('outcome')} <> 'refused'`);
  if (outcome !== 'refused' && !isNarrow) conditions.push(isAnyOutcome(eb));
  return conditions;
}

/**
 * Always true. Matches the condition of the partial index by time, so that PostgreSQL can use that index. Omitted if filters
 * narrow the list: PostgreSQL would otherwise read the whole index to find the few records that match two filters.
 */
function isAnyOutcome(eb: RecordTable): Condition {
  return sql<SqlBool>`${eb.ref('outcome')} in ('committed', 'refused')`;
}

function isInRetention(eb: RecordTable, retentionDays: number | null): Condition {
  return retentionDays === null
    ? eb.lit(true)
    : eb('at', '>=', sql<string>`now() - make_interval(days => ${retentionDays})`);
}

function isActor(eb: RecordTable, actor: string): Condition[] {
  if (isId(actor)) return [eb('actor_id', '=', actor)];
  return [eb('actor_id', '=', anonymous.id), eb('actor_name', '=', actor)];
}

/** The comparison of time alone lets PostgreSQL skip partitions. */
function liesBeyond(eb: RecordTable, { at, id }: Position, direction: Selection['direction']): Condition[] {
  const row = eb.refTuple('at', 'id');
  return direction === 'older'
    ? [eb('at', '<=', at), eb(row, '<', eb.tuple(at, id))]
    : [eb('at', '>=', at), eb(row, '>', eb.tuple(at, id))];
}

interface Row extends Omit<AuditRecord, 'actor' | 'credential' | 'resource'> {
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  credential_type: string;
  credential_id: string | null;
  resource_type: string;
  resource_id: string | null;
}

function toRecord(row: Row): AuditRecord {
  const credentialId = shownIdOf(row.credential_id);
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    action: row.action,
    outcome: row.outcome,
    actor: { type: row.actor_type, id: shownIdOf(row.actor_id), name: row.actor_name },
    credential: credentialId === null ? null : { type: row.credential_type, id: credentialId },
    resource: { type: row.resource_type, id: row.resource_id },
    organization_id: row.organization_id,
    team_id: row.team_id,
    request_id: row.request_id,
    address: row.address,
    before: row.before,
    after: row.after,
  };
}
