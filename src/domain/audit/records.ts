import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { type Ownership, nobody as ownedByNobody } from '#domain/shared/access/decide.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import type { AuditFilter, AuditRecord } from './model.ts';

const columns = `id, at, action, outcome, actor_type, actor_id, actor_name, credential_type, credential_id,
  resource_type, resource_id, organization_id, team_id, request_id, address, before, after`;

interface Row extends Omit<AuditRecord, 'actor' | 'credential' | 'resource'> {
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  credential_type: string;
  credential_id: string | null;
  resource_type: string;
  resource_id: string | null;
}

const nobody = anonymous.id;

/** Where a record stands among all: they are read in the order of time and id. */
export interface Place {
  readonly at: string;
  readonly id: string;
}

/** A page of records, newest first; it costs what the first one costs, wherever it is. */
export async function listRecords(
  em: Em,
  filter: AuditFilter,
  retentionDays: number | null,
  request: PageRequest,
): Promise<Page<AuditRecord>> {
  const where = whereOf(filter, retentionDays);
  const after = placeAfter(request);
  if (after) where.and('at <= ?', after.at).and('(at, id) < (?, ?)', after.at, after.id);
  const found = await select(em, where, 'at desc, id desc', request.limit + 1);
  const items = found.slice(0, request.limit);
  const last = items.at(-1);
  return { items, nextCursor: found.length > request.limit && last ? toCursor(last) : null };
}

/** The next records behind a place, oldest first. */
export function readOnwards(
  em: Em,
  filter: AuditFilter,
  retentionDays: number | null,
  { after, limit }: { after: Place | null; limit: number },
): Promise<AuditRecord[]> {
  const where = whereOf(filter, retentionDays);
  if (after) where.and('at >= ?', after.at).and('(at, id) > (?, ?)', after.at, after.id);
  return select(em, where, 'at, id', limit);
}

/** Whether there is such a record: the whole installation's. */
export async function findRecord(em: Em, id: string): Promise<({ id: string } & Ownership) | undefined> {
  const rows = await em.execute<{ id: string }[]>(`select id from audit_records where id = ?`, [id]);
  return rows[0] && { ...rows[0], ...ownedByNobody };
}

export async function readRecord(em: Em, id: string, retentionDays: number | null): Promise<AuditRecord | undefined> {
  const [record] = await select(em, whereOf({}, retentionDays).and('id = ?', id), 'at', 1);
  return record;
}

/**
 * Kept unprepared (its columns are never those of another release): which index serves best depends on the very values,
 * and a plan that is made once for all of them would walk through millions of records for the few of somebody.
 */
async function select(em: Em, where: Where, order: string, limit: number): Promise<AuditRecord[]> {
  const rows = await em.execute<Row[]>(
    `select * from (select ${columns} from audit_records where ${where.sql} order by ${order} limit ?) page`,
    [...where.params, limit],
  );
  return rows.map(toRecord);
}

/** What actor a filter names: people are known by their addresses as well. */
export async function resolveActor(em: Em, filter: AuditFilter): Promise<AuditFilter> {
  if (!filter.actor?.includes('@')) return filter;
  const [user] = await em.execute<{ id: string }[]>(`select id from users where email_key = ?`, [
    emailKey(filter.actor),
  ]);
  return { ...filter, actor: user?.id ?? filter.actor };
}

/** What has gone out of retention is not answered any more, also while the partition that holds it is still there. */
function whereOf(filter: AuditFilter, retentionDays: number | null): Where {
  const where = new Where()
    .andIf(filter.action, 'action = ?')
    .andIf(filter.resource_type, 'resource_type = ?')
    .andIf(filter.resource_id, 'resource_id = ?')
    .andIf(filter.organization_id, 'organization_id = ?')
    .andIf(filter.team_id, 'team_id = ?')
    .andIf(filter.request_id, 'request_id = ?')
    .andIf(filter.from && new Date(filter.from), 'at >= ?')
    .andIf(filter.to && new Date(filter.to), 'at < ?')
    .andIf(retentionDays, 'at >= now() - make_interval(days => ?)');
  if (filter.actor !== undefined) whereActor(where, filter.actor);
  return whereOutcome(where, filter);
}

const narrowing = [
  ...(['actor', 'action', 'resource_type', 'resource_id'] as const),
  ...(['organization_id', 'team_id', 'request_id'] as const),
];

/**
 * Written out, as the indexes say it. That of all records by time is partial, on a condition that is always true, so that
 * it serves only who says so: PostgreSQL would walk through all of them, in the order that is wanted, for the few to which
 * two filters apply together.
 */
function whereOutcome(where: Where, { outcome, ...others }: AuditFilter): Where {
  if (outcome === 'refused') return where.and(`outcome = 'refused'`);
  if (outcome === 'committed') where.and(`outcome <> 'refused'`);
  const isNarrow = narrowing.some((name) => others[name] !== undefined);
  return isNarrow ? where : where.and(`outcome in ('committed', 'refused')`);
}

function whereActor(where: Where, actor: string): void {
  if (isId(actor)) where.and('actor_id = ?', actor);
  else where.and('actor_id = ? and actor_name = ?', nobody, actor);
}

function toRecord(row: Row): AuditRecord {
  const credentialId = orNull(row.credential_id);
  const { id, at, action, outcome, organization_id, team_id, request_id, address, before, after } = row;
  return {
    ...{ id, at: new Date(at).toISOString(), action, outcome },
    actor: { type: row.actor_type, id: orNull(row.actor_id), name: row.actor_name },
    credential: credentialId === null ? null : { type: row.credential_type, id: credentialId },
    resource: { type: row.resource_type, id: row.resource_id },
    ...{ organization_id, team_id, request_id, address, before, after },
  };
}

/** Whoever is known by name alone has no id. */
function orNull(id: string | null): string | null {
  return id === nobody ? null : id;
}

function toCursor({ at, id }: Place): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

function placeAfter({ cursor }: PageRequest): Place | null {
  if (cursor === undefined) return null;
  const [, at = '', id = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S+)$/.exec(fromBase64(cursor)) ?? [];
  const isWhole = isId(id) && !Number.isNaN(Date.parse(at)) && toCursor({ at, id }) === cursor;
  if (isWhole) return { at, id };
  throw new Invalid('cursor: expected a next_cursor of this list, unchanged');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64url').toString();
}
