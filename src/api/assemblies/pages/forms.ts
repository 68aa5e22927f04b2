import { keepAllowedTeams } from '#api/tenancy/pages/allowed-owners.ts';
import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { readTeamChoices } from '#api/tenancy/pages/team-choices.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderBlockers } from '#api/tenancy/pages/views.ts';
import { readFields } from '#api/web/forms/body-fields.ts';
import { type FormPageDeclaration, formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { isTerminal, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { assemblyBody } from '../bodies.ts';
import { archive, create, remove, unarchive, update } from '../operations.ts';
import { listRuns } from '../run-operations.ts';
import { type AssemblySubject, assemblyCrumbs, assemblyPath, readAssembly } from './views.ts';

const unfinished = runStatuses.filter((status) => !isTerminal(status));

const archiving: ArchivingForms<{ id: string }, AssemblySubject> = {
  noun: 'assembly',
  read: readAssembly,
  operations: { archive, unarchive, remove },
  params: ({ id }) => ({ id }),
  crumbs: assemblyCrumbs,
  path: assemblyPath,
  pathAfterDeletion: () => pagePath(pages.assemblies, {}, { done: 'deleted' }),
  isNameTyped: true,
  archiving:
    'You cannot change, publish or run an archived assembly. Current runs finish as usual. Everything stays readable, ' +
    'and you can unarchive it later.',
  unarchiving: 'Its draft can be changed and published again, and it can be run.',
  deletion: async ({ id }, visit) => {
    const query = { status: unfinished, limit: '50' };
    const { assembly_runs: runs, next_cursor: next } = await visit.read(listRuns, { params: { id }, query });
    return html`<p>The assembly and its draft are deleted permanently, and its slug becomes available again. Its runs and what they deployed are kept, but the assembly can no longer destroy it: destroy it first if you no longer need it.</p>
${renderBlockers(
  'These runs must end first:',
  runs.map((run) => ({
    label: `Run of version ${run.version}, …${run.id.slice(-6)}`,
    path: pagePath(pages.assemblyRun, { id, runID: run.id }),
  })),
  next !== null,
)}`;
  },
};

const createForm: FormPageDeclaration<unknown, null> = {
  read: async () => null,
  describe: async (_subject, visit) => ({
    title: 'New assembly',
    crumbs: [{ label: 'Assemblies', path: pagePath(pages.assemblies) }],
    lead: 'An assembly combines templates into one graph. You write its draft next.',
    fields: [
      {
        name: 'team_id',
        label: 'Team',
        kind: 'select',
        ...(await keepAllowedTeams(visit, create, await readTeamChoices(visit))),
        value: visit.scope.teamId,
        hint: 'The team that owns it. Its members can see and run it.',
      },
      ...nameFields(undefined, assemblyBody),
    ],
    submit: 'Create assembly',
    cancel: pagePath(pages.assemblies),
    refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit))).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const { id } = await visit.run(create, { body: toBody(typed) });
    return pagePath(pages.assemblyDraft, { id }, { done: 'created' });
  },
};

const editForm: FormPageDeclaration<{ id: string }, AssemblySubject> = {
  read: readAssembly,
  describe: (assembly) => ({
    title: `Edit ${assembly.name}`,
    crumbs: assemblyCrumbs(assembly),
    fields: [...nameFields(assembly, assemblyBody), revisionField(assembly)],
    submit: 'Save changes',
    cancel: assemblyPath(assembly),
    refusal: refusalOf(assembly.actions, 'update'),
  }),
  carryOut: async (assembly, typed, visit) => {
    const body = { ...toBody(typed), ...readFields(assemblyBody, typed) };
    await visit.run(update, { params: { id: assembly.id }, body });
    return assemblyPath(assembly, 'saved');
  },
};

/** The forms that make, change, archive and delete assemblies. */
export const assemblyForms = [
  formPage(pages.newAssembly, createForm),
  formPage(pages.editAssembly, editForm),
  ...archivingForms(
    { archive: pages.archiveAssembly, unarchive: pages.unarchiveAssembly, remove: pages.deleteAssembly },
    archiving,
  ),
];
