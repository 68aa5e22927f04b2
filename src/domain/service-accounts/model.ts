import type { PlatformRole } from '#domain/identity/model.ts';
import type { TeamRole } from '#domain/teams/model.ts';

/**
 * The role of a service account in a team: the team that owns it, or any team that a user's account is a member of. The owner's
 * role there does not matter. (specification, *Authentication*, rule 7)
 */
export const teamRoleOfAccount: Record<PlatformRole, TeamRole> = {
  admin: 'owner',
  operator: 'admin',
  maintainer: 'admin',
  requester: 'member',
};

/** The user or the team that becomes the owner: exactly one of the two. */
export interface NewOwner {
  readonly userId?: string | undefined;
  readonly teamId?: string | undefined;
}

export interface NewAccount {
  readonly name: string;
  readonly role: PlatformRole;
}

/** The fields of a service account to change. A field that is left out keeps its value. */
export interface AccountChange {
  readonly name?: string | undefined;
  readonly role?: PlatformRole | undefined;
  readonly expectedRevision?: number | undefined;
}
