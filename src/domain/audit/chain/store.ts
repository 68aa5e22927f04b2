import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { Position } from '../filter-store.ts';
import type { Seal } from './seal.ts';

/** The position before every record. */
export const firstPosition: Position = { at: '0001-01-01T00:00:00.000Z', id: zeroId };

/** Records between two positions: after the first, up to and including the second. */
export interface Range {
  readonly after: Position;
  readonly until: Position;
}

/** Takes a lock, until the transaction ends, so that one process at a time seals; false if another process has it. */
export async function lockChain(em: Em): Promise<boolean> {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/audit chain', 0))`;
  const { isOurs } = await db(em).selectNoFrom(lock.as('isOurs')).executeTakeFirstOrThrow();
  return isOurs;
}

export async function readLastSeal(em: Em): Promise<Seal | undefined> {
  return (await selectSeals(em).orderBy('position', 'desc').limit(1).execute()).map(toSeal)[0];
}

export async function readSeal(em: Em, position: number): Promise<Seal | undefined> {
  return (await selectSeals(em).where('position', '=', position).execute()).map(toSeal)[0];
}

/** The seals after a position, in their order. */
export async function listSeals(em: Em, after: number, limit: number): Promise<Seal[]> {
  return (await selectSeals(em).where('position', '>', after).orderBy('position').limit(limit).execute()).map(toSeal);
}

export async function insertSeal(em: Em, { position, until, records, content, seal }: Seal): Promise<void> {
  await db(em)
    .insertInto('audit_seals')
    .values({
      position,
      untilAt: until.at,
      untilId: until.id,
      records,
      content,
      seal,
      createdAt: sql`clock_timestamp()`,
    })
    .execute();
}

/** Where the next seal ends: the last of at most `max` records of one month that are older than `settled`. */
export async function findNextEnd(
  em: Em,
  after: Position,
  settled: string,
  max: number,
): Promise<Position | undefined> {
  const next = db(em)
    .selectFrom('audit_records as r')
    .where((eb) => eb.and([...isBehind(eb, after), eb('at', '<', settled), isAnyOutcome(eb)]))
    .select(['at', 'id'])
    .orderBy('at')
    .orderBy('id')
    .limit(max);
  const month = sql`date_trunc('month', ${sql.ref('at')} at time zone 'UTC')`;
  const row = await db(em)
    .with('next', () => next)
    .selectFrom('next')
    .where(({ selectFrom }) => sql<SqlBool>`${month} = ${selectFrom('next').select(sql`min(${month})`.as('first'))}`)
    .select(['at', 'id'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { at: new Date(row.at).toISOString(), id: row.id };
}

/**
 * All content of a record, for the digest. `is_read` is left out: `countHiddenChanges` compares it with the action. Times are numbers,
 * because their text depends on settings of the session.
 */
const content = sql<Buffer>`sha256(convert_to(jsonb_build_array(
  r.id, (extract(epoch from r.at) * 1000)::bigint, r.actor_id, r.actor_type, r.actor_name, r.credential_type, r.credential_id, r.action,
  r.resource_type, r.resource_id, r.organization_id, r.team_id, r.outcome, r.request_id, r.address, r.before, r.after)::text, 'UTF8'))`;

/** How many records there are between two positions, and a digest over them in their order. */
export async function digestRecords(em: Em, { after, until }: Range): Promise<{ records: number; content: Buffer }> {
  const digests = sql<Buffer>`sha256(coalesce(string_agg(${content}, ''::bytea order by r.at, r.id), ''::bytea))`;
  return db(em)
    .selectFrom('audit_records as r')
    .where((eb) => eb.and([...isBehind(eb, after), ...isUpTo(eb, until), isAnyOutcome(eb)]))
    .select([sql<number>`count(*)::int`.as('records'), digests.as('content')])
    .executeTakeFirstOrThrow();
}

/**
 * How many records between two positions are marked as reads, though their action changes something. The list of changes does not show
 * them.
 */
export async function countHiddenChanges(
  em: Em,
  { after, until }: Range,
  readActions: readonly string[],
): Promise<number> {
  const { hidden } = await db(em)
    .selectFrom('audit_records as r')
    .where((eb) => eb.and([...isBehind(eb, after), ...isUpTo(eb, until), isAnyOutcome(eb)]))
    .where('isRead', '=', true)
    .where((eb) => eb.not(eb('action', '=', eb.fn.any(eb.val(readActions)))))
    .select(sql<number>`count(*)::int`.as('hidden'))
    .executeTakeFirstOrThrow();
  return hidden;
}

/** The records that no seal covers yet: how many, and the time of the first. */
export async function findUnsealed(em: Em, after: Position): Promise<{ records: number; since: string | null }> {
  const { records, since } = await db(em)
    .selectFrom('audit_records as r')
    .where((eb) => eb.and([...isBehind(eb, after), isAnyOutcome(eb)]))
    .select([sql<number>`count(*)::int`.as('records'), sql<string | null>`min(at)`.as('since')])
    .executeTakeFirstOrThrow();
  return { records, since: since && new Date(since).toISOString() };
}

/** Whether the service itself has removed the records of a month, as `2026-01`, because their retention time was over. */
export async function isRemovedMonth(em: Em, month: string): Promise<boolean> {
  const row = await db(em)
    .selectFrom('audit_records as r')
    .where('resourceId', '=', month)
    .where('action', '=', 'audit_records.expired')
    .where('outcome', '=', 'committed')
    .select('id')
    .executeTakeFirst();
  return row !== undefined;
}

type Condition = Expression<SqlBool>;
type Records = Over<{ r: 'audit_records' }>;

/** The comparison of time alone lets PostgreSQL skip partitions. */
function isBehind(eb: Records, { at, id }: Position): Condition[] {
  return [eb('at', '>=', at), eb(eb.refTuple('at', 'id'), '>', eb.tuple(at, id))];
}

function isUpTo(eb: Records, { at, id }: Position): Condition[] {
  return [eb('at', '<=', at), eb(eb.refTuple('at', 'id'), '<=', eb.tuple(at, id))];
}

/** Always true. It matches the condition of the partial index by time. */
function isAnyOutcome(eb: Records): Condition {
  return sql<SqlBool>`${eb.ref('outcome')} in ('committed', 'refused')`;
}

function selectSeals(em: Em) {
  return db(em).selectFrom('audit_seals').select(['position', 'untilAt', 'untilId', 'records', 'content', 'seal']);
}

interface SealRow {
  readonly position: number;
  readonly untilAt: string;
  readonly untilId: string;
  readonly records: number;
  readonly content: Uint8Array;
  readonly seal: Uint8Array;
}

function toSeal({ untilAt, untilId, content, seal, ...row }: SealRow): Seal {
  const until = { at: new Date(untilAt).toISOString(), id: untilId };
  return { ...row, until, content: Buffer.from(content), seal: Buffer.from(seal) };
}
