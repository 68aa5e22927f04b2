import { list as listInstances } from '#api/instances/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { keepAllowed } from '#api/tenancy/pages/allowed-owners.ts';
import { readEnvironmentChoices } from '#api/tenancy/pages/environment-choices.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { choicesOf, type NamedThing } from '#api/web/forms/fields/named-things.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { type FormPageDeclaration, formPage } from '#api/web/forms/form-page.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { readTimes, timeFields } from '#api/web/forms/schedule-times.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { IgnoreRule } from '#domain/drift/monitors/ignore-rules.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { create, remove, update } from '../monitor-operations.ts';
import { getIgnoreRules, replaceIgnoreRules, scan } from '../scan-operations.ts';
import { driftCrumb, monitorForm, readMonitor } from './views.ts';

const everySixHours = { every: '6h' };

const newForm: FormPageDeclaration<unknown, Awaited<ReturnType<typeof readChoices>>> = {
  read: readChoices,
  describe: async ({ instances, environments, templates }, visit) => ({
    title: 'New drift monitor',
    crumbs: [driftCrumb],
    lead: 'Choose one: an instance, or an environment or a template, whose deployed instances then inherit the monitor.',
    fields: [
      { name: 'instance_id', label: 'Instance', ...instances, value: visit.query('instance_id') },
      {
        name: 'environment_id',
        label: 'Or all of an environment',
        ...environments,
        value: visit.query('environment_id'),
      },
      { name: 'template_id', label: 'Or all of a template', ...templates, value: visit.query('template_id') },
      ...timeFields(everySixHours),
    ],
    submit: 'Create monitor',
    cancel: pagePath(pages.drift, {}, { tab: 'monitors' }),
    refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit))).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const { instance_id, environment_id, template_id } = typed;
    const place = {
      ...(instance_id && { instance_id }),
      ...(environment_id && { environment_id }),
      ...(template_id && { template_id }),
    };
    const body = { ...place, schedule: readTimes(visit, typed) };
    const { id, scan_refusal: refusal } = await visit.run(create, { body });
    return pagePath(pages.driftMonitor, { id }, { done: refusal ? 'created_unscannable' : 'created' });
  },
};

async function readChoices(visit: Visit) {
  const query = { limit: '200' };
  const { em } = visit;
  const [instances, environments, templates] = await Promise.all([
    readInstances(visit),
    readEnvironmentChoices(visit, { alsoId: visit.query('environment_id'), operation: create }),
    visit.read(listTemplates, { query }),
  ]);
  return {
    instances: withNone(
      await choicesOf(em, {
        things: await withPlaces(visit, await keepAllowed(visit, create, instances.instances)),
        next: instances.next_cursor,
        kind: 'instance',
      }),
    ),
    environments: withNone(environments),
    templates: withNone(
      await choicesOf(em, {
        things: await keepAllowed(visit, create, templates.templates),
        next: templates.next_cursor,
        kind: 'template',
      }),
    ),
  };
}

type Instances = Awaited<ReturnType<typeof readInstances>>['instances'];
const readInstances = (visit: Visit) => visit.read(listInstances, { query: { limit: '200' } });

async function withPlaces({ em }: Visit, instances: Instances): Promise<NamedThing[]> {
  const names = await readNames(em, { instances: instances.map((each) => each.id) });
  const things = instances.map(({ id, name, team_id }) => {
    const { environment = null, project = null } = names.get(id) ?? {};
    return environment === null
      ? { id, before: '', name, team_id }
      : { id, before: `${name} in `, name: environment, project, team_id };
  });
  return things.sort((one, other) => (one.before + one.name).localeCompare(other.before + other.name));
}

function withNone({ choices, ...rest }: Choices) {
  return { ...rest, kind: 'select' as const, isOptional: true, choices: [{ value: '', label: 'None' }, ...choices] };
}

