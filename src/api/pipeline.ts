import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { type Decision, decide, decidePermission, type Ownership } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { type Command, type CommandResult, findReceipt, type Outcome, runCommand } from '#domain/shared/command.ts';
import type { Em } from '#domain/shared/database.ts';
import { Forbidden, NotFound, type ServiceError } from '#domain/shared/errors.ts';
import { authenticate } from './authentication.ts';
import { setSessionCookie } from './cookies.ts';
import { commandKey } from './idempotency.ts';
import { matchLocation } from './location.ts';
import {
  type Call,
  type CommandOperation,
  type Erased,
  isPublic,
  type Operation,
  type ReadOperation,
  routeOf,
} from './operation.ts';
import { RawAnswer } from './raw-answer.ts';
import type { Services } from './services.ts';

/**
 * Makes a route of every operation. The order of answers is that of access.md in the design: credential, permission,
 * input, target, action, and only then what the operation itself has to say.
 */
export function registerOperations(app: FastifyInstance, operations: readonly Operation[], services: Services): void {
  for (const operation of operations) {
    const { method, path } = routeOf(operation);
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      answer({ operation, operations, services, request, reply });
    app.route({
      ...routeOptions(operation),
      method,
      url: path,
      onRequest: (request) => admit(operation, services, request),
      preValidation: async (request) => {
        request.sentBody = request.body;
      },
      handler,
    });
  }
}

