import { db } from '#domain/db.ts';
import type { RuleCode } from '#domain/error-codes.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { findBackground, findBackgroundEnd } from '../background/store.ts';
import { PluginActionGrant } from '../entity.ts';
import type { InstallationTarget } from '../installations/store.ts';
import { pluginShares, refuseBeyondShare, type Share, shareOf } from '../limit-store.ts';
import { findRevokedRefusal, type Subject, selectorOf } from '../model.ts';
import { covers } from '../places/containment.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import type { Place } from '../places/place-store.ts';
import { type ActionDetails, findSelectorRefusal } from './action-store.ts';
import { type Basis, findEnd, toBasis } from './basis.ts';
import { describeReason, findObstacle, type Obstacle } from './check.ts';
import type { GrantWithStanding } from './grant-authority-store.ts';
import { findCovering, findGrant, uncountEndedGrants } from './store.ts';

export interface NewGrant {
  readonly action: ActionDetails;
  readonly target: InstallationTarget;
  readonly place: Place;
  readonly subject: Subject;
  readonly expectedInstallationRevision: number;
  readonly expectedActionRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/** The basis of a new row, until `selectGrants` has read the real values. */
const unknown: Basis = { installation: 0, approval: '', subject: '', scope: '' };

/**
 * Assigns an action to somebody at a place. Assigning it to oneself has the same conditions. The caller has locked the owners of the place,
 * the installation and the action.
 * @throws Invalid for a subject that does not exist or is not eligible there, with the same answer for both
 */
export async function assignAction(tx: Transaction, caller: Principal, wanted: NewGrant): Promise<GrantWithStanding> {
  const { action, target, place, subject } = wanted;
  const { installation } = target;
  refuseStale(installation, wanted.expectedInstallationRevision, 'expected_installation_revision');
  refuseStale(action, wanted.expectedActionRevision, 'expected_action_revision');
  refuseOtherOwnership(place, wanted.expectedOwnership);
  await refuseObstacle(tx, wanted);
  refuseSelector(action, place);
  await refuseBeyondBackground(tx, wanted);
  await refuseUnknown(tx, subject);
  await refuseAssigned(tx, wanted);
  const share = shareOf(installation.id, place);
  await refuseBeyondShare(tx.em, share, pluginShares.assignments, uncountEndedGrants);
  const row = await insertGrant(tx, caller, wanted, share);
  const { standing } = await readBack(findGrant(tx.em, row.id));
  const basis = toBasis(standing);
  if (basis === null) throw ineligible();
  row.basis = basis;
  await tx.em.flush();
  return readBack(findGrant(tx.em, row.id));
}

/** Writes an assignment whose basis is not known yet. */
async function insertGrant(
  tx: Transaction,
  caller: Principal,
  { action, place, subject }: NewGrant,
  share: Share,
): Promise<PluginActionGrant> {
  const row = tx.em.create(PluginActionGrant, {
    id: newId(),
    installationId: share.installationId,
    actionId: action.id,
    subjectType: subject.type,
    subjectId: subject.id,
    selectorType: place.selector.type,
    selectorId: place.selector.id,
    basis: unknown,
    ownerId: share.ownerId,
    grantedBy: caller.id,
  });
  await tx.em.persist(row).flush();
  return row;
}

async function refuseUnknown(tx: Transaction, { type, id }: Subject): Promise<void> {
  const known = await db(tx.em)
    .selectFrom('principals')
    .where('id', '=', id)
    .where('kind', '=', type === 'background_principal' ? 'background' : type)
    .select('id')
    .executeTakeFirst();
  if (!known) throw ineligible();
}

/** Ends an assignment permanently. The caller has locked the place's owners and the assignment. */
export async function revokeGrant(
  tx: Transaction,
  caller: Principal,
  grant: GrantWithStanding,
  place: Place,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<number> {
  refuseStale(grant, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  throwIfRefused(findRevokedRefusal(grant, 'assignment'));
  const revocation = { revokedAt: new Date(), revokedBy: caller.id };
  return saveChange(tx.em, PluginActionGrant, grant, revocation);
}

function refuseSelector(action: ActionDetails, { selector }: Place): void {
  const message = findSelectorRefusal(action, selector);
  if (message !== null) throw invalidField('selector.type', message);
}

async function refuseObstacle(tx: Transaction, { action, target, place }: NewGrant): Promise<void> {
  const obstacle = await findObstacle(tx.em, { action, target, place });
  if (obstacle === null) return;
  const { message } = describeReason(obstacle);
  if (obstacle === 'outside_installation') throw invalidField('selector', message);
  throw new Conflict(message, obstacleCodes[obstacle]);
}

const obstacleCodes = {
  plugin_removed: 'plugin_removed',
  scope_ineligible: 'archived',
  manifest_missing: 'plugin_manifest_missing',
  action_not_declared: 'plugin_action_not_declared',
  action_not_approved: 'plugin_action_not_approved',
} as const satisfies Record<Exclude<Obstacle, 'outside_installation'>, RuleCode>;

/**
 * A background principal acts in its own place alone. Administrators of a place inside it get the reason if it has ended. For a background
 * principal of another installation or place, the answer is the same as if it did not exist.
 */
async function refuseBeyondBackground(tx: Transaction, { subject, place, target }: NewGrant): Promise<void> {
  if (subject.type !== 'background_principal') return;
  const background = await findBackground(tx.em, subject.id);
  if (background?.installationId !== target.installation.id || !covers(selectorOf(background), place))
    throw ineligible();
  const end = findBackgroundEnd(background);
  if (end !== null) throw invalidField('subject', `${end.message}: approve another background principal`);
}

async function refuseAssigned(tx: Transaction, { action, subject, place }: NewGrant): Promise<void> {
  const grants = await findCovering(tx.em, { of: { actionId: action.id }, subjectId: subject.id, place });
  const same = grants.find(
    (grant) =>
      grant.selectorType === place.selector.type &&
      grant.selectorId === place.selector.id &&
      findEnd(grant, grant.standing) === null,
  );
  if (same) throw new Conflict(`the action is assigned there already: ${same.id}`, 'plugin_assigned_already');
}

function ineligible() {
  return invalidField(
    'subject',
    'expected an enabled member of the team that owns the place, or of the organization if the place is one; if it is a service account, of a team that is not archived; or a background principal of the installation whose place covers it',
  );
}
