import { OrganizationMemberSchema, TeamMemberSchema } from './entity.ts';
import { memberKinds } from './ownership.ts';

export const entities = [OrganizationMemberSchema, TeamMemberSchema] as const;
export const ownership = memberKinds;

export const errorCodes = {
  last_owner: 'The organization or team would have no owner, or the installation no administrator.',
  not_in_organization: 'The person whom the request is about is not a member of the organization.',
  already_member: 'They are a member already.',
  account_of_team: 'The service account belongs to a team, and acts in that team alone.',
  account_role_unfit: 'A service account cannot have this role there.',
} as const;