function routeOptions(operation: Operation): RouteShorthandOptions {
  const { id, summary, description, params, query, body, responses } = operation;
  return {
    config: { operation },
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

/** Who asks, and whether they may ask such a thing at all: decided before the body is even read. */
async function admit(operation: Operation, services: Services, request: FastifyRequest): Promise<void> {
  request.principal = isPublic(operation.access) ? anonymous : await authenticate(services, request);
  if (isPublic(operation.access)) return;
  const decision = decidePermission(request.principal, operation.access);
  if (!decision.allowed) throw await refused(operation, services, request, decision);
}

interface Exchange<O extends Operation = Operation> {
  operation: O;
  operations: readonly Operation[];
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
}

function answer(exchange: Exchange): Promise<unknown> {
  return exchange.operation.kind === 'read'
    ? answerRead(exchange as Exchange<ReadOperation>)
    : answerCommand(exchange as Exchange<CommandOperation>);
}

async function answerRead({ operation, services, request, reply }: Exchange<ReadOperation>): Promise<unknown> {
  const em = services.orm.em.fork();
  const call = await openCall(operation, services, request, em);
  const result = await operation.handle(call);
  if (result instanceof RawAnswer) return result.send(request, reply);
  return reply.status(successStatus(operation)).send(result);
}

async function answerCommand(exchange: Exchange<CommandOperation>): Promise<unknown> {
  const { operation, services, request, reply } = exchange;
  const key = commandKey(operation, request);
  if (key !== null) reply.header('idempotency-key', key);
  const result = await run(exchange, toCommand(operation, request, key));
  const { receipt } = result;
  if (receipt.location) reply.header('location', receipt.location);
  reply.status(receipt.status);
  const body = receipt.status === 204 ? undefined : await bodyOf(exchange, result);
  if (!result.replayed && operation.sessionCookie)
    setSessionCookie(reply, services.config, operation.sessionCookie(body));
  return reply.send(body);
}

/** A repeat is answered by its receipt, even where its preparation would fail today. */
async function run(exchange: Exchange<CommandOperation>, input: Command): Promise<CommandResult> {
  const { operation, services } = exchange;
  let prepared: unknown;
  try {
    prepared = await prepare(exchange);
  } catch (error) {
    const receipt = await findReceipt(services.orm.em.fork(), services.installation.bindingKey, input);
    if (receipt) return { receipt, replayed: true };
    throw error;
  }
  return runCommand(
    services.transactions,
    services.installation.bindingKey,
    input,
    async (tx, caller): Promise<Outcome> => {
      const call = await openCall(operation, services, exchange.request, tx.em, caller);
      return operation.handle({ ...call, tx, key: input.key, prepared });
    },
  );
}

/** Slow work is done only for a caller who could go on with it; the transaction decides again. */
async function prepare({ operation, services, request }: Exchange<CommandOperation>): Promise<unknown> {
  const { prepare: work, limitGuesses } = operation;
  if (!work) return undefined;
  const attempt = async () => work(await openCall(operation, services, request, services.orm.em.fork()));
  return limitGuesses ? request.server.limitSignIn(request, limitGuesses(request.body), attempt) : attempt();
}

function toCommand(operation: CommandOperation, request: FastifyRequest, key: string | null): Command {
  return {
    key,
    caller: request.principal,
    operation: operation.id,
    target: request.params as Record<string, string>,
    input: request.sentBody,
    locks: operation.locks ?? [],
    request: requestFacts(request),
  };
}

/** The first answer says what the command said; a repeat says what today's read of the same thing says. */
async function bodyOf({ operations, services, request }: Exchange, result: CommandResult): Promise<unknown> {
  if (!result.replayed && result.body !== undefined) return result.body;
  const { location } = result.receipt;
  const match = location === null ? undefined : matchLocation(operations, location);
  if (!match) return {};
  const em = services.orm.em.fork();
  const parts: Parts = { params: match.params, query: {}, body: undefined };
  return match.operation.handle(await openCall(match.operation, services, request, em, request.principal, parts));
}

/** The parts have been parsed by the operation's own schemas, and the target found by its own resolver. */
type OpenCall = Call<Erased, Erased, Erased, Erased>;

interface Parts {
  params: Erased;
  query: Erased;
  body: Erased;
}

/**
 * Finds the target and decides; answers what the handler needs. Inside a command the caller is the one that the
 * transaction has locked, and the target's rows are locked too.
 */
async function openCall(
  operation: Operation,
  services: Services,
  request: FastifyRequest,
  em: Em,
  locked?: Principal,
  { params, query, body }: Parts = request as Parts,
): Promise<OpenCall> {
  const principal = locked ?? request.principal;
  const lock = em.isInTransaction();
  const target = await operation.target?.({ em, params, query, body, lock });
  if (!isPublic(operation.access)) {
    const decision = decideTarget(principal, operation, target);
    if (!decision.allowed) throw await refused(operation, services, request, decision);
  }
  const socketAddress = request.socket.remoteAddress ?? null;
  const facts = { ...requestFacts(request), headers: request.headers, socketAddress };
  return { em, principal, params, query, body, target, services, request: facts };
}

function decideTarget(principal: Principal, operation: Operation, target: Ownership | undefined): Decision {
  if (isPublic(operation.access)) return { allowed: true };
  if (operation.target && !target) return { allowed: false, because: 'hidden' };
  return decide(principal, operation.access, target ?? { organizationId: null, teamId: null });
}

/** Makes the answer of a refusal, and its row in the audit. */
async function refused(
  operation: Operation,
  services: Services,
  request: FastifyRequest,
  decision: Exclude<Decision, { allowed: true }>,
): Promise<ServiceError> {
  const action = operation.kind === 'command' ? operation.audit : operation.id;
  const id = Object.values((request.params ?? {}) as Record<string, string>)[0] ?? null;
  const entry = { action, resource: { type: operation.id.split('.')[0]!, id }, after: { refused: decision.because } };
  await services.refusals.record(services.orm.em.fork(), request.principal, entry, requestFacts(request));
  if (decision.because === 'hidden' && !isPublic(operation.access) && operation.access.hidden === 404) {
    return new NotFound(operation.targetName ?? 'the resource');
  }
  return new Forbidden(describeRefusal(operation, decision.because));
}

function describeRefusal({ access }: Operation, because: string): string {
  if (isPublic(access) || because === 'hidden') return 'permission denied';
  if (because === 'permission') return `permission denied: this needs ${access.anyOf.join(' or ')}`;
  const needed = access.teamAction ?? `the organization role ${access.organizationRole}`;
  return `permission denied: this needs ${[needed].flat().join(' and ')} on its owner`;
}

function requestFacts(request: FastifyRequest) {
  return { requestId: request.id, address: request.ip };
}

function successStatus(operation: Operation): number {
  return Number(Object.keys(operation.responses).find((status) => status.startsWith('2')) ?? 200);
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
