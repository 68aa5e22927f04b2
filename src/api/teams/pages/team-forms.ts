import { list as listOrganizations } from '#api/organizations/operations.ts';
import { organizationCrumbs, organizationPath, readOrganization } from '#api/organizations/pages/organization-frame.ts';
import { list as listProjects } from '#api/projects/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { list as listAccounts } from '#api/service-accounts/operations.ts';
import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { renderBlockers } from '#api/tenancy/pages/views.ts';
import { without } from '#api/web/forms/fields/choices.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { refusalOf, requireTypedName, revisionField, toBody, typedNameField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { mayTakeTeam } from '#domain/teams/transfer.ts';
import { archive, create, remove, transfer, unarchive } from '../operations.ts';
import { readTeam, type TeamSubject, type TeamVisit, teamCrumbs, teamParams, teamPath } from './team-frame.ts';

const max = '200';

/** Says what is deleted with the team, and links to what must be removed before. */
async function describeTeamDeletion({ id }: TeamSubject, visit: TeamVisit): Promise<Html> {
  const query = { team_id: id, limit: max };
  const [active, archived, templates, accounts] = await Promise.all([
    visit.read(listProjects, { query: { ...query, archived: 'false' } }),
    visit.read(listProjects, { query: { ...query, archived: 'true' } }),
    visit.read(listTemplates, { query }),
    readAccounts(visit, id),
  ]);
  const projects = [...active.projects, ...archived.projects];
  return html`<p>The team, its memberships, its open invitations and its archived templates are deleted permanently. Its slug becomes available again. Records of finished runs and the audit are kept.</p>
${renderBlockers(
  'These projects must be deleted or transferred first:',
  projects.map((project) => ({ label: project.name, path: pagePath(pages.project, { id: project.id }) })),
)}
${renderBlockers(
  'These templates must be archived first:',
  templates.templates.map(({ id: template, name }) => ({
    label: name,
    path: pagePath(pages.template, { id: template }),
  })),
)}
${renderBlockers(
  'These service accounts must be deleted or transferred first:',
  accounts.map((account) => ({ label: account.name, path: pagePath(pages.serviceAccount, { id: account.id }) })),
)}`;
}

/** Only owners of the team and administrators may see its accounts. Other visitors see only their number. */
async function readAccounts(visit: TeamVisit, teamId: string): Promise<readonly { id: string; name: string }[]> {
  try {
    const answer = await visit.read(listAccounts, { query: { owner_team_id: teamId, limit: max } });
    return answer.service_accounts;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'forbidden') return [];
    throw error;
  }
}

const archiving: ArchivingForms<{ orgID: string; id: string }, TeamSubject> = {
  noun: 'team',
  read: readTeam,
  operations: { archive, unarchive, remove },
  params: teamParams,
  crumbs: teamCrumbs,
  path: teamPath,
  pathAfterDeletion: ({ organization }) => organizationPath(organization, 'team-deleted'),
  isNameTyped: true,
  archiving:
    'No run starts in an archived team, and nothing in it can be changed or added. What is deployed stays deployed, and everything stays ' +
    'readable. Its slug stays taken. You can unarchive it later.',
  unarchiving:
    'Runs can start again, and everything in it can be changed. Projects that were archived separately stay archived.',
  deletion: describeTeamDeletion,
};

/** The other organizations to which the visitor may transfer the team. */
async function readDestinations(team: TeamSubject, visit: TeamVisit) {
  const { organizations, next_cursor: next } = await visit.read(listOrganizations, { query: { limit: '200' } });
  const allowed = organizations.filter(({ id }) => mayTakeTeam(visit.principal, { organizationId: id, teamId: null }));
  const choices = await choicesOf(visit.em, { things: allowed, next, kind: 'organization' });
  return without(team.organization_id, choices);
}

const teamForm = formsAbout({ read: readTeam, crumbs: teamCrumbs, path: (team) => teamPath(team) });

/** The forms that make, archive, transfer and delete teams. */
export const teamForms = [
  formPage(pages.newTeam, {
    read: readOrganization,
    describe: (organization) => ({
      title: 'New team',
      crumbs: organizationCrumbs(organization),
      lead: 'A team owns projects, environments and templates. You become its owner. The next pages help you to set it up.',
      fields: nameFields(),
      submit: 'Create team',
      cancel: organizationPath(organization),
      refusal: refusalOf(organization.actions, 'create_team'),
    }),
    carryOut: async ({ id: orgID }, typed, visit) => {
      const team = await visit.run(create, { params: { orgID }, body: toBody(typed) });
      return pagePath(pages.setUpTeamPeople, teamParams(team), { done: 'created' });
    },
  }),
  ...archivingForms(
    { archive: pages.archiveTeam, unarchive: pages.unarchiveTeam, remove: pages.deleteTeam },
    archiving,
  ),
  teamForm(pages.transferTeam, 'transfer', {
    describe: async (team, visit) => ({
      title: `Transfer ${team.name}`,
      lead: html`<p>The team moves with its projects, environments, instances and templates, and all members must be members of the other organization
already. Open invitations into the team become void.</p>`,
      fields: [
        {
          name: 'organization_id',
          label: 'To',
          kind: 'select',
          ...(await readDestinations(team, visit)),
          hint: 'The organizations to which you may take it.',
        },
        typedNameField(team.name),
        revisionField(team),
      ],
      submit: 'Transfer team',
      tone: 'danger',
    }),
    carryOut: async (team, typed, visit) => {
      visit.collect(() => requireTypedName(typed, team.name));
      const { organization_id: organizationId = '' } = typed;
      await visit.run(transfer, { params: teamParams(team), body: { organization_id: organizationId } });
      return teamPath({ ...team, organization_id: organizationId }, 'transferred');
    },
  }),
];
