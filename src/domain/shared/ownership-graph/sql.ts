import type { Cascade, Declaration, Link } from './declaration.ts';
import { baseOf, declarationOf, pathTo } from './graph.ts';

/** How declarations become SQL. Every parameter is an id, or for a pool its name. */

/** A fragment of a declaration, about the row of another alias. */
export function about(alias: string, fragment: string): string {
  return fragment.replaceAll(/\bx\./g, `${alias}.`);
}

/** The condition that a link of `x` names one thing; it has one parameter. */
export function linkCondition({ columns, matches }: Link): string {
  if (matches !== undefined) return matches;
  const names = columns.map((column) => `x.${column}`);
  return names.length === 1 ? `${names[0]} = ?` : `?::uuid in (${names.join(', ')})`;
}

/** The condition that `x` is below an owner, by way of these links; it has one parameter. */
export function pathCondition([first, ...rest]: readonly Link[]): string {
  if (!first) return 'x.id = ?';
  const column = `x.${first.columns[0]}`;
  if (rest.length === 0) return `${column} = ?`;
  return `${column} in (select x.id from ${declarationOf(first.kind).table} x where ${pathCondition(rest)})`;
}

/** The condition that `x` is below an owner; undefined where things of its kind never are. */
export function belowCondition(kind: string, owner: string): string | undefined {
  const path = pathTo(kind, owner);
  return path && pathCondition(path);
}

type Counted = { [counter in 'revision' | 'generation']?: true | undefined };

/** The assignments that count a change of a row. */
export function countersOf({ revision, generation }: Counted): string[] {
  return [
    ...(revision ? ['revision = revision + 1'] : []),
    ...(generation ? ['eligibility_generation = eligibility_generation + 1'] : []),
  ];
}

/** The statement that lets the rows under a condition go. */
export function cascadeStatement({ table }: Declaration, cascade: Cascade, condition: string): string {
  if (cascade.rows === 'deleted') return `delete from ${table} x where ${condition} returning 1`;
  const revised = cascade.revised ? ', revision = revision + 1' : '';
  return `update ${table} x set ${cascade.at} = clock_timestamp()${revised} where ${condition} and ${cascade.while} returning 1`;
}

/** The statement that changes one thing, by its id, and counts the change; answers its new revision. */
export function changeStatement(declaration: Counted & { table: string }, ...assignments: string[]): string {
  const changes = [...assignments, ...countersOf(declaration)];
  return `update ${declaration.table} set ${changes.join(', ')} where id = ? returning revision`;
}

interface Named {
  readonly label: string;
  readonly joins: string;
  readonly conditions: readonly string[];
  /** By what the rows are ordered: the innermost that is named. */
  readonly key: readonly string[];
}

/** How to call `x`, which is of a kind, by the labels of these kinds: itself or owners of it, outermost first. */
export function namedBy(
  declaration: Declaration,
  names: readonly string[],
  separator: string,
  counts: 'present' | 'active' | 'deleted too',
): Named {
  const steps = joinOwners(declaration, names);
  const labels = steps.toReversed().map(({ kind, alias }) => about(alias, labelOf(kind)));
  const [innermost] = steps;
  const joined = steps.filter(({ join }) => join !== '');
  return {
    label: labels.join(` || '${separator}' || `),
    joins: joined.map(({ join }) => ` ${join}`).join(''),
    conditions: counts === 'deleted too' ? [] : steps.flatMap((step) => remains(step, counts)),
    key: innermost ? (declarationOf(innermost.kind).key ?? ['id']).map((column) => `${innermost.alias}.${column}`) : [],
  };
}

interface Step {
  readonly kind: string;
  readonly alias: string;
  readonly join: string;
}

/** From the kind itself outwards; each is joined to the one before. */
function joinOwners({ kind, is }: Declaration, names: readonly string[]): Step[] {
  const steps: Step[] = [];
  let [at, alias] = [kind, 'x'];
  for (const name of names.toReversed()) {
    if (name === kind) {
      steps.push({ kind, alias, join: '' });
      continue;
    }
    const column = at === kind && name === is ? 'id' : pathTo(at, name)?.[0]?.columns[0];
    const next = `n${steps.length}`;
    steps.push({
      kind: name,
      alias: next,
      join: `join ${declarationOf(name).table} ${next} on ${next}.id = ${alias}.${column}`,
    });
    [at, alias] = [name, next];
  }
  return steps;
}

function labelOf(kind: string): string {
  const { label } = baseOf(kind);
  if (label === undefined) throw new Error(`the kind "${kind}" is named by conflicts and declares no label`);
  return label;
}

function remains({ kind, alias }: Step, counts: 'present' | 'active'): string[] {
  const { tombstone, archivable } = declarationOf(kind);
  return [
    ...(tombstone ? [`${alias}.deleted_at is null`] : []),
    ...(archivable && counts === 'active' ? [`${alias}.archived_at is null`] : []),
  ];
}