const editForm = monitorForm(pages.editDriftMonitor, 'update', {
  describe: (monitor) => ({
    title: `Edit the monitor of ${monitor.name}`,
    lead: monitor.inherited_from
      ? 'Once you change it, it no longer follows the monitor that it was inherited from.'
      : null,
    fields: [
      ...timeFields(monitor.schedule),
      checkboxField('enabled', 'Scan on the schedule', monitor.enabled),
      revisionField(monitor),
    ],
    submit: 'Save changes',
  }),
  carryOut: async ({ id }, { enabled, ...typed }, visit) => {
    const body = { schedule: readTimes(visit, typed), enabled: isYes(enabled) };
    await visit.run(update, { params: { id }, body });
    return pagePath(pages.driftMonitor, { id }, { done: 'saved' });
  },
});

const deleteForm = monitorForm(pages.deleteDriftMonitor, 'delete', {
  describe: (monitor) => ({
    title: `Delete the monitor of ${monitor.name}`,
    lead: 'The monitor is deleted, with those that inherit from it, and their findings are no longer listed. The runs of its scans stay.',
    submit: 'Delete',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.drift, {}, { tab: 'monitors', done: 'deleted' });
  },
});

const scanForm = monitorForm(pages.scanForDrift, 'scan', {
  describe: (monitor) => ({
    title: `Scan ${monitor.name} now`,
    lead: 'A run checks whether everything is still as deployed. It changes nothing, and stops if another run needs the instance.',
    submit: 'Scan now',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(scan, { params: { id } });
    return pagePath(pages.driftMonitor, { id }, { done: 'scanning' });
  },
});

const rulesForm = monitorForm(pages.driftIgnoreRules, 'set_ignore_rules', {
  read: async (visit) => {
    const { rules } = await visit.read(getIgnoreRules, { params: { id: visit.params.id } });
    return { ...(await readMonitor(visit)), rules: textOf(rules) };
  },
  describe: (monitor) => ({
    title: `Ignore rules of ${monitor.name}`,
    lead: 'The next scan ignores what matches these rules and resolves its findings. An asterisk matches any characters.',
    fields: [
      {
        name: 'rules',
        label: 'Rules',
        kind: 'code',
        value: monitor.rules,
        isOptional: true,
        hint: 'One rule per line: an address, a space and an attribute, such as aws_instance.* tags.*. An address alone ignores the whole resource.',
      },
      revisionField(monitor),
    ],
    submit: 'Save rules',
    cancel: pagePath(pages.driftMonitor, { id: monitor.id }, { tab: 'rules' }),
  }),
  carryOut: async ({ id }, { rules = '' }, visit) => {
    await visit.run(replaceIgnoreRules, { params: { id }, body: { rules: rulesOf(rules) } });
    return pagePath(pages.driftMonitor, { id }, { tab: 'rules', done: 'saved' });
  },
});

/** Rules as text: one a line, with the address, a space and the attribute. */
function textOf(rules: readonly IgnoreRule[]): string {
  return rules.map(({ address, path }) => (path === '*' ? address : `${address} ${path}`)).join('\n');
}

/** Reads such lines. The first space outside of brackets ends the address. Keys of resources are in brackets, and may contain spaces. */
function rulesOf(text: string): IgnoreRule[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(toRule);
}

function toRule(line: string): IgnoreRule {
  const at = findGap(line);
  if (at === -1) return { address: line, path: '*' };
  return { address: line.slice(0, at).trim(), path: line.slice(at).trim() };
}

/** The index of that space; -1 if there is none. */
function findGap(line: string): number {
  let depth = 0;
  for (const [index, sign] of [...line].entries()) {
    if (sign === '[') depth += 1;
    if (sign === ']') depth -= 1;
    if (sign === ' ' && depth <= 0) return index;
  }
  return -1;
}

/** The forms that make, change and delete monitors, scan now, and change ignore rules. */
export const monitorForms = [formPage(pages.newDriftMonitor, newForm), editForm, deleteForm, scanForm, rulesForm];
