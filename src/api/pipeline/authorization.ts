import {
  type Access,
  type Decision,
  decide,
  decidePermission,
  nobody,
  type Ownership,
} from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { NotFound } from '#domain/shared/errors.ts';
import type { Operation } from './operation.ts';

/** A decision, with what was demanded. */
export interface Decided {
  readonly decision: Decision;
  readonly access: Access;
}

/** An operation that demands something of whoever calls it. */
export type Guarded = Operation & { readonly access: Access };

/** Whether a principal may ask for such a thing at all, whatever the target is. */
export function decideAdmission({ access }: Guarded, principal: Principal): Decided {
  return { decision: decidePermission(principal, access), access };
}

/**
 * Whether a principal may do it to this target, once it may ask at all. `undefined`: there is no such target; `null`: the
 * operation is about nothing in particular.
 */
export function decideTarget(operation: Guarded, principal: Principal, target: Ownership | null | undefined): Decided {
  if (target === undefined) return { decision: { allowed: false, because: 'hidden' }, access: operation.access };
  const access = (target && operation.accessTo?.(target, principal)) ?? operation.access;
  return { decision: decide(principal, access, target ?? nobody), access };
}

/**
 * The sentence with which an operation refuses a caller who lacks the authority, in the order in which it decides; null
 * where the caller has it.
 */
export function describeDenial(
  operation: Guarded,
  principal: Principal,
  target: Ownership | null | undefined,
): string | null {
  const admission = decideAdmission(operation, principal);
  const { decision, access } = admission.decision.allowed ? decideTarget(operation, principal, target) : admission;
  if (decision.allowed) return null;
  const isHidden = decision.because === 'hidden' && access.hidden === 'not_found';
  const { targetName = 'the resource' } = operation;
  return isHidden ? new NotFound(targetName).message : describeRefusal(operation, decision, access);
}

/** The text of a refusal. It tells nothing of what the caller may not read. */
export function describeRefusal(
  { targetName = 'the resource' }: Pick<Operation, 'targetName'>,
  { because }: Exclude<Decision, { allowed: true }>,
  access: Access,
): string {
  if (because === 'hidden' || access.hidden === 'forbidden') return 'permission denied';
  const permissions = access.anyOf.join(' or ');
  if (because === 'permission') return `permission denied: this needs ${permissions}`;
  if (access.scope === 'organization') return `permission denied: this needs ${neededRole(access)}`;
  const needed = access.teamAction ?? neededRole(access);
  return `permission denied: this needs ${[needed].flat().join(' and ')} on the owner of the ${targetName.replace(/^the /, '')}`;
}

function neededRole({ scope, organizationRole }: Access): string {
  return scope === 'service_account' ? 'the team role owner' : `the organization role ${organizationRole}`;
}
