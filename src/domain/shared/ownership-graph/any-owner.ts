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
  const branches = all.flatMap((declaration) => {
    const owner = ownerOfDeclared(declaration, level, id);
    return owner === undefined ? [] : [sql`when ${sql.lit(declaration.kind)} then ${owner}`];
  });
  return sql<string | null>`case ${kind} ${sql.join(branches, sql` `)} end`;
}

/**
 * `ownerOfAny` of a kind that is known when the statement is written. The statement then has one branch instead of one for each declared
 * kind, which takes a fraction of the time to write and to plan.
 */
export function ownerOfKind(level: OwnerLevel, kind: string, id: Expression<string>): Expression<string | null> {
  const all: readonly AnyDeclaration[] = declarations;
  const declaration = all.find((each) => each.kind === kind);
  const owner = declaration && ownerOfDeclared(declaration, level, id);
  return sql<string | null>`${owner ?? sql`null::uuid`}`;
}

/** Undefined if things of the kind have no owner at the level, or are not found by an id. */
function ownerOfDeclared(
  { kind, table, key }: AnyDeclaration,
  level: OwnerLevel,
  id: Expression<string>,
): Expression<unknown> | undefined {
  const path = key === undefined ? pathTo(kind, level) : undefined;
  if (path === undefined) return undefined;
  return path.length === 0 ? id : sql`(select ${ownerAlong(path)} from ${sql.table(table)} x where x.id = ${id})`;
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
