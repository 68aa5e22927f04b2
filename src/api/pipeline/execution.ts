import type { FastifyRequest } from 'fastify';
import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { type Command, type CommandResult, findReceipt, runCommand } from '#domain/shared/commands/command.ts';
import { Forbidden, ServiceError, Unavailable } from '#domain/shared/errors.ts';
import type { CommandAnswer } from './answer-types.ts';
import { type KeptAnswer, keepAnswer, repeatedBy } from './answering.ts';
import type { Asking, Parts } from './asking.ts';
import { aboutTarget, auditedAction, Hidden, recordingRefusals, recordRead, requestFacts } from './auditing.ts';
import { type Decided, decideAdmission, decideTarget, describeRefusal, type Guarded } from './authorization.ts';
import {
  type Call,
  type CommandOperation,
  type Erased,
  isPublic,
  type Operation,
  type ReadOperation,
  type Sender,
} from './operation.ts';

/** Whether the principal may ask such a thing at all, whatever the target is. @throws Forbidden */
export function admit(asking: Asking): Promise<void> {
  return recordingRefusals(asking, async () => {
    const { operation, principal } = asking;
    if (!isGuarded(operation)) return passGuard(asking);
    refuseUnlessAllowed(operation, decideAdmission(operation, principal));
  });
}

async function passGuard(asking: Asking): Promise<void> {
  const { guard } = asking.operation;
  if (guard) await limitingGuesses(asking, async () => guard(senderFacts(asking.request), asking.services));
}

/** Counts the attempt where the operation says that it may be a guess. @throws HttpProblem (429) where too many were wrong */
function limitingGuesses<Result>(asking: Asking, attempt: () => Promise<Result>): Promise<Result> {
  const { operation, request, parts, principal } = asking;
  const limit = operation.kind === 'command' ? operation.limitGuesses : undefined;
  if (!limit) return attempt();
  return request.server.limitGuesses(request, limit({ body: parts.body, principal }), attempt);
}

/** What a command came to, and how it is answered. */
export type Performed = CommandResult<CommandAnswer<unknown>, KeptAnswer>;

/** Runs a read operation; answers what its handler said, not yet encoded. */
export function executeRead(asking: Asking<ReadOperation>, key: string | null = null): Promise<unknown> {
  const { operation, services } = asking;
  return recordingRefusals(asking, async () => {
    const call = await openCall(asking, services.orm.em.fork());
    const answer = await aboutTarget(call.target, () => operation.handle({ ...call, key: key ?? '' }));
    if (operation.audit !== undefined) await recordRead(asking, operation.audit, call.target);
    return answer;
  });
}

/**
 * Runs a command in the one command transaction, its slow preparation before it. `sentBody` is the body before defaults,
 * which the key is bound to. A repeat is answered by its receipt, even where its preparation would fail today.
 */
export function executeCommand(
  asking: Asking<CommandOperation>,
  key: string | null,
  sentBody: unknown,
): Promise<Performed> {
  return recordingRefusals(asking, () => {
    const run = () => runOnce(asking, toCommand(asking, key, sentBody));
    return asking.operation.guard ? run() : limitingGuesses(asking, run);
  });
}

async function runOnce(asking: Asking<CommandOperation>, input: Command): Promise<Performed> {
  const { operation, services, parts } = asking;
  const { bindingKey } = services.installation;
  let prepared: unknown;
  try {
    prepared = await prepare(asking);
  } catch (error) {
    const receipt = await findReceipt<KeptAnswer>(services.orm.em.fork(), bindingKey, input);
    if (receipt) return { receipt, replayed: true };
    throw error;
  }
  return runCommand(services.transactions, bindingKey, input, {
    find: (tx) => findTarget(asking, tx.em),
    act: (tx, caller, target) =>
      aboutTarget(target, () => {
        const call = decideCall({ ...asking, principal: caller }, tx.em, target);
        return operation.handle({ ...call, tx, key: input.key, prepared });
      }),
    answer: (change, target) => keepAnswer(operation, change, { ...parts, target }),
  });
}

