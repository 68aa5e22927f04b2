import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Page, PageRequest } from '#domain/shared/paging/paging.ts';
import { isStorableTime } from '#domain/shared/values/times.ts';
import type { Position } from './filter-store.ts';
import type { AuditFilter, AuditRecord } from './model.ts';
import { findRecordOwners } from './owner-store.ts';
import { auditScopeOf, showTo } from './scope.ts';
import { selectRecords } from './store.ts';

/**
 * A page of the records that a reader may see, newest first. Every page costs as much as the first one.
 * @throws Invalid for a changed cursor
 */
export async function listRecords(
  em: Em,
  reader: Principal,
  filter: AuditFilter,
  retentionDays: number | null,
  request: PageRequest,
): Promise<Page<AuditRecord>> {
  const from = positionOf(request);
  const scope = auditScopeOf(reader);
  const limit = request.limit + 1;
  const found = await selectRecords(em, { filter, scope, retentionDays, direction: 'older', from, limit });
  const items = found.slice(0, request.limit).map((record) => showTo(reader, record));
  const last = items.at(-1);
  return { items, nextCursor: found.length > request.limit && last ? toCursor(last) : null };
}

/** A record as the target of a decision: it belongs to the owners that it names, and to its actor. */
export async function findRecord(
  em: Em,
  id: string,
  callerId: string,
): Promise<({ id: string } & Ownership) | undefined> {
  const found = await findRecordOwners(em, id);
  if (!found) return undefined;
  const { actorId, organizationId, teamId } = found;
  return { id, organizationId, teamId, isCallersOwn: actorId === callerId };
}

/** Whether the reader may see any record of an actor. @param actor an id, or the name of a part of the service */
export async function hasRecordBy(
  em: Em,
  reader: Principal,
  actor: string,
  retentionDays: number | null,
): Promise<boolean> {
  const scope = auditScopeOf(reader);
  const selection = { scope, retentionDays, direction: 'older', from: null, limit: 1 } as const;
  return (await selectRecords(em, { ...selection, filter: { actor } })).length > 0;
}

function toCursor({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

function positionOf({ cursor }: PageRequest): Position | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, at = '', id = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S+)$/.exec(text) ?? [];
  const isUnchanged = isId(id) && isStorableTime(at) && toCursor({ at, id }) === cursor;
  if (isUnchanged) return { at, id };
  throw new Invalid('cursor: expected a next_cursor of this list, unchanged');
}
