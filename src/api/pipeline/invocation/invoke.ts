import type { FastifyReply } from 'fastify';
import { setSessionCookie } from '#api/edge/cookies.ts';
import { linkOrigin } from '#api/edge/same-origin.ts';
import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { type Command, type CommandResult, findReceipt, runCommand } from '#domain/shared/commands/command.ts';
import { ServiceError, unknownOutcome } from '#domain/shared/errors.ts';
import {
  type AccessDecision,
  decideOperation,
  decideTarget,
  forCaller,
  isProtected,
  refuseClosedArea,
  toDenial,
} from '../access/authorization.ts';
import type { CommandAnswer, Responses } from '../answers/answer-types.ts';
import { giveCursor, takeCursor } from '../answers/list-cursors.ts';
import type { RawAnswer } from '../answers/raw-answer.ts';
import { findReadOf, type ReceiptAnswer, toReceiptAnswer } from '../answers/receipt-answer.ts';
import { auditingRefusals, auditRead, requestFacts, withAuditTarget } from '../audit/auditing.ts';
import type { Call, RequestMetadata } from '../call.ts';
import { demandedRevision } from '../headers/if-match.ts';
import { negotiateMediaType } from '../headers/media-types.ts';
import { joinableTargetOf } from '../joinable-target.ts';
import { type CommandOperation, type Erased, isPublic, type Operation, type ReadOperation } from '../operation.ts';
import { inTurnIfCostly } from './costly-reads.ts';
import type { Invocation } from './invocation.ts';
import { toCommand } from './to-command.ts';

/**
 * Checks that the caller may use the operation at all, on any target.
 * @throws Forbidden; for an operation with a credential of its own, what its check throws
 */
export function authorizeOperation(invocation: Invocation): Promise<void> {
  return auditingRefusals(invocation, async () => {
    const { principal, input } = invocation;
    const operation = forCaller(invocation.operation, principal, input.params);
    if (!isProtected(operation)) return verifyOwnCredential(invocation);
    const denial = toDenial(operation, decideOperation(operation, principal));
    // The denial depends on no target. Only its record names the owners.
    if (denial) await withAuditTarget(await findTargetInPath(invocation), () => Promise.reject(denial));
  });
}

/** Decides whether the caller may use the operation at all. @throws Forbidden, HiddenResource */
export function requirePermission({ operation, principal }: Invocation): void {
  if (isProtected(operation)) refuseUnlessAllowed(operation, decideOperation(operation, principal));
}

async function verifyOwnCredential(invocation: Invocation): Promise<void> {
  const { operation, request, services } = invocation;
  const { access } = operation;
  if (!('verifyCredential' in access)) return;
  const verify = async () => access.verifyCredential(metadataOf(invocation), services);
  await request.server.limitGuesses(request, access.guessedAs, verify);
}

/** Counts the attempt if the command takes a secret. @throws HttpProblem (429) after too many wrong attempts */
function limitingGuesses<Result>(
  { operation, request, input, principal }: Invocation<CommandOperation>,
  attempt: () => Promise<Result>,
): Promise<Result> {
  if (!operation.limitGuesses) return attempt();
  const account = operation.limitGuesses({ body: input.body, principal });
  return request.server.limitGuesses(request, account, attempt);
}

/** The result of a command, and how it is answered. */
export type InvokedCommand = CommandResult<CommandAnswer<unknown>, ReceiptAnswer>;

/** Runs a read operation. The answer is not encoded yet. */
export function invokeRead<Answer>(
  invocation: Invocation<ReadOperation<Responses, Erased, Answer>>,
  key: string | null = null,
): Promise<Answer | RawAnswer> {
  const { operation, services } = invocation;
  return auditingRefusals(invocation, async () => {
    return inTurnIfCostly(invocation, async () => {
      const call = await authorizeCall(invocation, services.orm.em.fork());
      const query = takeCursor(operation, call.query);
      const answer = await withAuditTarget(call.target, () => operation.handle({ ...call, query, key: key ?? '' }));
      if (operation.audit !== undefined) await auditRead(invocation, operation.audit, call.target);
      return giveCursor(operation, answer);
    });
  });
}

