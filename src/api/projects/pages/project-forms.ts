import { list as listEnvironments } from '#api/environments/operations.ts';
import { keepAllowedTeams, keepTeams } from '#api/tenancy/pages/allowed-owners.ts';
import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { readTeamChoices } from '#api/tenancy/pages/team-choices.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderBlockers } from '#api/tenancy/pages/views.ts';
import { readFields } from '#api/web/forms/body-fields.ts';
import { without } from '#api/web/forms/fields/choices.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { requireTypedName, revisionField, toBody, typedNameField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { mayTakeProject } from '#domain/projects/transfer.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { projectBody } from '../bodies.ts';
import { archive, create, remove, transfer, unarchive, update } from '../operations.ts';
import { type ProjectSubject, projectCrumbs, projectForm, projectPath, readProject } from './project-frame.ts';

const archiving: ArchivingForms<{ id: string }, ProjectSubject> = {
  noun: 'project',
  read: readProject,
  operations: { archive, unarchive, remove },
  params: ({ id }) => ({ id }),
  crumbs: projectCrumbs,
  path: projectPath,
  pathAfterDeletion: () => pagePath(pages.projects, {}, { done: 'deleted' }),
  isNameTyped: true,
  archiving:
    'No run starts in an archived project, and nothing in it can be changed or added. Instances must not hold resources any more. Everything ' +
    'stays readable, and the slug stays taken. You can unarchive it later.',
  unarchiving: 'Runs can start again, and everything in it can be changed.',
  deletion: async ({ id }, visit) => {
    const lists = await Promise.all(
      ['false', 'true'].map((archived) =>
        visit.read(listEnvironments, { query: { project_id: id, archived, limit: '200' } }),
      ),
    );
    const environments = lists.flatMap((page) => page.environments);
    return html`<p>The project is deleted permanently, and its slug becomes available again. Records of finished runs and the audit are kept.</p>
${renderBlockers(
  'These environments must be deleted first:',
  environments.map((each) => ({ label: each.name, path: pagePath(pages.environment, { id: each.id }) })),
  lists.some((page) => page.next_cursor !== null),
)}`;
  },
};

const transferForm = projectForm(pages.transferProject, 'transfer', {
  describe: async (project, visit) => ({
    title: `Transfer ${project.name}`,
    lead: html`<p>The project moves with its environments, their instances, secrets and runs: from then on the other team reads and changes all of
that, and sets its approval policies. Runs must have ended first.</p>`,
    fields: [
      {
        name: 'team_id',
        label: 'To',
        kind: 'select',
        ...(await readDestinations(project, visit)),
        hint: 'The teams to which you may take it.',
      },
      typedNameField(project.name),
      revisionField(project),
    ],
    submit: 'Transfer project',
    tone: 'danger',
  }),
  carryOut: async (project, typed, visit) => {
    visit.collect(() => requireTypedName(typed, project.name));
    await visit.run(transfer, { params: { id: project.id }, body: { team_id: typed['team_id'] } });
    return projectPath(project, 'transferred');
  },
});

/** The other teams to which the visitor may transfer the project. */
async function readDestinations({ team_id: teamId }: ProjectSubject, visit: Visit<unknown>) {
  const names = await readNames(visit.em, { teams: [teamId] });
  const owner = { teamId, organizationId: names.get(teamId)?.organizationId ?? null };
  const others = without(teamId, await readTeamChoices(visit));
  return keepTeams(visit, others, (destination) => mayTakeProject(visit.principal, owner, destination));
}

/** The forms that make, change, archive, transfer and delete projects. */
export const projectForms = [
  formPage(pages.newProject, {
    read: async () => null,
    describe: async (_subject, visit) => ({
      title: 'New project',
      crumbs: [{ label: 'Projects', path: pagePath(pages.projects) }],
      lead: 'A project contains the environments of one product, such as a network or an application.',
      fields: [
        {
          name: 'team_id',
          label: 'Team',
          kind: 'select',
          ...(await keepAllowedTeams(visit, create, await readTeamChoices(visit))),
          value: visit.scope.teamId,
          hint: 'The team that owns it. Its members can see everything in it.',
        },
        ...nameFields(undefined, projectBody),
      ],
      submit: 'Create project',
      cancel: pagePath(pages.projects),
      refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit))).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      return projectPath(await visit.run(create, { body: toBody(typed) }), 'created');
    },
  }),
  projectForm(pages.editProject, 'update', {
    describe: (project) => ({
      title: `Edit ${project.name}`,
      fields: [...nameFields(project, projectBody), revisionField(project)],
      submit: 'Save changes',
    }),
    carryOut: async (project, typed, visit) => {
      const body = { ...toBody(typed), ...readFields(projectBody, typed) };
      await visit.run(update, { params: { id: project.id }, body });
      return projectPath(project, 'saved');
    },
  }),
  ...archivingForms(
    { archive: pages.archiveProject, unarchive: pages.unarchiveProject, remove: pages.deleteProject },
    archiving,
  ),
  transferForm,
];
