import type { FastifyRequest } from 'fastify';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type AuditEntry, type AuditedAction, type RequestFacts, recordAudit } from '#domain/shared/audit.ts';
import {
  Forbidden,
  HiddenReference,
  HiddenResource,
  type ServiceError,
  Unauthenticated,
  WrongSecret,
} from '#domain/shared/errors.ts';
import { CredentialMissing } from '../access/authentication.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { Operation } from '../operation.ts';
import { namedInPath, resourceIdOf, resourceTypeOf } from './audited-resource.ts';

/** The audit's action of an operation: the one it declares, or its own id if it only reads. */
export function actionOf(operation: Operation): string {
  return operation.audit ?? operation.id;
}

/** The action and the resource type of an operation's audit records. The audit's catalogue is made from the same declarations. */
export function auditedAction(operation: Operation): AuditedAction {
  return { action: actionOf(operation), resourceType: resourceTypeOf(operation) };
}

/** Records a read before any of it is answered. */
export async function auditRead(invocation: Invocation, action: string, target: Ownership | undefined): Promise<void> {
  const { operation, services, principal, input, request } = invocation;
  const entry: AuditEntry = {
    action,
    resource: { type: resourceTypeOf(operation), id: resourceIdOf(invocation, target) },
    isRead: true,
    organizationId: target?.organizationId ?? null,
    teamId: target?.teamId ?? null,
    after: { ...input.params, ...input.query },
  };
  await recordAudit(services.orm.em.fork(), principal, entry, requestFacts(request));
}

/**
 * Does work and records its refusal, whether the authorization or a rule of the operation refused. The record is written
 * after the command's transaction has ended: a connection that waits for another connection can exhaust the pool.
 */
export async function auditingRefusals<T>(invocation: Invocation, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) await auditRefusal(invocation, error);
    throw error;
  }
}

/** The targets of requests that failed after their target was found. */
const targets = new WeakMap<Error, Ownership>();

/** Does work on a target, so that a refusal of it is recorded with the target's owners. */
export async function withAuditTarget<T>(target: Ownership | null | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && target) targets.set(error, target);
    throw error;
  }
}

const refusals = [Forbidden, HiddenReference, HiddenResource, Unauthenticated, WrongSecret];

function isRefusal(error: unknown): error is ServiceError {
  if (error instanceof CredentialMissing) return false;
  return refusals.some((refusal) => error instanceof refusal);
}

async function auditRefusal(invocation: Invocation, error: ServiceError): Promise<void> {
  const { operation, services, request, principal } = invocation;
  const target = targets.get(error);
  const id = resourceIdOf(invocation, target);
  const entry: AuditEntry = {
    action: actionOf(operation),
    resource: { type: resourceTypeOf(operation), id },
    isRead: operation.kind === 'read',
    organizationId: target?.organizationId ?? null,
    teamId: target?.teamId ?? null,
    after: { refused: error.message, ...(id === null && namedInPath(invocation)), ...attemptedAccount(invocation) },
  };
  await services.refusals.record(services.orm.em.fork(), principal, entry, requestFacts(request));
}

/** The account that a failed attempt was aimed at, if the body was read. The secret itself is never recorded. */
function attemptedAccount({ operation, input, principal }: Invocation): { account?: string } {
  if (operation.kind === 'read' || !operation.limitGuesses || input.body === undefined) return {};
  return { account: operation.limitGuesses({ body: input.body, principal }) };
}

export function requestFacts(request: FastifyRequest): RequestFacts {
  return { requestId: request.id, address: request.ip };
}
