import type { PlatformRole } from '#domain/identity/model.ts';
import type { TeamRole } from '#domain/organizations/model.ts';

/**
 * What a service account is in a team: its owner team, or one that it was let into where a user owns it. Never what its
 * owner is there. (specification, *Authentication*, rule 7)
 */
export const teamRoleOfAccount: Record<PlatformRole, TeamRole> = {
  admin: 'owner',
  operator: 'admin',
  maintainer: 'admin',
  requester: 'member',
};
