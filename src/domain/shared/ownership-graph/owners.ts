import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Kind } from '#domain/ownership.ts';
import { columnsOf } from './conditions.ts';
import type { AnyLink } from './declaration.ts';
import { declarationOf, pathTo } from './graph.ts';

/** The levels of owners, outermost first. */
export const ownerLevels = ['organization', 'team', 'project', 'environment', 'instance'] as const;
export type OwnerLevel = (typeof ownerLevels)[number];

/** The ids of a thing's owners at the levels that can own it; null where it has none. It counts as its own owner at its own level. */
export type Owners = Readonly<Partial<Record<OwnerLevel, string | null>>>;

/** The owners of a thing, found in one query; undefined if there is no such thing. */
export async function findOwners(
  em: Em,
  kind: Kind,
  id: string,
  levels: readonly OwnerLevel[] = ownerLevels,
): Promise<Owners | undefined> {
  const { table, hiddenWhenDeleted } = declarationOf(kind);
  const columns = levels.flatMap((level) => {
    const path = pathTo(kind, level);
    return path ? [ownerAlong(em, path).as(level)] : [];
  });
  let thing = declaredTables(em).selectFrom(`${table} as x`).where('x.id', '=', id);
  if (hiddenWhenDeleted) thing = thing.where('x.deletedAt', 'is', null);
  return thing.select(columns).$castTo<Owners>().executeTakeFirst();
}

/** The id at the end of a path of owners that begins at the row `x`; the row's own id if the path is empty. */
function ownerAlong(em: Em, path: readonly AnyLink[]) {
  const [first, ...others] = path;
  let owner: Expression<unknown> = columnsOf('x')(first?.columns[0] ?? 'id');
  let kind = first?.kind ?? '';
  for (const { columns, kind: next } of others) {
    const above = declaredTables(em).selectFrom(`${declarationOf(kind).table} as n`);
    owner = above.where('n.id', '=', owner).select(`n.${columns[0]}`);
    kind = next;
  }
  return sql<string | null>`${owner}`;
}
