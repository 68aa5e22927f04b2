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

/** What keeps everybody from using an action at a place, and from assigning it there. */
export const obstacles = {
  outside_installation: 'it does not belong to the organization or team that installed the plugin',
  plugin_removed: pluginRemoved,
  manifest_missing: 'only the digest of the active release is known: its manifest was not staged yet',
  action_not_declared: 'the active release does not declare the action',
  scope_ineligible: 'it, or an owner of it, is archived or was deleted',
  action_not_approved: 'the ceiling of the installation does not approve the action for the active release',
} as const;
export type Obstacle = keyof typeof obstacles;

/** What a check answers, by the code of its reason. */
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
 * Whether a principal may use an action at a place now. It admits nothing and reserves nothing. The caller has read the question in one snapshot, in which
 * these statements run too. (specification, *Plugin authority*)
 */
export async function checkAction(em: Em, { action, target, place, subjectId }: Question): Promise<CheckResult> {
  const obstacle = await findObstacle(em, { action, target, place });
  if (obstacle !== null) return { allowed: false, reason: { code: obstacle, message: obstacles[obstacle] } };
  const question = { of: { actionId: action.id }, subjectId, place };
  const covering = await findAssignments(em, question);
  if (covering.some(({ end }) => end === null)) return { allowed: true, reason: describeReason('assigned') };
  return { allowed: false, reason: await findLastEnd(em, question, covering) };
}

/** What ended the last assignment that covered a place: of those that ended, and of those that were revoked. */
async function findLastEnd(
  em: Em,
  question: CoverageQuestion,
  [ended]: readonly Assignment[],
): Promise<Reason<CheckCode>> {
  const revoked = await findNewestRevoked(em, question);
  if (revoked && covers(selectorOf(revoked), question.place) && revoked.id > (ended?.id ?? ''))
    return { code: 'revoked', message: ends.revoked };
  // The code of an end may be that of an obstacle, too, which has a sentence of its own.
  const code = ended?.end?.code;
  return code === undefined ? describeReason('not_assigned') : { code, message: ends[code] };
}

/**
 * Whether an assignment to a principal that is in force covers a place. Its subject may ask about the place, whatever else it may read: an
 * assignment for an organization and everything in it needs no membership in the teams.
 */
export async function isCovered(em: Em, question: CoverageQuestion): Promise<boolean> {
  return (await findAssignments(em, question)).some(({ end }) => end === null);
}

/** An assignment that covers a place, with what ended it; null if it is in force. */
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

/** What keeps everybody from using an action at a place, and from assigning it there; null if nothing does. */
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
