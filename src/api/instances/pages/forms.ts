import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { addTeamProblem } from '#api/environments/pages/team-problem.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { keepAllowed } from '#api/tenancy/pages/allowed-owners.ts';
import {
  noneChoice,
  optionalEnvironmentField,
  readEnvironmentChoices,
} from '#api/tenancy/pages/environment-choices.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { isYes, yesIf } from '#api/web/forms/fields/yes.ts';
import { type FormPageDeclaration, formPage } from '#api/web/forms/form-page.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readTool, toolFields } from '#api/workers/tool-fields.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { findOfferedTools } from '#domain/workers/offered-tools.ts';
import { getDependencies } from '../dependency-operations.ts';
import { create, get, remove, unlock } from '../operations.ts';

const crumbs = [{ label: 'Instances', path: pagePath(pages.instances) }];

/** Reads the instance, and whether others were deployed with its outputs. */
export async function readWithDependents(visit: InstanceVisit) {
  const { dependents, other_dependents: others } = await visit.read(getDependencies, { params: visit.params });
  return { ...(await readInstance(visit)), isRead: dependents.length + others > 0 };
}

/** The confirmation to continue although other instances were deployed with the outputs. @param what the action, such as "delete it" */
export function despiteDependents(what: string): FormField {
  return {
    name: 'despite_dependents',
    label: 'Instances that use its outputs',
    kind: 'select',
    choices: [
      { value: '', label: `Do not ${what} while other instances use its outputs` },
      { value: yesIf(true), label: 'Continue: they keep the values that they have' },
    ],
  };
}

export const isDespiteDependents = (typed: Readonly<Record<string, string>>) => isYes(typed['despite_dependents']);

const environmentHint =
  'Provides variables, secrets, connections and an approval policy to all runs of the instance. An instance outside any environment gets none of them, and cannot be moved into one later.';

/** The form for an instance that adopts existing resources. */
const newInstanceForm: FormPageDeclaration<unknown, Awaited<ReturnType<typeof readChoices>>> = {
  read: readChoices,
  describe: async ({ templates, environments, offered }, visit) => ({
    title: 'Import existing infrastructure',
    crumbs,
    below:
      'Creates an instance without running anything, so that you can import the state of what exists. You need no instance before a run: the run creates it.',
    fields: [
      {
        name: 'template_id',
        label: 'Template',
        kind: 'select',
        ...templates,
        value: visit.query('template_id'),
      },
      { ...optionalEnvironmentField(environments, visit.query('environment_id')), hint: environmentHint },
      { name: 'name', label: 'Name', hint: 'The name that runs use, such as network.' },
      ...toolFields(offered, 'As the template and the environment say'),
    ],
    submit: 'Create instance',
    cancel: pagePath(pages.instances),
    refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit)), installationOwnership).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const { template_id, environment_id, name } = typed;
    const tool = visit.collect(() => readTool(typed));
    await addTeamProblem(visit, { template: template_id, environment: environment_id, field: 'environment_id' });
    if (!environment_id) visit.addProblem('environment_id', 'Choose an environment, or none');
    const place = environment_id === noneChoice ? {} : { environment_id };
    const body = { template_id, name, ...place, ...(tool && { tool }) };
    const { id } = await visit.run(create, { body });
    return pagePath(pages.instance, { id }, { done: 'created' });
  },
};

async function readChoices(visit: Visit) {
  const [templates, environments, offered] = await Promise.all([
    visit.read(listTemplates, { query: { limit: '200' } }),
    readEnvironmentChoices(visit, { alsoId: visit.query('environment_id'), operation: create }),
    findOfferedTools(visit.em, { teamId: null, environmentId: null }),
  ]);
  return {
    offered,
    templates: await choicesOf(visit.em, {
      things: await keepUsable(visit, templates.templates),
      next: templates.next_cursor,
      kind: 'template',
    }),
    environments,
  };
}

/** Filters templates. One of the installation serves every team, so for it the environment decides. */
async function keepUsable<Template extends { readonly team_id: string | null }>(
  visit: Visit,
  templates: readonly Template[],
): Promise<Template[]> {
  const ofTeams = new Set(
    await keepAllowed(
      visit,
      create,
      templates.filter(({ team_id: id }) => id !== null),
    ),
  );
  return templates.filter((template) => template.team_id === null || ofTeams.has(template));
}

export const readInstance = (visit: InstanceVisit) => visit.read(get, { params: visit.params });

export function instanceCrumbs(id: string, name: string) {
  return [...crumbs, { label: name, path: pagePath(pages.instance, { id }) }];
}

/** Declares a form about an instance. */
export const instanceForm = formsAbout({
  read: readInstance,
  crumbs: ({ id, name }) => instanceCrumbs(id, name),
  path: ({ id }) => pagePath(pages.instance, { id }),
});

/** The forms that make an instance, unlock it and delete it. */
export const instanceForms = [
  formPage(pages.newInstance, newInstanceForm),
  instanceForm(pages.unlockInstance, 'unlock', {
    describe: ({ name }) => ({
      title: `Unlock ${name}`,
      lead: 'Frees an instance that is locked although nothing works on it. You cannot unlock it while a run works on it. The audit log records who unlocked it.',
      submit: 'Unlock',
      tone: 'danger',
    }),
    carryOut: async ({ id }, _typed, visit) => {
      await visit.run(unlock, { params: { id } });
      return pagePath(pages.instance, { id }, { done: 'unlocked' });
    },
  }),
  instanceForm(pages.deleteInstance, 'delete', {
    read: readWithDependents,
    describe: ({ name, isRead }) => ({
      title: `Delete ${name}`,
      lead: 'Deletes the instance and frees its name. Its runs and their records stay. An instance that holds resources cannot be deleted.',
      fields: isRead ? [despiteDependents('delete it')] : [],
      submit: 'Delete',
      tone: 'danger',
    }),
    carryOut: async ({ id }, typed, visit) => {
      await visit.run(remove, { params: { id }, body: { despite_dependents: isDespiteDependents(typed) } });
      return pagePath(pages.instances);
    },
  }),
];
