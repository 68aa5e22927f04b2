import { isDependencyUnavailable } from '#api/edge/errors/unavailability.ts';
import {
  type AccessDecision,
  decideOperation,
  decideTarget,
  describeDenial,
  type ProtectedOperation,
} from '#api/pipeline/authorization.ts';
import type { Catalogue, CatalogueEntry } from '#api/pipeline/catalogue.ts';
import type { Em } from '#database/database.ts';
import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import { AuthorizationUnavailable, type Principal } from '#domain/shared/access/principal.ts';
import { Invalid, ServiceError } from '#domain/shared/errors.ts';
import { findTeamById } from '#domain/teams/store.ts';

/** What a review asks: whether its caller may do `verb` to `resource`. */
export interface Question {
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

/** Allowed, denied, or neither: where it cannot be told, nobody is told yes, nor no. */
export type Verdict =
  | { readonly allowed: boolean; readonly denied: boolean; readonly reason: Detail<(typeof reasonCodes)[number]> }
  | {
      readonly allowed: false;
      readonly denied: false;
      readonly evaluation_error: Detail<(typeof evaluationErrorCodes)[number]>;
    };

/** What a review works with. */
export interface Reviewing {
  readonly catalogue: Catalogue;
  readonly principal: Principal;
  readonly em: Em;
  /** Told of errors that nobody foresaw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Whether a principal may do something, by the same functions that decide when it does it. Says nothing of lifecycle, and
 * holds nothing for later: the operation decides again. (specification, *POST /api/v1/auth/can-i*)
 * @throws Invalid where the question is none that can be asked
 */
export async function review(reviewing: Reviewing, question: Question): Promise<Verdict> {
  const { catalogue, principal, onFailure } = reviewing;
  if (principal.kind !== 'user' && principal.kind !== 'service_account') return unsupported;
  const entry = catalogue.find(question.resource, question.verb);
  refuseMalformed(entry, question);
  const permission = decideOperation(entry.operation, principal);
  if (!permission.decision.allowed) return toVerdict(entry.operation, permission);
  try {
    const decided = decideTarget(entry.operation, principal, await findTarget(reviewing, entry, question));
    return isHidden(decided) ? notFound : toVerdict(entry.operation, decided);
  } catch (error) {
    return indeterminate(error, onFailure);
  }
}

/** Which members a question must have, and which it must not. */
function refuseMalformed({ review: { unscoped }, isNamed, takesTeam }: CatalogueEntry, question: Question): void {
  const { resource, verb, name, team_id: teamId } = question;
  const what = `${resource} ${verb}`;
  if (isNamed && name === undefined) throw new Invalid(`name: ${what} is reviewed by name: give one`);
  if (!isNamed && name !== undefined) throw new Invalid(`name: ${what} is about the collection: leave the name out`);
  if (!takesTeam && teamId !== undefined) throw new Invalid(`team_id: ${what} is no team's business: leave it out`);
  if (takesTeam && teamId === undefined && !unscoped)
    throw new Invalid(`team_id: ${what} is reviewed in a team: give its id`);
}

/**
 * What the operation would be about. Undefined where there is no such thing, or where it belongs to another team than the
 * question says; null where the operation is about nothing in particular.
 */
async function findTarget(
  reviewing: Reviewing,
  entry: CatalogueEntry,
  question: Question,
): Promise<Ownership | null | undefined> {
  const find = entry.isNamed ? findNamed : findCollection;
  const target = await find(reviewing, entry, question);
  const isElsewhere = target && entry.takesTeam && target.teamId !== (question.team_id ?? null);
  return isElsewhere ? undefined : target;
}

/** By the operation's own resolver, or by what its declaration says instead. A text that can be no name names nothing. */
async function findNamed(
  { em, principal }: Reviewing,
  { operation, review: { only, target }, parameter }: CatalogueEntry,
  question: Question,
): Promise<Ownership | null | undefined> {
  if (!parameter) return question.name === only ? null : undefined;
  const name = parameter.schema.safeParse(question.name);
  if (!name.success) return undefined;
  if (target) return target(em, name.data as string);
  if (!operation.target) return null;
  const params = { [parameter.name]: name.data };
  return operation.target({ em, params, query: {}, body: {}, callerId: principal.id, lock: false });
}

/** A team's collection is as its team is. Without a team it is nobody's, or what the caller would own themselves. */
async function findCollection(
  { em, principal }: Reviewing,
  { takesTeam }: CatalogueEntry,
  { team_id: teamId }: Question,
): Promise<Ownership | null | undefined> {
  if (!takesTeam) return null;
  return teamId === undefined ? { ...nobody, ownerUserId: principal.id } : findTeamById(em, teamId);
}

const unsupported: Verdict = denied('principal_not_supported', 'only users and service accounts are reviewed');
const notFound: Verdict = denied(
  'resource_not_found_or_denied',
  'there is no such resource, or you may not know of it',
);

function denied(code: Exclude<(typeof reasonCodes)[number], 'allowed'>, message: string): Verdict {
  return { allowed: false, denied: true, reason: { code, message } };
}

/** What answers 403 where it is missing answers alike where it demands what the caller has not. */
function isHidden({ decision, access }: AccessDecision): boolean {
  return !decision.allowed && (decision.because === 'hidden' || access.hidden === 'forbidden');
}

function toVerdict(operation: ProtectedOperation, { decision, access }: AccessDecision): Verdict {
  if (decision.allowed) return { allowed: true, denied: false, reason: { code: 'allowed', message: 'allowed' } };
  return denied('permission_denied', describeDenial(operation, decision, access));
}

function indeterminate(error: unknown, onFailure: (error: unknown) => void): Verdict {
  const failed = (code: (typeof evaluationErrorCodes)[number], message: string): Verdict => ({
    ...{ allowed: false, denied: false },
    evaluation_error: { code, message },
  });
  if (error instanceof AuthorizationUnavailable) return failed('authorization_unavailable', error.message);
  const isAway = error instanceof ServiceError ? error.kind === 'unavailable' : isDependencyUnavailable(error);
  if (isAway) return failed('resolver_unavailable', 'what this is about could not be looked up: try again');
  onFailure(error);
  return failed('evaluation_failed', 'the review failed');
}
