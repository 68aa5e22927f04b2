import type { Em } from '#database/database.ts';
import { isCurrent } from '../ceilings/model.ts';
import { findCeiling } from '../ceilings/store.ts';
import type { InstallationDetails, InstallationTarget } from '../installations/store.ts';
import { readDeclarations } from '../manifests/store.ts';
import { pluginRemoved, type Reason, selectorOf } from '../model.ts';
import { covers, isInScope } from '../places/containment.ts';
import type { Place } from '../places/place-store.ts';
import type { ActionDetails } from './action-store.ts';
import { type End, ends, findEnd } from './basis.ts';
import { type CoverageQuestion, findCovering, findNewestRevoked } from './store.ts';

/** The reasons why nobody can use an action at a place or assign it there. */
export const obstacles = {
  outside_installation: 'it does not belong to the organization or team that installed the plugin',
  plugin_removed: pluginRemoved,
  manifest_missing: 'only the digest of the active release is known: its manifest was not staged yet',
  action_not_declared: 'the active release does not declare the action',
  scope_ineligible: 'it, or an owner of it, is archived or was deleted',
  action_not_approved: 'the ceiling of the installation does not approve the action for the active release',
} as const;
export type Obstacle = keyof typeof obstacles;

/** The reasons of checks in words, by their codes. */
export const checkReasons = {
  assigned: 'an assignment covers this',
  not_assigned: 'no assignment covers this: a manager of the memberships there may assign the action',
  ...ends,
  ...obstacles,
} as const;
export type CheckCode = keyof typeof checkReasons;

/** Whether somebody may use an action at a place, and why. */
export interface CheckResult {
  readonly allowed: boolean;
  readonly reason: Reason<CheckCode>;
}

interface Question {
  readonly action: ActionDetails;
  readonly target: InstallationTarget;
  readonly place: Place;
  readonly subjectId: string;
}

/**
 * Whether a principal may use an action at a place now. It admits and reserves nothing. The caller has read the question in a snapshot, in
 * which these statements must run too. (specification, *Plugin authority*)
 */
export async function checkAction(em: Em, { action, target, place, subjectId }: Question): Promise<CheckResult> {
  const obstacle = await findObstacle(em, { action, target, place });
  if (obstacle !== null) return { allowed: false, reason: { code: obstacle, message: obstacles[obstacle] } };
  const question = { of: { actionId: action.id }, subjectId, place };
  const covering = await findAssignments(em, question);
  if (covering.some(({ end }) => end === null)) return { allowed: true, reason: describeReason('assigned') };
  return { allowed: false, reason: await findLastEnd(em, question, covering) };
}

/** Why the last assignment that covered a place is no longer in force, among ended and revoked ones. */
async function findLastEnd(
  em: Em,
  question: CoverageQuestion,
  [ended]: readonly Assignment[],
): Promise<Reason<CheckCode>> {
  const revoked = await findNewestRevoked(em, question);
  if (revoked && covers(selectorOf(revoked), question.place) && revoked.id > (ended?.id ?? ''))
    return { code: 'revoked', message: ends.revoked };
  // The same code may belong to an end and to an obstacle, which have different sentences.
  const code = ended?.end?.code;
  return code === undefined ? describeReason('not_assigned') : { code, message: ends[code] };
}

/**
 * Whether an assignment to a principal that is in force covers a place. Its subject may ask about the place even without the right to read
 * it: an assignment for an organization and everything in it requires no membership in the teams.
 */
export async function isCovered(em: Em, question: CoverageQuestion): Promise<boolean> {
  return (await findAssignments(em, question)).some(({ end }) => end === null);
}

/** An assignment that covers a place, and why it has ended; null if it is in force. */
interface Assignment {
  readonly id: string;
  readonly end: End | null;
}

/** The assignments that cover a place and were not revoked, the newest first. */
async function findAssignments(em: Em, question: CoverageQuestion): Promise<Assignment[]> {
  const found = await findCovering(em, question);
  const covering = found.filter((grant) => covers(selectorOf(grant), question.place));
  return covering.map((grant) => ({ id: grant.id, end: findEnd(grant, grant.standing) }));
}

/** The reason why nobody can use an action at a place or assign it there; null if there is none. */
export async function findObstacle(
  em: Em,
  { action, target, place }: Omit<Question, 'subjectId'>,
): Promise<Obstacle | null> {
  const { installation } = target;
  if (!isInScope(target, place)) return 'outside_installation';
  if (installation.deletedAt !== null) return 'plugin_removed';
  if (!action.isDeclared)
    return (await isManifestMissing(em, installation)) ? 'manifest_missing' : 'action_not_declared';
  if (!place.isPresent || place.archived.length > 0) return 'scope_ineligible';
  const ceiling = await findCeiling(em, installation.id);
  const isApproved =
    ceiling && isCurrent(ceiling, installation) && ceiling.actions.some(({ name }) => name === action.name);
  return isApproved ? null : 'action_not_approved';
}

async function isManifestMissing(em: Em, { id, activeRelease }: InstallationDetails): Promise<boolean> {
  return activeRelease !== null && (await readDeclarations(em, id, activeRelease)) === null;
}

/** The reason with a code, in words. */
export function describeReason<Code extends CheckCode>(code: Code): Reason<Code> {
  return { code, message: checkReasons[code] };
}
