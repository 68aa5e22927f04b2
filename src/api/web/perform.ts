import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { answerSession } from '#api/edge/cookies.ts';
import { encodeAnswer } from '#api/edge/json/serialization.ts';
import { parsePart } from '#api/edge/json/validation.ts';
import type { RequestPart } from '#api/edge/json/validation-messages.ts';
import type { Asking, Parts } from '#api/pipeline/asking.ts';
import { admit, answerOf, callerOf, executeCommand, executeRead } from '#api/pipeline/execution.ts';
import { formKey } from '#api/pipeline/idempotency.ts';
import { type CommandOperation, isPublic, type Operation, type ReadOperation } from '#api/pipeline/operation.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import type { Services } from '../services.ts';

/** What pages stand on: the operations of the API, and what those work with. */
export interface Ground {
  readonly operations: readonly Operation[];
  readonly services: Services;
}

/** What a client of the API would send to the same operation, as JSON; it is checked by the operation's own schemas. */
export interface Input {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Asks a read operation on behalf of who looks at the page; answers what the API would show them, and no more. */
export async function performRead<Answer extends z.ZodType>(
  ground: Ground,
  request: FastifyRequest,
  operation: ReadOperation<{ readonly 200: Answer }>,
  input: Input = {},
): Promise<z.input<Answer>> {
  const answer = await executeRead(await ask(ground, request, operation, input));
  return encodeAnswer(operation.responses[200], answer, operation.id, '200');
}

/**
 * Asks a command on behalf of who submitted the page: the same decision, limits, transaction, audit row, receipt and
 * session cookie as by its own route. `key` is what the form carries where the operation takes one.
 * Answers the command's body. @throws what the operation throws; `Invalid` names the fields of the body
 */
export async function performCommand(
  ground: Ground,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: CommandOperation,
  { key: sentKey, ...input }: Input & { readonly key?: string } = {},
): Promise<unknown> {
  const asking = await ask(ground, request, operation, input);
  const result = await executeCommand(asking, formKey(operation, sentKey), input.body);
  const { body } = await answerOf(asking, result);
  if (!result.replayed) answerSession(reply, asking, body);
  return body;
}

/** In the order of the operation's own route: credential, permission, input. */
async function ask<O extends Operation>(
  ground: Ground,
  request: FastifyRequest,
  operation: O,
  input: Input,
): Promise<Asking<O>> {
  if (!isPublic(operation.access) && request.principal === anonymous)
    throw new Unauthenticated('you are not signed in');
  const principal = callerOf(operation, request.principal);
  const raw: Parts = { params: input.params, query: input.query, body: input.body };
  await admit({ ...ground, operation, request, principal, parts: raw });
  return { ...ground, operation, request, principal, parts: parse(operation, input) };
}

function parse({ params, query, body }: Operation, input: Input): Parts {
  return {
    params: params ? parsed(params, 'path', input.params ?? {}) : {},
    query: query ? parsed(query, 'query', input.query ?? {}) : {},
    body: body ? parsed(body, 'body', input.body) : undefined,
  };
}

function parsed(schema: z.ZodType, part: RequestPart, given: unknown): unknown {
  const { value, error } = parsePart(schema, part, given);
  if (error) throw error;
  return value;
}
