import type { Choice } from '#api/web/forms/fields/choices.ts';
import { capitalize } from '#api/web/text.ts';
import {
  type OrganizationRole,
  organizationRoles,
  type PlatformRole,
  platformRoles,
  type TeamRole,
  teamRoles,
} from '#domain/shared/vocabulary/roles.ts';

/** Explains the roles, beside the field that chooses one. */

const inOrganization: Readonly<Record<OrganizationRole, string>> = {
  owner: 'Does everything in the organization, and alone archives, transfers and deletes it and its teams.',
  admin: 'Renames it, manages members and invitations, makes teams, and sees every team as a member of it does.',
  member: 'Sees the organization and who is in it. In its teams, only what a role there allows.',
};

const inTeam: Readonly<Record<TeamRole, string>> = {
  owner: 'Does everything in the team, with its service accounts, approval policies and deletion.',
  admin: 'Changes projects, environments and templates, reviews runs, and manages members, but no owners.',
  member: 'Sees everything in the team, and starts runs.',
  viewer: 'Sees everything in the team except secrets, and starts nothing.',
};

const onPlatform: Readonly<Record<PlatformRole, string>> = {
  requester: 'Reads, and starts runs, where a role in an organization or a team allows it.',
  maintainer: 'Also makes and changes things, approves and cancels runs, and has service accounts.',
  operator: 'Also deletes runs.',
  admin: 'Does everything, in every organization and team, and manages users.',
};

/** Says that roles in organizations and teams cannot allow more than the platform role does. */
export const platformRoleLimits =
  'The platform role of a person limits what their role here allows: a requester reads and starts runs, and approves none.';

export const organizationRoleChoices = choicesOf(organizationRoles, inOrganization);
export const teamRoleChoices = choicesOf(teamRoles, inTeam);

/** The platform roles that a person may assign: none above their own. */
export function platformRoleChoices(own: PlatformRole | null): Choice[] {
  const highest = own === null ? -1 : platformRoles.indexOf(own);
  return choicesOf(platformRoles.slice(0, highest + 1), onPlatform);
}

function choicesOf<Role extends string>(roles: readonly Role[], meanings: Readonly<Record<Role, string>>): Choice[] {
  return roles.map((value) => ({
    value,
    label: capitalize(value),
    hint: meanings[value],
  }));
}
