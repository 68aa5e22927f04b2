import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Page, PageRequest } from '#domain/shared/paging.ts';
import type { AuditFilter, AuditRecord } from './model.ts';
import { findUserIdByEmail, hasRecord, type Position, selectRecords } from './store.ts';

/** A page of records, newest first. Every page costs as much as the first one. @throws Invalid for a changed cursor */
export async function listRecords(
  em: Em,
  filter: AuditFilter,
  retentionDays: number | null,
  request: PageRequest,
): Promise<Page<AuditRecord>> {
  const from = positionOf(request);
  const found = await selectRecords(em, { filter, retentionDays, direction: 'older', from, limit: request.limit + 1 });
  const items = found.slice(0, request.limit);
  const last = items.at(-1);
  return { items, nextCursor: found.length > request.limit && last ? toCursor(last) : null };
}

/** A record as the target of a decision. It belongs to the whole installation. */
export async function findRecord(em: Em, id: string): Promise<({ id: string } & Ownership) | undefined> {
  return (await hasRecord(em, id)) ? { id, ...installationOwnership } : undefined;
}

/** Replaces a user's e-mail address in the filter by the user's id. */
export async function resolveActor(em: Em, filter: AuditFilter): Promise<AuditFilter> {
  if (!filter.actor?.includes('@')) return filter;
  const userId = await findUserIdByEmail(em, filter.actor);
  return { ...filter, actor: userId ?? filter.actor };
}

function toCursor({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

function positionOf({ cursor }: PageRequest): Position | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, at = '', id = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S+)$/.exec(text) ?? [];
  const isUnchanged = isId(id) && !Number.isNaN(Date.parse(at)) && toCursor({ at, id }) === cursor;
  if (isUnchanged) return { at, id };
  throw new Invalid('cursor: expected a next_cursor of this list, unchanged');
}
