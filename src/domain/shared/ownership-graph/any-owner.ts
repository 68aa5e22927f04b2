import { type Expression, sql } from 'kysely';
import { declarations } from '#domain/ownership.ts';
import { columnsOf } from './conditions.ts';
import type { AnyDeclaration, AnyLink } from './declaration.ts';
import { declarationOf, pathTo } from './graph.ts';
import type { OwnerLevel } from './owners.ts';

/**
 * The id of the owner, at a level, of a thing whose kind is a column of the row. Null if the thing has no such owner, no longer exists, or
 * has a kind that no area declares. PostgreSQL evaluates only the branch of the row's kind.
 */
export function ownerOfAny(
  level: OwnerLevel,
  kind: Expression<string>,
  id: Expression<string>,
): Expression<string | null> {
  const all: readonly AnyDeclaration[] = declarations;
  const branches = all.flatMap(({ kind: name, table, key }) => {
    const path = key === undefined ? pathTo(name, level) : undefined;
    if (path === undefined) return [];
    const owner =
      path.length === 0 ? id : sql`(select ${ownerAlong(path)} from ${sql.table(table)} x where x.id = ${id})`;
    return [sql`when ${sql.lit(name)} then ${owner}`];
  });
  return sql<string | null>`case ${kind} ${sql.join(branches, sql` `)} end`;
}

/** The owner at the end of a path that begins at the row `x`. */
function ownerAlong([first, ...others]: readonly AnyLink[]): Expression<unknown> {
  let owner: Expression<unknown> = columnsOf('x')(first?.columns[0] ?? 'id');
  let kind = first?.kind ?? '';
  for (const { columns, kind: next } of others) {
    const { table } = declarationOf(kind);
    owner = sql`(select n.${sql.ref(columns[0] ?? 'id')} from ${sql.table(table)} n where n.id = ${owner})`;
    kind = next;
  }
  return owner;
}