/** A command's answer: its status and address, as the first time; its body is what is read at that address today. */
export async function answerOf(
  asking: Asking<CommandOperation>,
  result: Performed,
): Promise<{ status: number; location: string | null; body: unknown }> {
  const kept = result.receipt.answer;
  if (!kept) throw new Error(`the receipt of ${asking.operation.id} does not say how to answer it`);
  const { status, location } = kept;
  return { status, location, body: status === 204 ? undefined : await bodyOf(asking, result, kept) };
}

/** The first answer shows what the command answered; a repeat shows what today's read of the same thing shows. */
async function bodyOf(asking: Asking<CommandOperation>, result: Performed, kept: KeptAnswer): Promise<unknown> {
  if (!result.replayed && result.change.answer !== undefined) return result.change.answer;
  const repeated = repeatedBy(asking.operations, kept);
  if (!repeated) return {};
  const reading = executeRead({ ...asking, ...repeated });
  return result.replayed ? reading : reading.catch(afterCommit);
}

/** What was committed stays so, also where it cannot be read any more: whoever asked must not take it for undone. */
function afterCommit(error: unknown): never {
  if (error instanceof ServiceError && error.kind !== 'unavailable') throw error;
  throw new Unavailable('it was done, but could not be read again: look at it, or ask again with the same key', {
    details: { outcome: 'unknown' },
    cause: error,
  });
}

/** As whom an operation is asked: who calls a public one is nobody, also where they are somebody. */
export function callerOf(operation: Operation, principal: Principal): Principal {
  return isPublic(operation.access) ? anonymous : principal;
}

/** Slow work is done only for a caller who could go on with it; the transaction decides again. */
async function prepare(asking: Asking<CommandOperation>): Promise<unknown> {
  const { operation, services } = asking;
  const call = await openCall(asking, services.orm.em.fork());
  return aboutTarget(call.target, () => operation.prepare?.(call));
}

function toCommand(asking: Asking<CommandOperation>, key: string | null, sentBody: unknown): Command {
  const { operation, principal, parts, request } = asking;
  return {
    key,
    caller: principal,
    operation: operation.id,
    audit: auditedAction(operation),
    target: parts.params as Record<string, string>,
    input: sentBody,
    locks: locksOf(operation, principal, parts),
    request: requestFacts(request),
  };
}

function locksOf({ locks = [] }: CommandOperation, principal: Principal, { params }: Parts): readonly string[] {
  return typeof locks === 'function' ? locks({ params, principal }) : locks;
}

/** The parts have been parsed by the operation's own schemas, and the target found by its own resolver. */
type OpenCall = Call<Erased, Erased, Erased, Erased>;

/** Finds the target and decides; answers what the handler needs. @throws Forbidden, NotFound */
export async function openCall(asking: Asking, em: Em): Promise<OpenCall> {
  const target = await findTarget(asking, em);
  return aboutTarget(target, () => decideCall(asking, em, target));
}

/** Inside a command's transaction the target's rows are locked until its end. */
async function findTarget({ operation, parts, principal }: Asking, em: Em): Promise<Ownership | null | undefined> {
  const lock = em.isInTransaction();
  return operation.target ? operation.target({ em, ...parts, callerId: principal.id, lock }) : null;
}

/** Inside a command the principal is the one that the transaction has locked. @throws Forbidden, NotFound */
function decideCall(asking: Asking, em: Em, found: Ownership | null | undefined): OpenCall {
  const { operation, operations, services, request, principal, parts } = asking;
  if (isGuarded(operation)) refuseUnlessAllowed(operation, decideTarget(operation, principal, found));
  const target = found ?? undefined;
  return { em, principal, ...parts, target, services, operations, request: senderFacts(request) };
}

function refuseUnlessAllowed(operation: Operation, { decision, access }: Decided): void {
  if (decision.allowed) return;
  const { targetName = 'the resource' } = operation;
  if (decision.because === 'hidden' && access.hidden === 'not_found') throw new Hidden(targetName);
  throw new Forbidden(describeRefusal(operation, decision, access));
}

function isGuarded(operation: Operation): operation is Operation & Guarded {
  return !isPublic(operation.access);
}

function senderFacts(request: FastifyRequest): Sender {
  const socketAddress = request.socket.remoteAddress ?? null;
  return { ...requestFacts(request), headers: request.headers, socketAddress };
}
