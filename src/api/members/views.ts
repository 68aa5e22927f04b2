import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Member } from '#domain/memberships/model.ts';
import { organizationRoles, teamRoles } from '#domain/shared/vocabulary/roles.ts';
import { MemberActionsView } from './actions.ts';

const memberFields = {
  id: AnswerId.describe('The id of the membership; every join makes a new one.'),
  type: z.enum(['user', 'service_account']),
  user_id: AnswerId.describe('The id of the user or the service account.'),
  name: z.string(),
  email: z.string().nullable().describe('Null for a service account.'),
  enabled: z.boolean(),
  revision: z.int(),
  created_at: Time,
};

/** A member in a list. */
export const OrganizationMemberView = z
  .object({ ...memberFields, role: z.enum(organizationRoles) })
  .meta({ id: 'OrganizationMember' });
export const TeamMemberView = z.object({ ...memberFields, role: z.enum(teamRoles) }).meta({ id: 'TeamMember' });

/** A member in every answer about one member. */
export const OrganizationMemberDetailsView = OrganizationMemberView.extend({ actions: MemberActionsView }).meta({
  id: 'OrganizationMemberDetails',
});
export const TeamMemberDetailsView = TeamMemberView.extend({ actions: MemberActionsView }).meta({
  id: 'TeamMemberDetails',
});

export function viewMember<Role extends string>({ userId, createdAt, ...member }: Member<Role>) {
  return { ...member, user_id: userId, created_at: createdAt };
}

export type MemberAnswer<Role extends string> = Omit<z.output<typeof TeamMemberView>, 'role'> & { role: Role };

/** A member in the encoded form that clients receive. */
export type SentMember<Role extends string> = Omit<z.input<typeof TeamMemberView>, 'role'> & { role: Role };

/** A single member, with what the caller may do with the membership. */
export type MemberDetailsAnswer<Role extends string> = Omit<z.output<typeof TeamMemberDetailsView>, 'role'> & {
  role: Role;
};

/** A single member in the encoded form that clients receive. */
export type SentMemberDetails<Role extends string> = Omit<z.input<typeof TeamMemberDetailsView>, 'role'> & {
  role: Role;
};
