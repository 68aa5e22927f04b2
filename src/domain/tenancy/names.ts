import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type NamedTable, namedTables } from '#domain/named-tables.ts';
import { selectNames } from './names-store.ts';

/** Ids of things that have names, by their kind. */
export type NamedIds = { readonly [Table in NamedTable]?: readonly (string | null)[] };

/** What a page calls a thing. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** The organization of a team; null for every other kind. */
  readonly organizationId: string | null;
  /** The name of the environment of an instance; null for every other kind. */
  readonly environment: string | null;
  /** The name of the project of that environment. */
  readonly project: string | null;
}

export type Names = ReadonlyMap<string, Named>;

/**
 * Reads the names of things by their ids, also of deleted ones. It does not decide who may know them: pass only ids that the
 * caller was shown by an operation, or that name the caller's own memberships.
 */
export async function readNames(em: Em, ids: NamedIds): Promise<Names> {
  const queries = db(em);
  const selects = (Object.keys(namedTables) as NamedTable[]).flatMap((table) => {
    const wanted = [...new Set((ids[table] ?? []).filter((id) => id !== null))];
    return wanted.length > 0 ? [selectNames(queries, table, wanted)] : [];
  });
  const [first, ...others] = selects;
  if (!first) return new Map();
  const rows = await others.reduce((all, next) => all.unionAll(next), first).execute();
  return new Map(rows.map((row) => [row.id, row]));
}
