import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';

/** The levels that have members, with their roles. */
export interface MemberRoles {
  readonly organization: OrganizationRole;
  readonly team: TeamRole;
}
export type MembershipLevel = keyof MemberRoles;

/** A person or a service account in an organization or a team. `id` is the membership's: every join gets a new one. */
export interface Member<Role extends string> {
  readonly id: string;
  readonly type: 'user' | 'service_account';
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly enabled: boolean;
  readonly role: Role;
  readonly revision: number;
  readonly createdAt: string;
}
