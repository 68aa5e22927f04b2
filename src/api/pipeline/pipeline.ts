import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload, RouteShorthandOptions } from 'fastify';
import { requirePace } from '#api/edge/limits/steady-body.ts';
import { maxUploads, UploadLimit } from '#api/edge/limits/upload-limit.ts';
import type { Services } from '#api/services.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { digestInThread } from '#domain/shared/values/digest.ts';
import { identify } from './access/identification.ts';
import { RawAnswer } from './answers/raw-answer.ts';
import { successStatus } from './answers/receipt-answer.ts';
import { commandKey } from './headers/idempotency.ts';
import { entityTagOf, withExpectedRevision } from './headers/if-match.ts';
import { mediaTypesOf } from './headers/media-types.ts';
import type { FoundTarget, Invocation, OperationInput } from './invocation/invocation.ts';
import { answerCommand, authorizeOperation, authorizeRead, invokeCommand, invokeRead } from './invocation/invoke.ts';
import { admitUpload } from './invocation/uploads.ts';
import { joinableTargetOf } from './joinable-target.ts';
import { cutOffWithoutAccess } from './long-answers/cut-off.ts';
import { waitForChange } from './long-answers/long-poll.ts';
import { type CommandOperation, isPublic, type Operation, type ReadOperation, routeOf } from './operation.ts';

/**
 * Registers a route for every operation. Checks run in this order: credential, permission, input, target, action on the
 * target, and only then the rules of the operation itself.
 */
export function registerOperations(app: FastifyInstance, operations: readonly Operation[], services: Services): void {
  const uploads = new UploadLimit(maxUploads);
  for (const operation of operations) {
    const { method, path } = routeOf(operation);
    const toInvocation = (request: FastifyRequest): Invocation => {
      const { principal, found, params, query, body } = request as FastifyRequest & OperationInput;
      return { operation, operations, services, request, principal, found, input: { params, query, body } };
    };
    app.route({
      ...routeOptions(operation),
      ...(joinableTargetOf(operation) ? identifyingWithTarget(toInvocation) : identifyingFirst(toInvocation, uploads)),
      method,
      url: path,
      preValidation: async (request) => {
        const { body } = request;
        request.sentBody = Buffer.isBuffer(body) ? { sha256: await digestInThread(body) } : body;
      },
      handler: (request, reply) => handle(toInvocation(request), reply),
    });
  }
  refuseMethodsOfOtherPaths(app, operations);
}

/**
 * Answers 405 where a path such as `/runs/statistics` lacks a method that `/runs/:id` has. Otherwise, the router would take a DELETE of the
 * statistics for the deletion of a run with that name.
 */
function refuseMethodsOfOtherPaths(app: FastifyInstance, operations: readonly Operation[]): void {
  const routes = operations.map((operation) => {
    const { method, path } = routeOf(operation);
    return { method, path, pattern: toPattern(path) };
  });
  for (const exact of new Set(routes.map(({ path }) => path).filter((path) => !path.includes(':')))) {
    const own = routes.filter(({ path }) => path === exact).map(({ method }) => method);
    const others = routes
      .filter(({ path, pattern }) => path !== exact && pattern.test(exact))
      .map(({ method }) => method);
    for (const method of new Set(others.filter((each) => !own.includes(each)))) {
      const refuse = async (_request: FastifyRequest, reply: FastifyReply) => reply.callNotFound();
      app.route({ method, url: exact, config: { refusesMethod: true }, onRequest: refuse, handler: refuse });
    }
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);
}

type ToInvocation = (request: FastifyRequest) => Invocation;

/** The caller is authenticated and its permission checked before the body is read; for a large one, the target in the path too. */
function identifyingFirst(toInvocation: ToInvocation, uploads: UploadLimit): RouteShorthandOptions {
  return {
    onRequest: async (request, reply) => {
      await identifyCaller(toInvocation(request), reply);
      await authorizeOperation(toInvocation(request));
      const invocation = toInvocation(request);
      if (invocation.operation.exactBodyLimit !== undefined) await admitUpload(invocation, uploads, reply);
    },
  };
}

