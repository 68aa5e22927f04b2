import type { Em } from '#database/database.ts';
import { findOrganization, type OrganizationTarget } from '#domain/organizations/store.ts';
import { noCredential } from '#domain/shared/access/principal.ts';
import { lockPrincipal } from '#domain/shared/access/store.ts';
import { findTeam, type TeamTarget } from '#domain/teams/store.ts';
import { lockByVerifier, lockInvitation, lockPlace } from './change-store.ts';
import { findInvitation, type InvitationWithStatus } from './status.ts';
import { findByVerifier, findTeamInvitedTo } from './store.ts';
import { hashToken } from './token.ts';

/** The parts of a path that name an invitation: its organization and, in a team's path, the team. */
export interface InvitationPath {
  readonly organization: string;
  readonly team: string | null;
  readonly id: string;
}

export type InvitationOwner = OrganizationTarget | TeamTarget;
export type InvitationTarget = InvitationOwner & { readonly invitation: InvitationWithStatus };

/** An invitation by the path that names it. With `lock`, it takes share locks on the owners' rows and then locks its own. */
export async function findInvitationAt(
  em: Em,
  { organization, team, id }: InvitationPath,
  lock = false,
): Promise<InvitationTarget | undefined> {
  const owner = await findInvitationOwner(em, { organization, team }, lock);
  const found = owner && (await findTeamInvitedTo(em, id, { organizationId: owner.organizationId, teamId: team }));
  if (!found) return undefined;
  if (lock) await lockInvitation(em, { id, teamId: found.teamId });
  const invitation = await findInvitation(em, id);
  return invitation && { ...owner, invitation };
}

/** The organization or team whose invitations a path names. */
export function findInvitationOwner(
  em: Em,
  { organization, team }: Omit<InvitationPath, 'id'>,
  lock = false,
): Promise<InvitationOwner | undefined> {
  return team === null ? findOrganization(em, organization, lock) : findTeam(em, { organization, id: team }, lock);
}

/**
 * The invitation with a token; undefined if there is none. To accept it, its inviter, its organization and its team are locked until the
 * commit, so that they do not change after the decision.
 */
export async function findByToken(em: Em, token: string, lock: boolean): Promise<InvitationWithStatus | undefined> {
  const verifier = hashToken(token);
  const found = await findByVerifier(em, verifier);
  if (!found) return undefined;
  if (!lock) return findInvitation(em, found.id);
  await lockPrincipal(em, { id: found.invitedBy, credential: noCredential(found.invitedBy) });
  await lockPlace(em, found);
  // If somebody has sent it again in the meantime, it has another token.
  const locked = await lockByVerifier(em, verifier);
  return locked && findInvitation(em, locked.id);
}
