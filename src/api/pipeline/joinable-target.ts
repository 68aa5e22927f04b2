import type { Em } from '#database/database.ts';
import type { LookupById } from '#domain/db.ts';
import type { TargetQuery } from '#domain/identity/authentication.ts';
import type { Operation } from './operation.ts';

/** The input by which the target of a request is known before it is looked up. */
export interface TargetInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly operations: readonly Operation[];
}

/**
 * The resolver of a read that finds its target by one row. The pipeline reads this row in the statement that authenticates the caller: so
 * the request takes one statement less, and the decision is about caller and target at the same moment. Called by itself, it looks the
 * target up.
 */
export interface JoinableTarget<Lookup, Input, Target> {
  (lookup: Lookup): Promise<Target | undefined>;
  /** The query of the row. Undefined: this request has none that can be joined. */
  readonly queryOf: (input: Input) => TargetQuery | undefined;
  /** The target by the row that was found; undefined if there was none. */
  readonly fromRow: (row: object | undefined, lookup: Lookup) => Promise<Target | undefined>;
}

interface ById {
  readonly em: Em;
  readonly params: { readonly id: string };
}

type JoinableById<Target> = JoinableTarget<ById, Pick<ById, 'params'>, Target>;

/** The target is what the parameter `id` of the path names. `complete` makes it of its row, if the row is not the target itself. */
export function foundById<Row extends object>(lookup: LookupById<Row>): JoinableById<Row>;
export function foundById<Row extends object, Target>(
  lookup: LookupById<Row>,
  complete: (em: Em, row: Row) => Promise<Target>,
): JoinableById<Target>;
export function foundById<Row extends object>(
  lookup: LookupById<Row>,
  complete: (em: Em, row: Row) => Promise<unknown> = async (_, row) => row,
): JoinableById<unknown> {
  const fromRow = async (row: object | undefined, { em }: ById) => row && complete(em, row as Row);
  return Object.assign(async (by: ById) => fromRow(await lookup(by.em, by.params.id), by), {
    queryOf: ({ params: { id } }: Pick<ById, 'params'>) => ({ query: lookup.query, parameters: { id } }),
    fromRow,
  });
}

/** The resolver of an operation, if it is joinable. A command locks what it finds, so its target is looked up in its transaction. */
// biome-ignore lint/suspicious/noExplicitAny: the pipeline passes the input that the operation's own schemas have parsed
export function joinableTargetOf({ kind, target }: Operation): JoinableTarget<any, any, any> | undefined {
  return kind === 'read' && target && 'queryOf' in target ? (target as never) : undefined;
}
