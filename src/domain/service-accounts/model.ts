import { z } from 'zod';
import { PersonName, PlatformRole } from '#domain/identity/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
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

/** The user or the team that becomes the owner. */
export const NewOwner = z
  .strictObject({ user_id: Id.optional(), team_id: Id.optional() })
  .refine(({ user_id, team_id }) => (user_id === undefined) !== (team_id === undefined), {
    error: 'expected exactly one of user_id and team_id',
  })
  .describe('Exactly one of the two.');
export type NewOwner = z.output<typeof NewOwner>;

export const CreateServiceAccount = z.strictObject({ name: PersonName, role: PlatformRole, owner: NewOwner });
export const UpdateServiceAccount = z.strictObject({
  name: PersonName.optional(),
  role: PlatformRole.optional(),
  ...ExpectedRevision,
});
export const TransferServiceAccount = z.strictObject({ owner: NewOwner, ...ExpectedRevision });