/**
 * Reads the caller together with the target, which only the parsed input names. If the input cannot be parsed, reads the caller alone, and
 * refuses a caller without authority before it says what is wrong with the input.
 */
function identifyingWithTarget(toInvocation: ToInvocation): RouteShorthandOptions {
  const identified = new WeakSet<FastifyRequest>();
  const identifyOnce = async (request: FastifyRequest, reply: FastifyReply, isParsed: boolean) => {
    if (identified.has(request)) return;
    identified.add(request);
    await identifyCaller(toInvocation(request), reply, isParsed);
    await authorizeOperation(toInvocation(request));
  };
  return {
    onRequest: async (request) => {
      request.principal = anonymous;
    },
    preHandler: (request, reply) => identifyOnce(request, reply, true),
    errorHandler: async (error, request, reply) => {
      await identifyOnce(request, reply, false);
      throw error;
    },
  };
}

/** Authenticates the caller and counts the request: by principal, or by address if the caller is not authenticated. */
async function identifyCaller(invocation: Invocation, reply: FastifyReply, targetIsKnown = false): Promise<void> {
  const { operation, request } = invocation;
  request.principal = anonymous;
  request.found = undefined;
  try {
    if (isPublic(operation.access)) return;
    const { principal, found } = await identify(invocation, targetIsKnown);
    request.principal = principal;
    request.found = found;
  } finally {
    await request.server.countRequest(request, reply);
  }
}

function routeOptions(operation: Operation): RouteShorthandOptions {
  const { params, query, body, exactBodyLimit, responses, adaptErrorAnswer } = operation;
  return {
    config: { operation, exactBody: exactBodyLimit !== undefined, ...(adaptErrorAnswer && { adaptErrorAnswer }) },
    ...(exactBodyLimit !== undefined && { bodyLimit: exactBodyLimit, preParsing: keepPace }),
    schema: {
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      response: responses,
    },
  };
}

/** A large body must arrive at a steady pace. */
async function keepPace(_request: FastifyRequest, _reply: FastifyReply, body: RequestPayload): Promise<RequestPayload> {
  return requirePace(body);
}

function handle(invocation: Invocation, reply: FastifyReply): Promise<unknown> {
  return invocation.operation.kind === 'read'
    ? handleRead(invocation as Invocation<ReadOperation>, reply)
    : handleCommand(invocation as Invocation<CommandOperation>, reply);
}

/** A HEAD request for an audited read is only authorized. It reads nothing, so no read is recorded. */
async function handleRead(invocation: Invocation<ReadOperation>, reply: FastifyReply): Promise<unknown> {
  const { operation, request } = invocation;
  if (request.method === 'HEAD' && operation.audit !== undefined) {
    await authorizeRead(invocation);
    return reply.type(mediaTypesOf(operation)[0] ?? '').send();
  }
  const current = await waitForChange(invocation, reply);
  const answer = await invokeRead(current, commandKey(operation, request));
  if (answer instanceof RawAnswer) {
    cutOffWithoutAccess(current, reply);
    return answer.send(request, reply);
  }
  return send(reply.status(successStatus(operation)), answer);
}

function send(reply: FastifyReply, answer: unknown): FastifyReply {
  const tag = entityTagOf(answer);
  if (tag !== undefined) reply.header('etag', tag);
  return reply.send(answer);
}

async function handleCommand(invocation: Invocation<CommandOperation>, reply: FastifyReply): Promise<unknown> {
  const { operation, request } = invocation;
  const key = commandKey(operation, request);
  if (key !== null) reply.header('idempotency-key', key);
  const body = withExpectedRevision(operation, request.headers, invocation.input.body);
  const expecting = { ...invocation, input: { ...invocation.input, body } };
  const result = await invokeCommand(expecting, key, request.sentBody);
  const { status, location, body: answer } = await answerCommand(expecting, result, reply);
  if (location) reply.header('location', location);
  return send(reply.status(status), answer);
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    found: FoundTarget | undefined;
    /** The body before defaults are filled in, or the digest of its exact bytes. An idempotency key is bound to it. */
    sentBody: unknown;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}