/** Decides whether the caller may read the target, and reads nothing else. */
export function authorizeRead(invocation: Invocation<ReadOperation>): Promise<AuthorizedCall> {
  return auditingRefusals(invocation, () => authorizeCall(invocation, invocation.services.orm.em.fork()));
}

/**
 * Runs a command in one transaction, after its slow preparation. The key is bound to `sentBody`, the body before
 * defaults, and to what the request means. A repeated command is answered from its receipt, even if its preparation would fail now.
 */
export function invokeCommand(
  invocation: Invocation<CommandOperation>,
  key: string | null,
  sentBody: unknown,
): Promise<InvokedCommand> {
  const run = async () => prepareAndRun(invocation, await toCommand(invocation, key, sentBody));
  return auditingRefusals(invocation, () => limitingGuesses(invocation, run));
}

async function prepareAndRun(invocation: Invocation<CommandOperation>, command: Command): Promise<InvokedCommand> {
  const { operation, services, input } = invocation;
  const { bindingKey } = services.installation;
  let prepared: unknown;
  try {
    prepared = await prepare(invocation, command);
  } catch (error) {
    // An unknown outcome must be reported as unknown, even if the receipt cannot be read either.
    const isUnknown = error instanceof ServiceError && error.details?.outcome === 'unknown';
    const receipt = await findReceipt<ReceiptAnswer>(services.orm.em.fork(), bindingKey, command).catch((cause) => {
      throw isUnknown ? error : cause;
    });
    if (receipt) return { receipt, replayed: true };
    throw error;
  }
  const running = runCommand(services.transactions, bindingKey, command, {
    find: (tx) => findTarget(invocation, tx.em),
    act: (tx, caller, target) =>
      withAuditTarget(target, () => {
        const call = authorizeTarget({ ...invocation, principal: caller }, tx.em, target);
        const expectedRevision = demandedRevision(operation, invocation.request.headers);
        return operation.handle({ ...call, tx, key: command.key, prepared, expectedRevision });
      }),
    answer: (result, target) => toReceiptAnswer(operation, result, { ...input, target }),
  });
  return operation.isCarriedOutByPreparation ? running.catch(failAfterCommit) : running;
}

/**
 * Builds the answer of a command. A repeat has the status and address of the first answer, and the body that a read shows
 * now. The first answer also sets or clears the session cookie.
 */
export async function answerCommand(
  invocation: Invocation<CommandOperation>,
  result: InvokedCommand,
  reply: FastifyReply,
): Promise<{ status: number; location: string | null; body: unknown }> {
  const { operation, principal, input, services } = invocation;
  const kept = result.receipt.answer;
  if (!kept) throw new Error(`the receipt of ${operation.id} does not say how to answer it`);
  const { status, location } = kept;
  const body = status === 204 ? undefined : await bodyOf(invocation, result, kept);
  const session = result.replayed ? undefined : operation.sessionCookie?.(body, { params: input.params, principal });
  if (session !== undefined) setSessionCookie(reply, services.config, session);
  return { status, location, body };
}

/** The body of the first answer is what the handler returned. A repetition gets what the read operation shows now. */
async function bodyOf(
  invocation: Invocation<CommandOperation>,
  result: InvokedCommand,
  kept: ReceiptAnswer,
): Promise<unknown> {
  if (invocation.operation.answersReceipt) return viewReceipt(result.receipt, kept);
  if (!result.replayed && result.change.answer !== undefined) return result.change.answer;
  const read = findReadOf(invocation.operations, kept);
  if (!read) return {};
  const reading = invokeRead({ ...invocation, ...read });
  return result.replayed ? reading : reading.catch(failAfterCommit);
}

function viewReceipt({ resourceId, revision, auditRecordId }: InvokedCommand['receipt'], { members }: ReceiptAnswer) {
  return { id: resourceId, revision, ...members, audit_record_id: auditRecordId };
}

