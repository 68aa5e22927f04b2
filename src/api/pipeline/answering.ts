import type { CommandAnswer } from './answer-types.ts';
import type { Parts } from './asking.ts';
import { matchLocation } from './location.ts';
import {
  type Asked,
  type CommandOperation,
  type Erased,
  type Operation,
  type ReadOperation,
  routeOf,
} from './operation.ts';

/** What a receipt keeps of an answer: enough for its repeat, and nothing that it showed. */
export interface KeptAnswer {
  readonly status: number;
  readonly location: string | null;
  /** The read operation that shows what the command left. Receipts of the release before this one have an address alone. */
  readonly read?: { readonly operation: string; readonly params: Readonly<Record<string, unknown>> };
}

/** How a command that was just carried out is answered, by its declaration. */
export function keepAnswer(
  operation: CommandOperation,
  change: CommandAnswer<unknown>,
  asked: Asked<Erased, Erased, Erased>,
): KeptAnswer {
  const { at, atParams } = operation;
  const status = successStatus(operation, change.isNew);
  if (!at) return { status, location: null };
  const params = atParams?.(change, asked) ?? { [onlyParameter(at)]: change.id };
  return { status, location: pathOf(at, params), read: { operation: at.id, params } };
}

/** Finds the read operation, and its parameters, that answers a repeated command. Undefined: there is nothing to show. */
export function repeatedBy(
  operations: readonly Operation[],
  { location, read }: KeptAnswer,
): { operation: ReadOperation; parts: Parts } | undefined {
  const found = read ? findRead(operations, read) : location && matchLocation(operations, location);
  return found
    ? { operation: found.operation, parts: { params: found.params, query: {}, body: undefined } }
    : undefined;
}

/** The status of a success. Of two, the second says that something new was made. */
export function successStatus({ responses }: Operation, isNew = true): number {
  const [first = 200, second = first] = Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 200 && status < 300);
  return isNew ? second : first;
}

function findRead(operations: readonly Operation[], { operation: id, params }: NonNullable<KeptAnswer['read']>) {
  const operation = operations.find((each) => each.kind === 'read' && each.id === id);
  return operation?.kind === 'read' ? { operation, params } : undefined;
}

function onlyParameter(operation: ReadOperation): string {
  const names = [...routeOf(operation).path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  if (names.length === 1) return names[0]!;
  throw new Error(`${operation.id} is found by ${names.length} parameters: declare them as "atParams"`);
}

function pathOf(operation: ReadOperation, params: Readonly<Record<string, unknown>>): string {
  return routeOf(operation).path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(params[name])));
}
