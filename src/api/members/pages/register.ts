import {
  type Organization,
  organizationCrumbs,
  organizationPage,
  readOrganization,
} from '#api/organizations/pages/organization-frame.ts';
import { readTeam, type TeamSubject, teamCrumbs, teamPage, teamParams } from '#api/teams/pages/team-frame.ts';
import { organizationRoleChoices, teamRoleChoices } from '#api/tenancy/pages/roles.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import * as ofOrganization from '../organization-operations.ts';
import * as ofTeam from '../team-operations.ts';
import { findUserId } from './find-user.ts';
import { memberForm, removalForm } from './member-forms.ts';
import type { MemberLevel } from './member-level.ts';
import { showMembers, submitMember } from './members-page.ts';

const organizationLevel: MemberLevel<{ orgID: string }, Organization> = {
  noun: 'organization',
  read: readOrganization,
  list: (visit, { id: orgID }, query) => visit.read(ofOrganization.list, { params: { orgID }, query }),
  get: (visit, { id: orgID }, userID) => visit.read(ofOrganization.get, { params: { orgID, userID } }),
  set: (visit, { id: orgID }, userID, body) => visit.run(ofOrganization.set, { params: { orgID, userID }, body }),
  remove: (visit, { id: orgID }, userID) => visit.run(ofOrganization.remove, { params: { orgID, userID } }),
  roles: organizationRoleChoices,
  personField: async () => ({
    name: 'user_id',
    label: 'Person or service account',
    maxLength: 254,
    hint: 'The id of a user who shares an organization with you, or of a service account that you see. Those who manage users may also type an e-mail address.',
  }),
  findPerson: (visit, { id: orgID }, typed) =>
    findUserId(visit, { orgID, field: 'user_id', typed: typed['user_id'] ?? '' }),
  crumbs: organizationCrumbs,
  path: ({ id: orgID }, query) => pagePath(pages.organizationMembers, { orgID }, query),
  memberPath: ({ id: orgID }, userID) => pagePath(pages.organizationMember, { orgID, userID }),
  removalPath: ({ id: orgID }, userID) => pagePath(pages.removeOrganizationMember, { orgID, userID }),
  pathAfterLeaving: pagePath(pages.organizations),
  page: (visit, organization, content) => organizationPage(visit, organization, 'members', { content }),
  removal:
    'The memberships in all teams of the organization end as well, and open invitations that this member sent are revoked. Runs, comments and reviews stay as they are.',
};

const teamLevel: MemberLevel<{ orgID: string; id: string }, TeamSubject> = {
  noun: 'team',
  read: readTeam,
  list: (visit, team, query) => visit.read(ofTeam.list, { params: teamParams(team), query }),
  get: (visit, team, userID) => visit.read(ofTeam.get, { params: { ...teamParams(team), userID } }),
  set: (visit, team, userID, body) => visit.run(ofTeam.set, { params: { ...teamParams(team), userID }, body }),
  remove: (visit, team, userID) => visit.run(ofTeam.remove, { params: { ...teamParams(team), userID } }),
  roles: teamRoleChoices,
  personField: async (visit, team) => ({
    name: 'user_id',
    label: 'Member of the organization',
    kind: 'select',
    choices: await readJoiners(visit, team),
  }),
  findPerson: async (_visit, _team, typed) => typed['user_id'] ?? '',
  crumbs: teamCrumbs,
  path: (team, query) => pagePath(pages.teamMembers, teamParams(team), query),
  memberPath: (team, userID) => pagePath(pages.teamMember, { ...teamParams(team), userID }),
  removalPath: (team, userID) => pagePath(pages.removeTeamMember, { ...teamParams(team), userID }),
  pathAfterLeaving: pagePath(pages.organizations),
  page: (visit, team, content) => teamPage(visit, team, 'members', { content }),
  removal:
    'The membership of the organization stays. Open invitations into the team that this member sent are revoked. Runs, comments and reviews stay as they are.',
};

/** Those of the organization who are not in the team yet: the newest 200 of each. */
async function readJoiners(visit: Visit, team: TeamSubject) {
  const query = { limit: '200' };
  const [inOrganization, inTeam] = await Promise.all([
    visit.read(ofOrganization.list, { params: { orgID: team.organization_id }, query }),
    visit.read(ofTeam.list, { params: teamParams(team), query }),
  ]);
  const present = new Set(inTeam.members.map(({ user_id: id }) => id));
  return inOrganization.members
    .filter(({ user_id: id }) => !present.has(id))
    .map(({ user_id: value, name, email }) => ({
      value,
      label: email === null ? `${name} (service account)` : `${name}, ${email}`,
    }));
}

/** Adds the pages of the members of organizations and teams. */
export function registerMemberPages(addPage: AddPage): void {
  addPage('GET', pages.organizationMembers, (visit) => showMembers(organizationLevel, visit));
  addPage('POST', pages.organizationMembers, (visit) => submitMember(organizationLevel, visit));
  addFormPage(addPage, pages.organizationMember, memberForm(organizationLevel));
  addFormPage(addPage, pages.removeOrganizationMember, removalForm(organizationLevel));
  addPage('GET', pages.teamMembers, (visit) => showMembers(teamLevel, visit));
  addPage('POST', pages.teamMembers, (visit) => submitMember(teamLevel, visit));
  addFormPage(addPage, pages.teamMember, memberForm(teamLevel));
  addFormPage(addPage, pages.removeTeamMember, removalForm(teamLevel));
}
