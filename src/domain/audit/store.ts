import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { shownIdOf } from '#domain/shared/access/principal.ts';
import { asInApi } from '#domain/shared/naming/api-names.ts';
import { isInRetention, liesBeyond, matches, type Position, showsTarget } from './filter-store.ts';
import type { AuditFilter, AuditRecord } from './model.ts';
import { type AuditParts, type AuditScope, narrowScope } from './scope.ts';

/** The records to read, and the position to start from. */
export interface Selection {
  readonly filter: AuditFilter;
  /** The records that the reader may see. */
  readonly scope: AuditScope;
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
  'actorType',
  'actorId',
  'actorName',
  'credentialType',
  'credentialId',
  'resourceType',
  'resourceId',
  'organizationId',
  'teamId',
  'requestId',
  'address',
  'before',
  'after',
] as const;

/**
 * Reads records. It selects `*` so that PostgreSQL does not prepare the statement. The best index depends on the values, and one plan for
 * all values would read millions of records to find a few. A migration cannot change what `*` means here, because the inner select names
 * its columns.
 */
export async function selectRecords(em: Em, selection: Selection): Promise<AuditRecord[]> {
  const scope = narrowScope(selection.scope, selection.filter);
  const page = scope === 'all' ? selectPage(em, selection) : selectParts(em, selection, scope);
  const { rows } = await sql<Row>`select * from ${page} page`.execute(db(em));
  return rows.map(toRecord);
}

/** The first records of a selection that fulfil one more condition. */
function selectPage(em: Em, { filter, scope, retentionDays, direction, from, limit }: Selection, part?: Condition) {
  const order = direction === 'older' ? 'desc' : 'asc';
  return db(em)
    .selectFrom('audit_records as r')
    .where((eb) => {
      const conditions = matches(eb, filter, retentionDays, part !== undefined);
      const namesTarget = filter.resource_id !== undefined || filter.plugin_installation_id !== undefined;
      const isShown = namesTarget && scope !== 'all' ? [showsTarget(eb, scope)] : [];
      return eb.and([
        ...(part ? [part] : []),
        ...conditions,
        ...isShown,
        ...(from ? liesBeyond(eb, from, direction) : []),
      ]);
    })
    .select(columns)
    .orderBy('at', order)
    .orderBy('id', order)
    .limit(limit);
}

/**
 * The first records of a scope: the first ones of each of its parts, merged. Each part is read in the order of its own index, so a page
 * costs the same wherever it begins and for any number of other records. A record may be in several parts.
 */
function selectParts(em: Em, selection: Selection, { actors, organizations, teams }: AuditParts) {
  const order = selection.direction === 'older' ? 'desc' : 'asc';
  const merged = selectPart(em, selection, 'actorId', actors)
    .unionAll(selectPart(em, selection, 'organizationId', organizations))
    .unionAll(selectPart(em, selection, 'teamId', teams));
  return db(em)
    .selectFrom(merged.as('part'))
    .distinctOn(['at', 'id'])
    .select(columns)
    .orderBy('at', order)
    .orderBy('id', order)
    .limit(selection.limit);
}

function selectPart(
  em: Em,
  selection: Selection,
  column: 'actorId' | 'organizationId' | 'teamId',
  ids: readonly string[],
) {
  const names = sql<{ id: string }>`(select unnest(${ids}::uuid[]) as id)`.as('named');
  const isNamed = sql<SqlBool>`${sql.ref(`r.${column}`)} = ${sql.ref('named.id')}`;
  return db(em)
    .selectFrom(names)
    .innerJoinLateral(selectPage(em, selection, isNamed).as('of'), (join) => join.onTrue())
    .select(columns.map((name) => `of.${name}` as const));
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

/** The records with these ids that still exist, by their ids. */
export async function readRecords(em: Em, ids: readonly string[]): Promise<Map<string, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await db(em).selectFrom('audit_records as r').where('id', 'in', ids).select(columns).execute();
  return new Map(rows.map((row) => [row.id, toRecord(row)]));
}

/**
 * The clock, and the time up to which every record is visible. A record gets its time inside its transaction, so no uncommitted record is
 * older than the oldest writing transaction. `marginSeconds` covers transactions that do not have an id yet.
 */
export async function readHorizon(em: Em, marginSeconds: number): Promise<{ now: string; settled: string }> {
  const activity = sql<{ datname: string; backendXid: string | null; xactStart: string | null }>`pg_stat_activity`;
  const clock = sql<string>`clock_timestamp()`;
  const row = await db(em)
    .selectFrom(activity.as('activity'))
    .where('activity.datname', '=', sql<string>`current_database()`)
    .where('activity.backendXid', 'is not', null)
    .select((eb) => [
      clock.as('now'),
      sql<string>`least(${clock} - make_interval(secs => ${marginSeconds}), ${eb.fn.min('activity.xactStart')})`.as(
        'settled',
      ),
    ])
    .executeTakeFirstOrThrow();
  return { now: new Date(row.now).toISOString(), settled: new Date(row.settled).toISOString() };
}

type Condition = Expression<SqlBool>;

type Row = Selectable<Pick<Tables['audit_records'], (typeof columns)[number]>>;

/** Earlier releases wrote some names below the first level in camel case; every reader gets them as the API writes names. */
function toRecord(row: Row): AuditRecord {
  const credentialId = shownIdOf(row.credentialId);
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    action: row.action,
    outcome: row.outcome,
    actor: { type: row.actorType, id: shownIdOf(row.actorId), name: row.actorName },
    credential: credentialId === null ? null : { type: row.credentialType, id: credentialId },
    resource: { type: row.resourceType, id: row.resourceId },
    organization_id: row.organizationId,
    team_id: row.teamId,
    request_id: row.requestId,
    address: row.address,
    before: row.before && asInApi(row.before),
    after: row.after && asInApi(row.after),
  };
}
