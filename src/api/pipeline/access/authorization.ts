import { featureOfOperation } from '#domain/features.ts';
import {
  type Access,
  accessByOwner,
  type Decision,
  decide,
  decidePermission,
  installationOwnership,
  type Ownership,
} from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { withRole } from '#domain/shared/access/weakest-role.ts';
import { Forbidden, HiddenReference, HiddenResource } from '#domain/shared/errors.ts';
import { describeClosed, refuseClosed } from '#domain/shared/features/gates.ts';
import { isPublic, type Operation } from '../operation.ts';

/** A decision, with the access that was required. */
export interface AccessDecision {
  readonly decision: Decision;
  readonly access: Access;
}

/** An operation that requires an authorized principal. */
export type ProtectedOperation = Operation & { readonly access: Access };

export function isProtected(operation: Operation): operation is ProtectedOperation {
  return !isPublic(operation.access);
}

/** The operation, with `ownAccess` in place of its access if the path names the caller. */
export function forCaller<O extends Operation>(operation: O, principal: Principal, params: unknown): O {
  const { ownAccess } = operation;
  if (!ownAccess || Object(params)[ownAccess.parameter] !== principal.id) return operation;
  return { ...operation, access: ownAccess.access, accessTo: undefined };
}

/** Decides whether a principal may use an operation at all, on any target. */
export function decideOperation({ access }: ProtectedOperation, principal: Principal): AccessDecision {
  return { decision: decidePermission(principal, access), access };
}

/**
 * Decides whether a principal who may use the operation may use it on this target. `undefined`: the target does not exist;
 * `null`: the operation has no target.
 */
export function decideTarget(
  operation: ProtectedOperation,
  principal: Principal,
  target: Ownership | null | undefined,
): AccessDecision {
  if (target === undefined) return { decision: { allowed: false, because: 'hidden' }, access: operation.access };
  const owners = target?.named?.length ? target.named : [target];
  const denials = owners
    .map((owner) => decideOwner(operation, principal, owner))
    .filter(({ decision }) => !decision.allowed);
  // What is hidden comes first: another denial would reveal that it exists.
  return denials.find(isHidden) ?? denials[0] ?? decideOwner(operation, principal, target);
}

function decideOwner(operation: ProtectedOperation, principal: Principal, owner: Ownership | null): AccessDecision {
  const declared = (owner && operation.accessTo?.(owner, principal)) ?? operation.access;
  const access = accessByOwner(declared, owner ?? installationOwnership);
  return { decision: decide(principal, access, owner ?? installationOwnership), access };
}

function isHidden({ decision }: AccessDecision): boolean {
  return !decision.allowed && decision.because === 'hidden';
}

/** The error with which an operation refuses its caller after such a decision; null if the decision allows the call. */
export function toDenial(
  operation: Pick<Operation, 'targetName'>,
  { decision, access }: AccessDecision,
): Forbidden | HiddenResource | HiddenReference | null {
  if (decision.allowed) return null;
  if (answersNotFound({ decision, access }) && access.hidden === 'invalid')
    return new HiddenReference(targetNameOf(operation));
  if (answersNotFound({ decision, access }) && access.hidden === 'not_found')
    return new HiddenResource(sayTarget(targetNameOf(operation)));
  return new Forbidden(describeDenial(operation, decision, access));
}

/** Whether a refusal is answered as if there were no such target. */
export function answersNotFound({ decision, access }: AccessDecision): boolean {
  if (decision.allowed) return false;
  return decision.because === 'hidden' || (decision.because === 'permission' && access.missingPermission === 'hidden');
}

/** The denial of an operation on a target, for a caller who may read the target; null if the operation is allowed. */
export function explainDenial(
  operation: ProtectedOperation,
  principal: Principal,
  target: Ownership | null | undefined,
): string | null {
  const { decision, access } = decideOperation(operation, principal);
  if (!decision.allowed) return describeDenial(operation, decision, access);
  const denial = toDenial(operation, decideTarget(operation, principal, target));
  return denial?.message ?? explainClosed(operation, principal);
}

/**
 * The permission that a caller lacks for an operation on any target, or why its area is off; null if neither. It says nothing about a
 * particular target.
 */
export function explainPermission(operation: ProtectedOperation, principal: Principal): string | null {
  const { decision, access } = decideOperation(operation, principal);
  return decision.allowed ? explainClosed(operation, principal) : describeDenial(operation, decision, access);
}

/**
 * Why the area of an operation is off; null if it is on. Call it after the authority was checked: a caller without it learns that first.
 */
export function explainClosed({ id }: Pick<Operation, 'id'>, { closedFeatures }: Principal): string | null {
  const feature = featureOfOperation(id);
  return feature === undefined ? null : describeClosed(feature, closedFeatures);
}

/** @throws FeatureDisabled if the area of the operation is off */
export function refuseClosedArea({ id }: Pick<Operation, 'id'>, { closedFeatures }: Principal): void {
  const feature = featureOfOperation(id);
  if (feature !== undefined) refuseClosed(feature, closedFeatures);
}

/** The text of a denial. It reveals nothing that the caller may not read. */
export function describeDenial(
  operation: Pick<Operation, 'targetName'>,
  { because }: Exclude<Decision, { allowed: true }>,
  access: Access,
): string {
  if (because === 'hidden' || access.hidden === 'forbidden') return 'permission denied';
  const permissions = [access.anyOf.map(withRole).join(' or '), ...(access.allOf ?? []).map(withRole)].join(' and ');
  if (because === 'installation')
    return 'permission denied: what belongs to the whole installation is for administrators';
  if (because === 'kind') return 'permission denied: only people may do this, not service accounts';
  if (because === 'permission') return `permission denied: this needs ${permissions}`;
  if (access.scope === 'organization') return `permission denied: this needs ${requiredRole(access)}`;
  const required = [access.teamAction ?? requiredRole(access)].flat().map(withRole).join(' and ');
  return `permission denied: this needs ${required} in ${owningTeamOf(targetNameOf(operation))}`;
}

/** The `targetName` of an operation that creates something for the owner that its body names. */
const newOwner = 'owner';

/** The phrase for the target in an answer that says that it does not exist. */
function sayTarget(targetName: string): string {
  return targetName === newOwner ? 'what the body names as the owner' : targetName;
}

/** The phrase for the team in which the caller lacks a role or an action. */
function owningTeamOf(targetName: string): string {
  if (targetName === 'team') return 'the team';
  if (targetName === newOwner) return 'the team that is to own it';
  if (targetName === 'the owner') return 'the team that becomes the owner';
  // A list or a quota may be about a team itself, or about what a team owns. No team owns an organization or a team.
  const subjects = targetName.replaceAll(/\bthe /g, '').split(/, | or /);
  const owned = subjects.filter((subject) => subject !== 'organization' && subject !== 'team');
  if (owned.length === subjects.length) return `the team that owns the ${targetName.replace(/^the /, '')}`;
  return ['the team', ...(owned.length > 0 ? [`the team that owns the ${owned.join(' or ')}`] : [])].join(' or ');
}

function targetNameOf({ targetName = 'the resource' }: Pick<Operation, 'targetName'>): string {
  return targetName;
}

function requiredRole({ scope, organizationRole }: Access): string {
  return scope === 'service_account' ? 'the team role owner' : `the organization role ${organizationRole}`;
}
