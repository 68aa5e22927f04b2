import { describeInvitationLimit } from '#api/invitations/pages/invitation-limit.ts';
import { joinOrganizationPath, renderOutsider } from '#api/members/pages/next-step.ts';
import { get, set } from '#api/members/team-operations.ts';
import { teamParams } from '#api/teams/pages/team-frame.ts';
import { personFields, readJoiner, readOutsider } from '#api/tenancy/pages/person-fields.ts';
import { teamRoleChoices } from '#api/tenancy/pages/roles.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readSetup, type Setup } from './setup.ts';
import { describeStep, renderMade } from './steps-view.ts';

/** The step in which people join the team. */
export const peopleStep = formPage(pages.setUpTeamPeople, {
  read: readSetup,
  describe: async (setup, visit) => ({
    ...describeStep(setup, 'people', html`${describePeople(setup, visit)}${await renderSentOutsider(setup, visit)}`),
    confirmations: pages.setUpTeamPeople,
    fields: [
      ...(await personFields(visit, personOf(setup))),
      { name: 'role', label: 'Role', kind: 'radio', choices: teamRoleChoices, value: 'member' },
    ],
    submit: 'Add',
    refusal: refusalOf(setup.team.actions, 'set_members'),
  }),
  carryOut: async (setup, typed, visit) => {
    const params = teamParams(setup.team);
    const read = (userID: string) => visit.read(get, { params: { ...params, userID } });
    const { id: userID } = await readJoiner(visit, personOf(setup), typed, read);
    await visit.run(set, { params: { ...params, userID }, body: { role: typed['role'] } });
    return pagePath(pages.setUpTeamPeople, params, { done: 'member-set' });
  },
});

function personOf({ team }: Setup) {
  const organizationId = team.organization_id;
  return { name: 'user_id', label: 'Member of the organization', hint: 'A name or an e-mail address.', organizationId };
}

/** Links to the organization's members, for a person in the sent form who is not one of them. */
async function renderSentOutsider(setup: Setup, visit: Visit): Promise<Html | null> {
  const outsider = await readOutsider(visit, personOf(setup));
  if (!outsider) return null;
  const { id: team, organization_id: orgID } = setup.team;
  const { role } = Object(visit.request.body) as { readonly role?: unknown };
  const team_role = teamRoleChoices.find(({ value }) => value === role)?.value;
  const path = joinOrganizationPath(orgID, { user_id: outsider.id, team, ...(team_role && { team_role }) });
  return renderOutsider(path, outsider);
}

function describePeople({ team, members }: Setup, visit: Visit) {
  const { id, organization_id: orgID } = team;
  return html`${renderMade(
    'Members',
    members.map(({ name, role }) => html`<span class="foreign">${name}</span> (${role})`),
  )}
${describeOutsiders({ orgID, id }, describeInvitationLimit(visit, team) !== null)}`;
}

/** @param isLimited whether the visitor may invite only members of the organization */
function describeOutsiders(params: { readonly orgID: string; readonly id: string }, isLimited: boolean): Html {
  const { orgID } = params;
  if (isLimited)
    return html`<p>An admin of the organization invites people who are not in it yet, and can invite them into this team as well. Members of the organization can also join by <a href="${pagePath(pages.teamInvitations, params)}">an invitation to their e-mail address</a>.</p>`;
  return html`<p>People who are not in the organization yet join by <a href="${pagePath(pages.teamInvitations, params)}">an invitation to their e-mail address</a>, or are added to <a href="${pagePath(pages.organizationMembers, { orgID })}">the organization</a> first.</p>`;
}
