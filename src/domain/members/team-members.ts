import type { Em } from '#database/database.ts';
import { revokeSent } from '#domain/invitations/invitations.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, NotFound } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import type { TeamRole } from '#domain/teams/model.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import { refuseAccountInTeam } from './account-members.ts';
import { TeamMember } from './entity.ts';
import { mayGiveTeamRole } from './grants.ts';
import {
  addMember,
  findMember,
  hasOtherOwner,
  type Joiner,
  type Member,
  organizationMembers,
  teamMembers,
} from './members.ts';
import type { MemberChange, MemberJoined } from './organization-members.ts';

/**
 * Lets a member of the organization join a team, or gives a member another role. The caller holds their row and the
 * team's.
 * @throws Forbidden where owners are concerned and the caller may not manage them
 * @throws Conflict where the team would be left without an owner, or for somebody outside the organization
 */
export async function setTeamMember(
  em: Em,
  caller: Principal,
  team: TeamTarget,
  { id: userId, ...joiner }: Joiner & { readonly id: string },
  role: TeamRole,
): Promise<MemberJoined<TeamRole>> {
  const before = await find(em, team.id, userId);
  refuseOwners(caller, team, before ? [before.role, role] : [role]);
  refuseArchived(team);
  refuseAccountInTeam(joiner, role);
  if (before?.role === role) return { before, after: before };
  if (before) await refuseLastOwner(em, team.id, before);
  if (before) await em.nativeUpdate(TeamMember, { id: before.id }, { role });
  else await join(em, team, userId, role);
  return { before, after: await readBack(find(em, team.id, userId)) };
}

/** Ends a membership of a team, and the invitations that it sent. Throws as `setTeamMember` does. */
export async function removeTeamMember(
  em: Em,
  caller: Principal,
  team: TeamTarget,
  userId: string,
): Promise<MemberChange<TeamRole>> {
  const before = await find(em, team.id, userId);
  if (!before) throw new NotFound('member');
  refuseOwners(caller, team, [before.role]);
  await refuseLastOwner(em, team.id, before);
  await em.nativeDelete(TeamMember, { id: before.id });
  await revokeSent(em, team, userId);
  return { before, after: undefined };
}

function find(em: Em, teamId: string, userId: string): Promise<Member<TeamRole> | undefined> {
  return findMember<TeamRole>(em, teamMembers, teamId, userId);
}

/** Somebody outside the organization and nobody at all are answered alike. */
export class OutsideOrganization extends Conflict {
  constructor() {
    super('the user is no member of the organization that owns this team: add them there first');
  }
}

async function join(em: Em, team: TeamTarget, userId: string, role: TeamRole): Promise<void> {
  if (!(await findMember(em, organizationMembers, team.organizationId, userId))) throw new OutsideOrganization();
  await addMember(em, teamMembers, team.id, userId, role);
}

function refuseOwners(caller: Principal, team: TeamTarget, roles: readonly TeamRole[]): void {
  if (roles.every((role) => mayGiveTeamRole(caller, team, role))) return;
  throw new Forbidden('permission denied: the team role owner is above your own; this needs team.owner.manage');
}

async function refuseLastOwner(em: Em, teamId: string, { type, userId, role }: Member<TeamRole>): Promise<void> {
  if (type !== 'user' || role !== 'owner' || (await hasOtherOwner(em, teamMembers, teamId, userId))) return;
  throw new Conflict('this is the last owner of the team: make somebody else an owner first');
}
