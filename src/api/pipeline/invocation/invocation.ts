import type { FastifyRequest } from 'fastify';
import type { Services } from '#api/services.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Erased, Operation } from '../operation.ts';

/** The input of an operation, parsed by the operation's own schemas. */
export interface OperationInput {
  readonly params: Erased;
  readonly query: Erased;
  readonly body: Erased;
}

/** The row of a joinable target; undefined if there is none. */
export interface FoundTarget {
  readonly row: object | undefined;
}

/**
 * One invocation of one operation, either by the operation's own route or by a page.
 * Both use the functions of `invoke.ts`, so both authorize, limit, commit and audit in the same way.
 */
export interface Invocation<O extends Operation = Operation> {
  readonly operation: O;
  /** All operations: a repeated command is answered by the read operation that its receipt names. */
  readonly operations: readonly Operation[];
  readonly services: Services;
  readonly request: FastifyRequest;
  /** The media types that the page accepts, in place of the request's header: the page reads JSON and answers HTML. */
  readonly accept?: string;
  readonly principal: Principal;
  /** What the statement that read the principal has found of the target. An invocation with another principal gets another `found`. */
  readonly found?: FoundTarget | undefined;
  readonly input: OperationInput;
}
