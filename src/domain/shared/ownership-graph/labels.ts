import { type Expression, type SqlBool, sql } from 'kysely';
import { columnsOf } from './conditions.ts';
import type { AnyDeclaration } from './declaration.ts';
import { baseOf, declarationOf, pathTo } from './graph.ts';

/** A table that a statement joins, and the alias of the row there. */
export interface Join {
  readonly table: string;
  readonly alias: string;
  readonly on: Expression<SqlBool>;
}

interface Named {
  readonly label: Expression<string>;
  readonly joins: readonly Join[];
  readonly conditions: readonly Expression<SqlBool>[];
  /** The columns by which the rows are ordered: the key of the innermost kind that is named. */
  readonly key: readonly Expression<unknown>[];
}

/** The name of the row `x` of a kind in conflicts: the labels of these kinds (its own or owners), outermost first. */
export function namedBy(
  declaration: AnyDeclaration,
  names: readonly string[],
  separator: string,
  includes: 'present' | 'active' | 'deleted',
): Named {
  const steps = joinOwners(declaration, names);
  const labels = steps.toReversed().map(({ kind, alias }) => labelOf(kind, alias));
  const [innermost] = steps;
  const key = innermost ? (declarationOf(innermost.kind).key ?? ['id']) : [];
  return {
    label: sql<string>`${sql.join(labels, sql` || ${sql.lit(separator)} || `)}`,
    joins: steps.flatMap(({ join }) => (join ? [join] : [])),
    conditions: includes === 'deleted' ? [] : steps.flatMap((step) => remains(step, includes)),
    key: key.map(columnsOf(innermost?.alias ?? 'x')),
  };
}

/** The label of the row of a kind with an alias. */
export function labelOf(kind: string, alias: string): Expression<string> {
  const { label } = baseOf(kind);
  if (label === undefined) throw new Error(`the kind "${kind}" is named by conflicts and declares no label`);
  return typeof label === 'string' ? sql.ref<string>(`${alias}.${label}`) : label(columnsOf(alias));
}

interface Step {
  readonly kind: string;
  readonly alias: string;
  readonly join?: Join;
}

/** From the kind itself outwards; each step is joined to the one before. */
function joinOwners({ kind, extends: base }: AnyDeclaration, names: readonly string[]): Step[] {
  const steps: Step[] = [];
  let [at, alias] = [kind, 'x'];
  for (const name of names.toReversed()) {
    if (name === kind) {
      steps.push({ kind, alias });
      continue;
    }
    const column = at === kind && name === base ? 'id' : (pathTo(at, name)?.[0]?.columns[0] ?? 'id');
    const next = `n${steps.length}`;
    const on = sql<SqlBool>`${sql.ref(`${next}.id`)} = ${sql.ref(`${alias}.${column}`)}`;
    steps.push({ kind: name, alias: next, join: { table: declarationOf(name).table, alias: next, on } });
    [at, alias] = [name, next];
  }
  return steps;
}

function remains({ kind, alias }: Step, includes: 'present' | 'active'): Expression<SqlBool>[] {
  const { tombstone, archivable } = declarationOf(kind);
  const column = columnsOf(alias);
  return [
    ...(tombstone ? [sql<SqlBool>`${column('deletedAt')} is null`] : []),
    ...(archivable && includes === 'active' ? [sql<SqlBool>`${column('archivedAt')} is null`] : []),
  ];
}
