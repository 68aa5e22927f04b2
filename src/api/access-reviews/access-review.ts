import { isDependencyUnavailable } from '#api/edge/errors/unavailability.ts';
import {
  type AccessDecision,
  answersNotFound,
  decideOperation,
  decideTarget,
  describeDenial,
  explainClosed,
  type ProtectedOperation,
} from '#api/pipeline/access/authorization.ts';
import type { Catalogue, CatalogueEntry } from '#api/pipeline/catalogue.ts';
import type { FoundTarget } from '#api/pipeline/invocation/invocation.ts';
import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { AuthorizationUnavailable, type Principal } from '#domain/shared/access/principal.ts';
import { Invalid, ServiceError, Unauthenticated } from '#domain/shared/errors.ts';
import { findTeamById } from '#domain/teams/store.ts';

/** The question of an access review: whether the caller may do `verb` to `resource`. */
export interface ResourceAttributes {
  readonly resource: string;
  readonly verb: string;
  readonly name?: string | undefined;
  readonly team_id?: string | undefined;
}

export interface Detail<Code extends string> {
  readonly code: Code;
  readonly message: string;
}

export const reasonCodes = [
  'allowed',
  'permission_denied',
  'resource_not_found_or_denied',
  'principal_not_supported',
] as const;
export const evaluationErrorCodes = ['resolver_unavailable', 'authorization_unavailable', 'evaluation_failed'] as const;

/** Allowed, denied, or undecided because of an error: then neither is true. */
export type Verdict =
  | { readonly allowed: boolean; readonly denied: boolean; readonly reason: Detail<(typeof reasonCodes)[number]> }
  | {
      readonly allowed: false;
      readonly denied: false;
      readonly evaluation_error: Detail<(typeof evaluationErrorCodes)[number]>;
    };

export interface ReviewContext {
  readonly catalogue: Catalogue;
  readonly principal: Principal;
  readonly em: Em;
  /** What the question names, if it was read at the same moment as `principal`. */
  readonly found: FoundTarget | undefined;
  /** Reads the caller again. @throws Unauthenticated, AuthorizationUnavailable */
  readonly readCaller: () => Promise<Principal>;
  /** Called with unexpected errors. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Decides whether a principal may do something, with the same functions that decide when they do it. It uses the authority that the caller
 * has when the target is found. It does not consider the state of the resource and reserves nothing: the operation decides again.
 * (specification, *POST /api/v1/auth/can-i*)
 * @throws Invalid for a malformed question; Unauthenticated if the credential has become invalid meanwhile
 */
export async function reviewAccess(context: ReviewContext, question: ResourceAttributes): Promise<Verdict> {
  const { catalogue, principal, onFailure } = context;
  if (principal.kind !== 'user' && principal.kind !== 'service_account') return unsupported;
  const entry = catalogue.find(question.resource, question.verb);
  refuseMalformed(entry, question);
  const permission = decideOperation(entry.operation, principal);
  if (!permission.decision.allowed)
    return answersNotFound(permission) ? notFound : toVerdict(entry.operation, permission);
  try {
    const target = await findTarget(context, entry, question);
    const caller = context.found ? principal : await context.readCaller();
    const decided = decideTarget(entry.operation, caller, target);
    if (isHidden(decided)) return notFound;
    const closed = decided.decision.allowed ? explainClosed(entry.operation, caller) : null;
    return closed === null ? toVerdict(entry.operation, decided) : denied('permission_denied', closed);
  } catch (error) {
    if (error instanceof Unauthenticated) throw error;
    return indeterminate(error, onFailure);
  }
}

/** Refuses a question that lacks a required member, or has one that is not allowed. */
function refuseMalformed({ isNamed, team }: CatalogueEntry, question: ResourceAttributes): void {
  const { resource, verb, name, team_id: teamId } = question;
  const what = `${resource} ${verb}`;
  if (isNamed && name === undefined) throw new Invalid(`name: ${what} needs a name`);
  if (!isNamed && name !== undefined) throw new Invalid(`name: ${what} is about the collection: leave the name out`);
  if (team === 'refused' && teamId !== undefined) throw new Invalid(`team_id: ${what} takes no team: leave it out`);
  if (team === 'required' && teamId === undefined) throw new Invalid(`team_id: ${what} needs the id of a team`);
}

/**
 * The owner of the operation's target. Undefined if the target does not exist, or belongs to another team than the question names. Null if
 * the operation has no target.
 */
async function findTarget(
  context: ReviewContext,
  entry: CatalogueEntry,
  question: ResourceAttributes,
): Promise<Ownership | null | undefined> {
  const find = entry.isNamed ? findNamed : findCollection;
  const { found } = context;
  const target = found ? (found.row as Ownership | undefined) : await find(context, entry, question);
  const isElsewhere = target && entry.team !== 'refused' && target.teamId !== (question.team_id ?? null);
  return isElsewhere ? undefined : target;
}

/** Finds the target by name, with the operation's own resolver, or with the one that its declaration has for reviews. */
async function findNamed(
  { em, principal }: ReviewContext,
  { operation, review: { only, target }, parameter }: CatalogueEntry,
  question: ResourceAttributes,
): Promise<Ownership | null | undefined> {
  if (!parameter) return question.name === only ? null : undefined;
  const name = parameter.schema.safeParse(question.name);
  if (!name.success) return undefined;
  if (target) return target(em, name.data as string);
  if (!operation.target) return null;
  const params = { [parameter.name]: name.data };
  return operation.target({ em, params, query: {}, body: {}, callerId: principal.id, lock: false });
}

/** The owner of a collection: the named team. Without a team, it is the owner of the installation's or of the caller's collection. */
async function findCollection(
  { em, principal }: ReviewContext,
  { team }: CatalogueEntry,
  { team_id: teamId }: ResourceAttributes,
): Promise<Ownership | null | undefined> {
  if (team === 'refused') return null;
  return teamId === undefined ? { ...installationOwnership, ownerUserId: principal.id } : findTeamById(em, teamId);
}

const unsupported: Verdict = denied(
  'principal_not_supported',
  'only the access of users and service accounts is reviewed',
);
const notFound: Verdict = denied(
  'resource_not_found_or_denied',
  'there is no such resource, or you may not know of it',
);

function denied(code: Exclude<(typeof reasonCodes)[number], 'allowed'>, message: string): Verdict {
  return { allowed: false, denied: true, reason: { code, message } };
}

/**
 * Whether a refusal must look like that of a missing target. An operation that answers 403 for a missing target gives this answer for every
 * refusal.
 */
function isHidden(decided: AccessDecision): boolean {
  return answersNotFound(decided) || (!decided.decision.allowed && decided.access.hidden === 'forbidden');
}

function toVerdict(operation: ProtectedOperation, { decision, access }: AccessDecision): Verdict {
  if (decision.allowed) return { allowed: true, denied: false, reason: { code: 'allowed', message: 'allowed' } };
  return denied('permission_denied', describeDenial(operation, decision, access));
}

function indeterminate(error: unknown, onFailure: (error: unknown) => void): Verdict {
  const failed = (code: (typeof evaluationErrorCodes)[number], message: string): Verdict => ({
    allowed: false,
    denied: false,
    evaluation_error: { code, message },
  });
  if (error instanceof AuthorizationUnavailable) return failed('authorization_unavailable', error.message);
  const isAway = error instanceof ServiceError ? error.kind === 'unavailable' : isDependencyUnavailable(error);
  if (isAway) return failed('resolver_unavailable', 'the resource could not be looked up: try again');
  onFailure(error);
  return failed('evaluation_failed', 'the access review failed');
}
