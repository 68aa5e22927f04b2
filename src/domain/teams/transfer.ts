import type { Em } from '#database/database.ts';
import { findMembersOutside } from '#domain/memberships/store.ts';
import { findOrganization, type OrganizationTarget, shareOrganizations } from '#domain/organizations/store.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Forbidden, HiddenResource } from '#domain/shared/errors.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { transferOwned } from '#domain/shared/ownership-graph/transfer.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { disableTransferred } from '#domain/tenancy/disable-transferred.ts';
import type { RevisionCheck } from '#domain/tenancy/model.ts';
import { findTeam, findTeamById, type TeamTarget } from './store.ts';

/** The right to move a team into an organization, which is the right to create one there. */
const takeTeam: Access = {
  anyOf: ['team:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: 'none',
};

/** Whether a caller who may transfer a team may move it into another organization. `transferTeam` decides the same. */
export function mayTakeTeam(caller: Principal, destination: Ownership): boolean {
  return decide(caller, takeTeam, destination).allowed;
}

export interface TeamTransfer extends TeamTarget {
  /** Undefined: there is no such organization. */
  readonly destination: OrganizationTarget | undefined;
}

/** The team and its destination. With `lock`, it locks both organizations for share, in the order of their ids, and then the team. */
export async function findTeamTransfer(
  em: Em,
  { to, ...path }: { organization: string; id: string; to: string | undefined },
  lock: boolean,
): Promise<TeamTransfer | undefined> {
  const known = await findTeam(em, path);
  if (!known) return undefined;
  if (lock) await shareOrganizations(em, to === undefined ? [known.organizationId] : [known.organizationId, to]);
  const team = await findTeam(em, path, lock && 'change');
  const destination = to === undefined ? undefined : await findOrganization(em, to);
  return team && { ...team, destination };
}

/**
 * Moves a team, with everything that it owns, to another organization. Its members must already be members there, because a transfer makes
 * nobody a member. It voids open invitations into the team and everything that was granted to the team, and disables the webhooks and
 * channels of the team and its projects.
 * @throws HiddenResource, Forbidden if the caller may not move a team into the other organization
 * @throws Conflict that names the members who are not in the other organization, or for a slug that is taken there
 */
export async function transferTeam(
  tx: Transaction,
  caller: Principal,
  team: TeamTransfer,
  { expectedRevision }: RevisionCheck,
): Promise<TeamTarget> {
  const { em } = tx;
  const { destination } = team;
  if (destination?.id === team.organizationId)
    throw new Conflict('organization_id: the team is in this organization already', 'same_owner');
  const to = requireDestination(caller, destination);
  for (const each of [team, to]) refuseArchived(each);
  refuseStale(team, expectedRevision);
  await refuseStrangers(em, team, to);
  await transferOwned(em, 'team', team, { kind: 'organization', id: to.id });
  const transferred = await readBack(findTeamById(em, team.id));
  await disableTransferred(tx, { kind: 'team', id: team.id }, transferred);
  return transferred;
}

function requireDestination(caller: Principal, destination: OrganizationTarget | undefined): OrganizationTarget {
  const decision = destination && decide(caller, takeTeam, destination);
  if (destination && decision?.allowed) return destination;
  if (!decision || decision.allowed || decision.because === 'hidden')
    throw new HiddenResource('organization_id: the organization');
  throw new Forbidden('permission denied: this needs the organization role admin in the other organization as well');
}

async function refuseStrangers(em: Em, team: TeamTarget, destination: OrganizationTarget): Promise<void> {
  const strangers = await findMembersOutside(em, team.id, destination.id);
  if (strangers.length === 0) return;
  throw new Conflict(
    `these members of the team are not in the other organization: ${enumerate(strangers)}; add them there, or end their memberships of the team first`,
    'not_in_organization',
  );
}
