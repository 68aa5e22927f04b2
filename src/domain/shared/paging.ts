import { z } from 'zod';
import { Invalid } from './errors.ts';
import { isId } from './ids.ts';

/** What every list takes. Newest first; a cursor names the last row of the page before, so page N costs what page 1 costs. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
};

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

/** The id after which (older than which) the page starts; null for the first one. */
export function afterId({ cursor }: PageRequest): string | null {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!isId(id) || toCursor(id) !== cursor) {
    throw new Invalid('cursor: expected a next_cursor of this list, unchanged');
  }
  return id;
}

/** Cuts a result of `limit + 1` rows to its page. */
export function toPage<T extends { id: string }>(rows: T[], { limit }: PageRequest): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? toCursor(last.id) : null };
}

function toCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/** Conditions and parameters of a list's `where`, put together from the filters that were given. */
export class Where {
  readonly #conditions: string[] = ['true'];
  readonly params: unknown[] = [];

  and(sql: string, ...params: unknown[]): this {
    this.#conditions.push(`(${sql})`);
    this.params.push(...params);
    return this;
  }

  /** Only where the filter was given. */
  andIf(value: unknown, sql: string): this {
    return value === undefined || value === null ? this : this.and(sql, value);
  }

  get sql(): string {
    return this.#conditions.join(' and ');
  }
}
