import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { answerSession } from '#api/edge/cookies.ts';
import { HttpProblem } from '#api/edge/errors/http-problem.ts';
import type { Services } from '#api/services.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { successStatus } from './answering.ts';
import type { Asking, Parts } from './asking.ts';
import { recordingRefusals } from './auditing.ts';
import { authenticate } from './authentication.ts';
import { admit, answerOf, executeCommand, executeRead } from './execution.ts';
import { commandKey } from './idempotency.ts';
import { type CommandOperation, isPublic, type Operation, type ReadOperation, routeOf } from './operation.ts';
import { RawAnswer } from './raw-answer.ts';

/**
 * Makes a route of every operation. The order of answers is that of access.md in the design: credential, permission,
 * input, target, action, and only then what the operation itself has to say.
 */
export function registerOperations(app: FastifyInstance, operations: readonly Operation[], services: Services): void {
  for (const operation of operations) {
    const { method, path } = routeOf(operation);
    const toAsking = (request: FastifyRequest): Asking => {
      const { principal, params, query, body } = request as FastifyRequest & Parts;
      return { operation, operations, services, request, principal, parts: { params, query, body } };
    };
    app.route({
      ...routeOptions(operation),
      method,
      url: path,
      // Who asks, and whether they may ask such a thing at all, is decided before the body is even read.
      onRequest: async (request, reply) => {
        await identify(toAsking(request), reply);
        await admit(toAsking(request));
      },
      preValidation: async (request) => {
        request.sentBody = request.body;
      },
      handler: (request, reply) => answer(toAsking(request), reply),
    });
  }
}

/** Counts the request by whoever sends it: by its address where that is nobody, or nobody any more. */
async function identify(asking: Asking, reply: FastifyReply): Promise<void> {
  const { operation, services, request } = asking;
  request.principal = anonymous;
  try {
    if (isPublic(operation.access)) return;
    const unknown = { ...asking, principal: anonymous };
    request.principal = await recordingRefusals(unknown, () => authenticate(services, request));
  } catch (error) {
    throw asUnknownCaller(operation, error);
  } finally {
    await request.server.countRequest(request, reply);
  }
}

function routeOptions(operation: Operation): RouteShorthandOptions {
  const { id, summary, description, params, query, body, responses, malformedCode } = operation;
  return {
    config: { operation, ...(malformedCode && { malformedCode }) },
    schema: {
      operationId: id,
      tags: [id.split('.')[0]!],
      summary,
      ...(description && { description }),
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      response: responses,
      ...(isPublic(operation.access) && { security: [] }),
    },
  };
}

/** Where nobody could tell who asks, some operations answer by a status of their own. */
function asUnknownCaller({ unknownCaller: status }: Operation, error: unknown): unknown {
  const isRefusal = error instanceof ServiceError && error.kind !== 'unavailable';
  if (isRefusal || status === undefined) return error;
  return new HttpProblem(status, 'who you are could not be read again: try again', { cause: error });
}

function answer(asking: Asking, reply: FastifyReply): Promise<unknown> {
  return asking.operation.kind === 'read'
    ? answerRead(asking as Asking<ReadOperation>, reply)
    : answerCommand(asking as Asking<CommandOperation>, reply);
}

async function answerRead(asking: Asking<ReadOperation>, reply: FastifyReply): Promise<unknown> {
  const result = await executeRead(asking, commandKey(asking.operation, asking.request));
  if (result instanceof RawAnswer) return result.send(asking.request, reply);
  return reply.status(successStatus(asking.operation)).send(result);
}

async function answerCommand(asking: Asking<CommandOperation>, reply: FastifyReply): Promise<unknown> {
  const { operation, request } = asking;
  const key = commandKey(operation, request);
  if (key !== null) reply.header('idempotency-key', key);
  const result = await executeCommand(asking, key, request.sentBody);
  const { status, location, body } = await answerOf(asking, result);
  reply.status(status);
  if (location) reply.header('location', location);
  if (!result.replayed) answerSession(reply, asking, body);
  return reply.send(body);
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    /** The body as it was sent, before defaults: what an idempotency key is bound to. */
    sentBody: unknown;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}
