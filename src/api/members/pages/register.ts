import { type Organization, organizationLevel } from '#api/organizations/pages/organization-frame.ts';
import { list as listAccounts } from '#api/service-accounts/operations.ts';
import { renderSetupLink } from '#api/teams/pages/setup-link.ts';
import { type TeamSubject, teamLevel, teamParams } from '#api/teams/pages/team-frame.ts';
import { organizationRoleChoices, platformRoleLimits, teamRoleChoices } from '#api/tenancy/pages/roles.ts';
import { page } from '#api/web/declarations/area.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { mayReviewSome } from '#domain/runs/approval/rules.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import * as ofOrganization from '../organization-operations.ts';
import * as ofTeam from '../team-operations.ts';
import { memberForm, removalForm } from './member-forms.ts';
import type { MemberLevel } from './member-level.ts';
import { showMembers, submitMember } from './members-page.ts';
import { joinOrganizationPath, renderTeamsToJoin } from './next-step.ts';

const organizationMembers: MemberLevel<{ orgID: string }, Organization> = {
  level: organizationLevel,
  list: (visit, { id: orgID }, query) => visit.read(ofOrganization.list, { params: { orgID }, query }),
  get: (visit, { id: orgID }, userID) => visit.read(ofOrganization.get, { params: { orgID, userID } }),
  set: (visit, { id: orgID }, userID, body) => visit.run(ofOrganization.set, { params: { orgID, userID }, body }),
  remove: (visit, { id: orgID }, userID) => visit.run(ofOrganization.remove, { params: { orgID, userID } }),
  roles: organizationRoleChoices,
  aboutJoining: 'People who share an organization with you join immediately. Invite everybody else by e-mail.',
  joiners: async (visit) => ({
    label: 'Person or service account',
    hint: 'The name or e-mail address of a person who shares an organization with you, or a service account that you see.',
    others: await readAccounts(visit),
  }),
  renderNextStep: renderTeamsToJoin,
  memberPath: ({ id: orgID }, userID) => pagePath(pages.organizationMember, { orgID, userID }),
  removalPath: ({ id: orgID }, userID) => pagePath(pages.removeOrganizationMember, { orgID, userID }),
  pathAfterLeaving: pagePath(pages.organizations),
  aboutRemoval:
    'The memberships in all teams of the organization end as well, and open invitations that this member sent are revoked. Runs, comments and reviews stay as they are.',
  schedulesOf: ({ id }) => ({ organization_id: id }),
};

const teamMembers: MemberLevel<{ orgID: string; id: string }, TeamSubject> = {
  level: teamLevel,
  list: (visit, team, query) => visit.read(ofTeam.list, { params: teamParams(team), query }),
  get: (visit, team, userID) => visit.read(ofTeam.get, { params: { ...teamParams(team), userID } }),
  set: (visit, team, userID, body) => visit.run(ofTeam.set, { params: { ...teamParams(team), userID }, body }),
  remove: (visit, team, userID) => visit.run(ofTeam.remove, { params: { ...teamParams(team), userID } }),
  roles: teamRoleChoices,
  aboutJoining: `Members of a team are members of its organization. Invite everybody else by e-mail. ${platformRoleLimits}`,
  joiners: async (_visit, { organization_id: organizationId }) => ({
    label: 'Member of the organization',
    hint: html`A name or an e-mail address. Others <a href="${pagePath(pages.organizationMembers, { orgID: organizationId })}">join the organization</a> first.`,
    organizationId,
  }),
  renderSetup: renderSetupLink,
  joinOrganizationPath: ({ id, organization_id: orgID }, { user_id, role }) =>
    joinOrganizationPath(orgID, { ...(user_id && { user_id }), team: id, ...(role && { team_role: role }) }),
  memberPath: (team, userID) => pagePath(pages.teamMember, { ...teamParams(team), userID }),
  removalPath: (team, userID) => pagePath(pages.removeTeamMember, { ...teamParams(team), userID }),
  pathAfterLeaving: pagePath(pages.organizations),
  aboutRemoval:
    'The membership of the organization stays. Open invitations into the team that this member sent are revoked. Runs, comments and reviews stay as they are.',
  isLimited: async ({ em }, { id, organization_id: organizationId }, userID) => {
    const member = (await readPrincipals(em, [userID])).get(userID);
    const owner = { teamId: id, organizationId };
    if (!member || mayReviewSome(member, owner)) return false;
    return mayReviewSome({ ...member, role: 'maintainer' }, owner);
  },
  schedulesOf: ({ id }) => ({ team_id: id }),
};

/** The service accounts that the visitor may add as members. Only those on the first page of the list are read. */
async function readAccounts(visit: Visit) {
  if (!visit.mayDo(listAccounts).allowed) return [];
  const { service_accounts: accounts } = await visit.read(listAccounts, { query: { limit: '200' } });
  return accounts.map(({ id, name, enabled }) => ({
    type: 'service_account' as const,
    id,
    name,
    email: null,
    enabled,
  }));
}

/** The pages of the members of organizations and teams. */
export const memberPages = [
  page('GET', pages.organizationMembers, (visit) => showMembers(organizationMembers, visit)),
  page('POST', pages.organizationMembers, (visit) => submitMember(organizationMembers, visit)),
  formPage(pages.organizationMember, memberForm(organizationMembers)),
  formPage(pages.removeOrganizationMember, removalForm(organizationMembers)),
  page('GET', pages.teamMembers, (visit) => showMembers(teamMembers, visit)),
  page('POST', pages.teamMembers, (visit) => submitMember(teamMembers, visit)),
  formPage(pages.teamMember, memberForm(teamMembers)),
  formPage(pages.removeTeamMember, removalForm(teamMembers)),
];
