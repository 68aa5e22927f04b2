import type { CommandInput } from '../call.ts';
import type { OperationInput } from '../invocation/invocation.ts';
import { type CommandOperation, type Erased, type Operation, type ReadOperation, routeOf } from '../operation.ts';
import type { CommandAnswer } from './answer-types.ts';
import { matchLocation, operationPath, type PathParams, paramNamesOf } from './location.ts';

/** The part of an answer that a receipt stores: enough to answer a repeated command, but no body. */
export interface ReceiptAnswer {
  readonly status: number;
  readonly location: string | null;
  /** The read operation that shows the result. Receipts of the previous release have only an address. */
  readonly read?: { readonly operation: string; readonly params: PathParams };
  /** For a command that answers its receipt: what the receipt contains besides the id, the revision and the audit record. */
  readonly members?: Readonly<Record<string, string | number>>;
}

/** Builds the answer of a command that has just been carried out, according to its declaration. */
export function toReceiptAnswer(
  operation: CommandOperation,
  result: CommandAnswer<unknown>,
  input: CommandInput<Erased, Erased, Erased>,
): ReceiptAnswer {
  const { at, atParams } = operation;
  const { members } = result;
  const status = successStatus(operation, result.isNew);
  if (!at) return { status, location: null, ...(members && { members }) };
  const params = atParams?.(result, input) ?? { [onlyParameterOf(at)]: result.id };
  return {
    status,
    location: operationPath(at, params),
    read: { operation: at.id, params },
    ...(members && { members }),
  };
}

/** Finds the read operation, and its input, that answers a repeated command. Undefined: the command has no body to show. */
export function findReadOf(
  operations: readonly Operation[],
  { location, read }: ReceiptAnswer,
): { operation: ReadOperation; input: OperationInput } | undefined {
  const found = read ? findRead(operations, read) : location && matchLocation(operations, location);
  return found
    ? { operation: found.operation, input: { params: found.params, query: {}, body: undefined } }
    : undefined;
}

/** The status of a success. Of two declared successes, the second is for a resource that the command created. */
export function successStatus({ responses }: Operation, isNew = true): number {
  const [first = 200, second = first] = Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 200 && status < 300);
  return isNew ? second : first;
}

function findRead(operations: readonly Operation[], { operation: id, params }: NonNullable<ReceiptAnswer['read']>) {
  const operation = operations.find((each) => each.kind === 'read' && each.id === id);
  return operation?.kind === 'read' ? { operation, params } : undefined;
}

function onlyParameterOf(operation: ReadOperation): string {
  const names = paramNamesOf(routeOf(operation).path);
  if (names.length === 1) return names[0]!;
  throw new Error(`the path of ${operation.id} has ${names.length} parameters: declare "atParams"`);
}
