import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type DeclaredTables, declaredTables } from '#domain/db.ts';
import type { AnyDeclaration, AnyLink, Row } from './declaration.ts';
import { declarationOf, pathTo } from './graph.ts';

/** The columns of the row that a statement calls by an alias. */
export function columnsOf(alias: string): Row<string> {
  return (column) => sql.ref(`${alias}.${column}`);
}

/** True if row `x` refers to the thing with this key: its id, or the name of a worker pool. */
export function linkCondition({ columns, matches }: AnyLink, id: string): Expression<SqlBool> {
  if (matches !== undefined) return matches(columnsOf('x'), id);
  const [first, ...others] = columns.map(columnsOf('x'));
  if (first && others.length === 0) return sql<SqlBool>`${first} = ${id}`;
  return sql<SqlBool>`${id}::uuid in (${sql.join(columns.map(columnsOf('x')))})`;
}

/** The condition that the row `x` of a kind is below an owner; undefined if rows of the kind never are. */
export function belowCondition(kind: string, owner: string, id: string): Expression<SqlBool> | undefined {
  const path = pathTo(kind, owner);
  return path && pathCondition(path, id);
}

function pathCondition([first, ...rest]: readonly AnyLink[], id: string): Expression<SqlBool> {
  const column = columnsOf('x')(first?.columns[0] ?? 'id');
  if (!first || rest.length === 0) return sql<SqlBool>`${column} = ${id}`;
  const owners = expressionBuilder<DeclaredTables>()
    .selectFrom(`${declarationOf(first.kind).table} as x`)
    .where(pathCondition(rest, id))
    .select('x.id');
  return sql<SqlBool>`${column} in ${owners}`;
}

type Counted = Pick<AnyDeclaration, 'revision' | 'generation'>;

/** The assignments that raise the counters of a changed row. */
export function countersOf({ revision, generation }: Counted): Record<string, Expression<number>> {
  const next = (column: string) => sql<number>`${sql.ref(column)} + 1`;
  return {
    ...(revision && { revision: next('revision') }),
    ...(generation && { eligibilityGeneration: next('eligibilityGeneration') }),
  };
}

/** The time at which a statement runs, as PostgreSQL's clock says. */
export const clock = sql<string>`clock_timestamp()`;

/**
 * Changes one thing and raises its counters; returns the new revision. If the thing has generations, the end of the previous one is
 * recorded.
 */
export async function changeOne(
  em: Em,
  declaration: Counted & Pick<AnyDeclaration, 'kind' | 'table'>,
  id: string,
  assignments: Record<string, unknown> = {},
): Promise<number> {
  const tables = declaredTables(em);
  const change = tables
    .updateTable(declaration.table)
    .set({ ...assignments, ...countersOf(declaration) })
    .where('id', '=', id);
  const changed = declaration.generation
    ? await tables
        .with('changed', () => change.returning(['id', 'revision', 'eligibilityGeneration']))
        .with('noted', (queries) =>
          queries
            .insertInto('ended_eligibilities')
            .columns(['thingId', 'generation', 'endedAt'])
            .expression((eb) =>
              eb
                .selectFrom('changed')
                .select(['id', eb('eligibilityGeneration', '-', 1).as('generation'), clock.as('at')]),
            ),
        )
        .selectFrom('changed')
        .select('revision')
        .executeTakeFirst()
    : await change.returning('revision').executeTakeFirst();
  if (!changed) throw new Error(`the ${declaration.kind} ${id} was to be changed and does not exist`);
  return changed['revision'];
}
