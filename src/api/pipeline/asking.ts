import type { FastifyRequest } from 'fastify';
import type { Services } from '#api/services.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Erased, Operation } from './operation.ts';

/** What a request says, parsed by the operation's own schemas. */
export interface Parts {
  readonly params: Erased;
  readonly query: Erased;
  readonly body: Erased;
}

/**
 * One asking of one operation, whichever way it came: by the operation's own route, or by a page that does the same.
 * Both go through the functions of `execution.ts`, so that they decide, count, commit and record alike.
 */
export interface Asking<O extends Operation = Operation> {
  readonly operation: O;
  /** All of them: the repeat of a command is answered by the read that its receipt names. */
  readonly operations: readonly Operation[];
  readonly services: Services;
  readonly request: FastifyRequest;
  readonly principal: Principal;
  readonly parts: Parts;
}
