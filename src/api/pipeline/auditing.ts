import type { FastifyRequest } from 'fastify';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type AuditEntry, type AuditedAction, insertAuditRecord, type RequestFacts } from '#domain/shared/audit.ts';
import { Forbidden, NotFound, type ServiceError, Unauthenticated, WrongSecret } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Asking } from './asking.ts';
import { CredentialMissing } from './authentication.ts';
import type { Operation } from './operation.ts';

/** A target that is missing, or that the caller may not know of. */
export class Hidden extends NotFound {}

/** What the audit calls an operation: by what it has done, or by its own name where it only reads. */
export function actionOf(operation: Operation): string {
  return operation.audit ?? operation.id;
}

/** What the audit calls the kind of thing that an operation is about. */
export function resourceTypeOf({ id, resource }: Operation): string {
  return resource ?? id.slice(0, id.indexOf('.'));
}

/** What the audit rows of an operation say, by its declaration, from which the catalogue is made as well. */
export function auditedAction(operation: Operation): AuditedAction {
  return { action: actionOf(operation), resourceType: resourceTypeOf(operation) };
}

/** A row by itself of what was read, before any of it is answered. */
export async function recordRead(asking: Asking, action: string, target: Ownership | undefined): Promise<void> {
  const { operation, services, principal, parts, request } = asking;
  const entry: AuditEntry = {
    ...{ action, resource: { type: resourceTypeOf(operation), id: namedId(asking) } },
    ...{ organizationId: target?.organizationId ?? null, teamId: target?.teamId ?? null },
    after: { ...parts.params, ...parts.query },
  };
  await insertAuditRecord(services.orm.em.fork(), newId(), principal, entry, requestFacts(request)).execute();
}

/**
 * Every refusal leaves a row of its own, whoever refused: the decision, or a rule of the operation. It is written when the
 * command's transaction is over, since a connection that waits for another one is how a pool locks up.
 */
export async function recordingRefusals<T>(asking: Asking, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) await recordRefusal(asking, error);
    throw error;
  }
}

/** The target of a request that failed, once the target was found. */
const targets = new WeakMap<Error, Ownership>();

/** Does work that is about a target. A refusal of it is recorded with the target's owners. */
export async function aboutTarget<T>(target: Ownership | null | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && target) targets.set(error, target);
    throw error;
  }
}

const refusals = [Forbidden, Hidden, Unauthenticated, WrongSecret];

function isRefusal(error: unknown): error is ServiceError {
  if (error instanceof CredentialMissing) return false;
  return refusals.some((refusal) => error instanceof refusal);
}

async function recordRefusal(asking: Asking, error: ServiceError): Promise<void> {
  const { operation, services, request, principal } = asking;
  const target = targets.get(error);
  const entry: AuditEntry = {
    ...{ action: actionOf(operation), resource: { type: resourceTypeOf(operation), id: namedId(asking) } },
    ...{ organizationId: target?.organizationId ?? null, teamId: target?.teamId ?? null },
    after: { refused: error.message, ...accountTried(asking) },
  };
  await services.refusals.record(services.orm.em.fork(), principal, entry, requestFacts(request));
}

/** Whom somebody tried to be, as far as they had come to say it. Never with which password. */
function accountTried({ operation, parts, principal }: Asking): { account?: string } {
  if (operation.kind === 'read' || !operation.limitGuesses || parts.body === undefined) return {};
  return { account: operation.limitGuesses({ body: parts.body, principal }) };
}

/** What the path names. Nobody may have checked it yet: what can be no id and no slug is not kept. */
function namedId({ parts }: Asking): string | null {
  const [id] = Object.values((parts.params ?? {}) as Record<string, unknown>);
  return typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) ? id : null;
}

export function requestFacts(request: FastifyRequest): RequestFacts {
  return { requestId: request.id, address: request.ip };
}
