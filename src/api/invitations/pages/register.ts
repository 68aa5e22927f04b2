import { type Organization, organizationLevel } from '#api/organizations/pages/organization-frame.ts';
import { list as listTeams } from '#api/teams/operations.ts';
import { renderSetupLink } from '#api/teams/pages/setup-link.ts';
import { type TeamSubject, teamLevel, teamParams } from '#api/teams/pages/team-frame.ts';
import { organizationRoleChoices, teamRoleChoices } from '#api/tenancy/pages/roles.ts';
import { page } from '#api/web/declarations/area.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { linkTokenPage } from '#api/web/forms/link-token-page.ts';
import { html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { accept } from '../operations.ts';
import * as ofOrganization from '../organization-operations.ts';
import * as ofTeam from '../team-operations.ts';
import type { InvitationLevel } from './invitation-level.ts';
import { describeInvitationLimit } from './invitation-limit.ts';
import { showInvitations, submitInvitation, submitResend, submitRevocation } from './invitations-page.ts';

const lifetimeField: FormField = {
  name: 'expires_in',
  label: 'Open for',
  kind: 'select',
  value: 'P7D',
  choices: [
    { value: 'P1D', label: '1 day' },
    { value: 'P7D', label: '7 days' },
    { value: 'P30D', label: '30 days' },
  ],
};

const organizationInvitations: InvitationLevel<{ orgID: string }, Organization> = {
  level: organizationLevel,
  list: (visit, { id: orgID }, query) => visit.read(ofOrganization.list, { params: { orgID }, query }),
  create: (visit, { id: orgID }, body) => visit.run(ofOrganization.create, { params: { orgID }, body }),
  resend: (visit, { id: orgID }, id) => visit.run(ofOrganization.resend, { params: { orgID, id } }),
  revoke: (visit, { id: orgID }, id) => visit.run(ofOrganization.revoke, { params: { orgID, id } }),
  fields: async (visit, { id: orgID }) => {
    const { teams, next_cursor: next } = await visit.read(listTeams, { params: { orgID }, query: { limit: '200' } });
    const offered = await choicesOf(visit.em, { things: teams, next, kind: 'team' });
    return [
      {
        name: 'role',
        label: 'Role in the organization',
        kind: 'radio',
        choices: organizationRoleChoices,
        value: 'member',
      },
      {
        name: 'team_id',
        label: 'Team',
        kind: 'select',
        isOptional: true,
        ...offered,
        choices: [{ value: '', label: 'no team' }, ...offered.choices],
      },
      {
        name: 'team_role',
        label: 'Role in the team',
        kind: 'select',
        isOptional: true,
        choices: [{ value: '', label: 'member, if a team is chosen' }, ...teamRoleChoices],
      },
      lifetimeField,
    ];
  },
  resendPath: ({ id: orgID }, id) => pagePath(pages.resendOrganizationInvitation, { orgID, id }),
  revokePath: ({ id: orgID }, id) => pagePath(pages.revokeOrganizationInvitation, { orgID, id }),
};

const teamInvitations: InvitationLevel<{ orgID: string; id: string }, TeamSubject> = {
  level: teamLevel,
  list: (visit, team, query) => visit.read(ofTeam.list, { params: teamParams(team), query }),
  create: (visit, team, body) => visit.run(ofTeam.create, { params: teamParams(team), body }),
  resend: (visit, team, invitationID) => visit.run(ofTeam.resend, { params: { ...teamParams(team), invitationID } }),
  revoke: (visit, team, invitationID) => visit.run(ofTeam.revoke, { params: { ...teamParams(team), invitationID } }),
  renderNotice: renderSetupLink,
  describeLimit: describeInvitationLimit,
  fields: async () => [
    { name: 'role', label: 'Role in the team', kind: 'radio', choices: teamRoleChoices, value: 'member' },
    lifetimeField,
  ],
  resendPath: (team, invitationID) => pagePath(pages.resendTeamInvitation, { ...teamParams(team), invitationID }),
  revokePath: (team, invitationID) => pagePath(pages.revokeTeamInvitation, { ...teamParams(team), invitationID }),
};

/** The page where the invited person accepts. */
const acceptanceForm = linkTokenPage(pages.acceptInvitation, {
  title: 'Accept an invitation',
  signIn:
    'Sign in first, with the account of the invited e-mail address. If you have no account, ask an administrator for one.',
  lead: ({ principal }) =>
    html`You join as <strong class="foreign">${principal.name}</strong>, <span class="foreign">${principal.email ?? ''}</span>. The invitation must be for this address. Other members will see your name and address.`,
  hint: 'It is at the end of the link that you were given.',
  submit: 'Accept invitation',
  cancel: pagePath(pages.home),
  wrongToken: 'the invitation is not for this account, was used or revoked, or has expired',
  carryOut: acceptInvitation,
});

async function acceptInvitation(visit: Visit, token: string): Promise<LocalPath> {
  const accepted = await visit.run(accept, { body: { token } });
  const done = { done: 'joined' } as const;
  if (!accepted) return pagePath(pages.organizations);
  const { organization_id: orgID, team_id: id } = accepted;
  return id === null ? pagePath(pages.organization, { orgID }, done) : pagePath(pages.team, { orgID, id }, done);
}

/** The pages of invitations: those of an owner, and the page on which the invited person accepts. */
export const invitationPages = [
  acceptanceForm,
  page('GET', pages.organizationInvitations, (visit) => showInvitations(organizationInvitations, visit)),
  page('POST', pages.organizationInvitations, (visit) => submitInvitation(organizationInvitations, visit)),
  page('POST', pages.resendOrganizationInvitation, (visit) =>
    submitResend(organizationInvitations, visit, visit.params.id),
  ),
  page('POST', pages.revokeOrganizationInvitation, (visit) =>
    submitRevocation(organizationInvitations, visit, visit.params.id),
  ),
  page('GET', pages.teamInvitations, (visit) => showInvitations(teamInvitations, visit)),
  page('POST', pages.teamInvitations, (visit) => submitInvitation(teamInvitations, visit)),
  page('POST', pages.resendTeamInvitation, (visit) => submitResend(teamInvitations, visit, visit.params.invitationID)),
  page('POST', pages.revokeTeamInvitation, (visit) =>
    submitRevocation(teamInvitations, visit, visit.params.invitationID),
  ),
];
