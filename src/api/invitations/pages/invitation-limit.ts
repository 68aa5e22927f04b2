import type { TeamSubject } from '#api/teams/pages/team-frame.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create as inviteToOrganization } from '../organization-operations.ts';

/** Says whom the visitor cannot invite into a team. Null if they may invite into its organization as well, and so may invite anybody. */
export function describeInvitationLimit(
  visit: Visit,
  { organization_id: organizationId }: Pick<TeamSubject, 'organization_id'>,
): string | null {
  if (visit.mayDo(inviteToOrganization, { organizationId, teamId: null }).allowed) return null;
  return 'You can invite only members of the organization. An admin of the organization can invite other people there, and into this team as well.';
}