/** The command was committed but cannot be shown. The client must not conclude that it was undone. */
function failAfterCommit(error: unknown): never {
  if (error instanceof ServiceError && error.kind !== 'unavailable') throw error;
  throw unknownOutcome('the command was carried out, but its result could not be read', { cause: error });
}

/** The principal that an operation runs as. A public operation runs as anonymous even for an authenticated caller. */
export function effectivePrincipal(operation: Operation, principal: Principal): Principal {
  return isPublic(operation.access) ? anonymous : principal;
}

/**
 * Does the slow work only for an authorized caller. The transaction decides again. A caller who was refused a moment ago is always authorized
 * before the transaction locks anything, so that strangers who keep trying do not block the rows of others.
 */
async function prepare(invocation: Invocation<CommandOperation>, command: Command): Promise<unknown> {
  const { operation, services, principal } = invocation;
  if (!operation.prepare && !services.refusals.hasRefused(principal)) return undefined;
  const call = await authorizeCall(invocation, services.orm.em.fork());
  return withAuditTarget(call.target, () => operation.prepare?.(call, command));
}

/** The operation's own schemas have parsed the input, and its own resolver has found the target. */
type AuthorizedCall = Call<Erased, Erased, Erased, Erased, Operation>;

/** Finds the target and decides about it; returns what the handler needs. @throws Forbidden, HiddenResource */
export async function authorizeCall(invocation: Invocation, em: Em): Promise<AuthorizedCall> {
  const target = await findTarget(invocation, em);
  return withAuditTarget(target, () => authorizeTarget(invocation, em, target));
}

/** Inside a command's transaction, the target's rows are locked until the transaction ends. */
async function findTarget(invocation: Invocation, em: Em): Promise<Ownership | null | undefined> {
  const { operation, input, principal, found } = invocation;
  const lookup = { em, ...input, callerId: principal.id, lock: em.isInTransaction() };
  if (found) return joinableTargetOf(operation)?.fromRow(found.row, lookup);
  return operation.target ? operation.target(lookup) : null;
}

/** Finds the target by what the path names, before the body is read. Undefined if the path is malformed, or names no target. */
async function findTargetInPath({ operation, input, principal, services }: Invocation): Promise<Ownership | undefined> {
  const { target, params: schema } = operation;
  const params = schema?.safeParse(input.params);
  if (!target || !params?.success) return undefined;
  const em = services.orm.em.fork();
  return target({ em, params: params.data, query: {}, body: {}, callerId: principal.id, lock: false });
}

/** Inside a command, the principal is the one that the transaction has read and locked. @throws Forbidden, HiddenResource */
function authorizeTarget(invocation: Invocation, em: Em, found: Ownership | null | undefined): AuthorizedCall {
  const { operation, operations, services, principal, input } = invocation;
  const called = forCaller(operation, principal, input.params);
  if (isProtected(called)) refuseUnlessAllowed(called, decideTarget(called, principal, found));
  refuseClosedArea(operation, principal);
  const target = found ?? undefined;
  return {
    em,
    principal,
    ...input,
    target,
    services,
    operations,
    request: metadataOf(invocation),
  };
}

function refuseUnlessAllowed(operation: Operation, decision: AccessDecision): void {
  const denial = toDenial(operation, decision);
  if (denial) throw denial;
}

/**
 * What the client accepts is a media type of the operation, or of the page that invokes it: a page reads JSON and answers HTML.
 * @throws HttpProblem (406) if the client accepts none of the operation's media types
 */
function metadataOf({ operation, request, services, accept }: Invocation): RequestMetadata {
  const socketAddress = request.socket.remoteAddress ?? null;
  const { headers } = request;
  const isPage = request.routeOptions.config.page === true;
  const mediaType = negotiateMediaType(operation, isPage ? accept : headers.accept);
  const origin = linkOrigin(request, services.config.baseUrl);
  return { ...requestFacts(request), headers, mediaType, linkOrigin: origin, socketAddress };
}
