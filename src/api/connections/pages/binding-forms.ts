import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { readChosenId, refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { ConnectionName } from '#domain/registry/spec.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { formatPath } from '#domain/shared/validation/field-path.ts';
import { variablePhases } from '#domain/variables/model.ts';
import { list } from '../operations.ts';
import {
  type BindingPages,
  type BindingPlace,
  bindingPages,
  placeCrumbs,
  type ShownBindings,
  type Wanted,
} from './binding-place.ts';
import { kindWords, type ListedConnection } from './labels.ts';

const responsibility =
  'You become responsible for all bindings here: runs get the connections only while you may bind them.';

function bindForm(pages: BindingPages) {
  return formPage(pages.bind, {
    read: async (visit: Visit<{ id: string }>) => {
      const place = await pages.readPlace(visit);
      const bindings = await pages.readBindings(visit, place.id);
      return { place, bindings, usable: await readUsable(visit, place, bindings) };
    },
    describe: ({ place, bindings, usable }, visit) => ({
      title: `Bind a connection in ${place.name}`,
      crumbs: placeCrumbs(place),
      lead: `If the name is already bound, it is bound to the new connection instead. ${responsibility}`,
      fields: [...fieldsOf(bindings, usable, visit.query('name')), revisionField(bindings)],
      submit: 'Bind connection',
      cancel: pages.back(place.id),
      refusal: refusalOf(bindings.actions, 'update'),
    }),
    carryOut: async ({ place, bindings }, typed, visit) => {
      const name = (typed['name'] ?? '').trim();
      const wrongName = name === '' ? 'must be given' : ConnectionName.safeParse(name).error?.issues[0]?.message;
      if (wrongName !== undefined) visit.addProblem('name', wrongName, formatPath([name]));
      const phases = variablePhases.filter((phase) => isYes(typed[phase]));
      if (phases.length === 0) visit.addProblem('plan', 'select at least one phase', formatPath([name, 'phases']));
      const chosen = formatPath([name, 'connection_id']);
      const id = readChosenId(visit, 'connection_id', typed['connection_id'], chosen);
      const added = { connection_id: id ?? '', phases };
      await pages.replace(visit, place.id, { ...toWanted(bindings), [name]: added });
      return pages.back(place.id, 'bound');
    },
  });
}

function unbindForm(pages: BindingPages) {
  return formPage(pages.unbind, {
    read: async (visit: Visit<{ id: string; name: string }>) => {
      const place = await pages.readPlace(visit);
      const bindings = await pages.readBindings(visit, place.id);
      const { name } = visit.params;
      const binding = Object.hasOwn(bindings.connections, name) ? bindings.connections[name] : undefined;
      if (!binding) throw new HiddenResource('binding');
      return { place, bindings, name, binding };
    },
    describe: ({ place, bindings, name, binding }) => ({
      title: `Remove the binding of ${name}`,
      crumbs: placeCrumbs(place),
      lead: `Runs here no longer get the connection ${binding.connection} by this name. ${responsibility}`,
      fields: [revisionField(bindings)],
      submit: 'Remove binding',
      tone: 'danger',
      cancel: pages.back(place.id),
      refusal: refusalOf(bindings.actions, 'update'),
    }),
    carryOut: async ({ place, bindings, name }, _typed, visit) => {
      const { [name]: _removed, ...others } = toWanted(bindings);
      await pages.replace(visit, place.id, others);
      return pages.back(place.id, 'unbound');
    },
  });
}

/**
 * Converts the bindings for a request. A visitor who sees a binding without its id may not bind connections, so the operation refuses the
 * request anyway.
 */
function toWanted({ connections }: ShownBindings): Wanted {
  return Object.fromEntries(
    Object.entries(connections).flatMap(([name, { connection_id: id, phases }]) =>
      id === null ? [] : [[name, { connection_id: id, phases: [...phases] }]],
    ),
  );
}

/**
 * The connections that a project or an environment may use, as far as the visitor may see them: those of its project, its team, its
 * organization and the installation.
 */
async function readUsable(
  visit: Visit<unknown>,
  { organizationId, teamId, projectId }: BindingPlace,
  { actions }: ShownBindings,
): Promise<readonly ListedConnection[]> {
  if (refusalOf(actions, 'update') !== null) return [];
  const { connections } = await visit.read(list);
  return connections.filter(({ organization_id: organization, team_id: team, project_id: project }) => {
    if (project !== null) return project === projectId;
    return team !== null ? team === teamId : organization === null || organization === organizationId;
  });
}

/** The fields of the form. If `name` is that of a binding, they show what it binds now. */
function fieldsOf(
  { connections }: ShownBindings,
  usable: readonly ListedConnection[],
  name: string | undefined,
): FormField[] {
  const bound = name !== undefined && Object.hasOwn(connections, name) ? connections[name] : undefined;
  const phases = bound?.phases ?? variablePhases;
  return [
    {
      name: 'name',
      label: 'Name',
      hint: 'The name that templates use, such as cloud.',
      value: bound && name,
    },
    {
      name: 'connection_id',
      label: 'Connection',
      kind: 'select',
      choices: usable.map(({ id, name: label, kind }) => ({ value: id, label: `${label} (${kindWords[kind]})` })),
      value: bound?.connection_id ?? undefined,
    },
    ...variablePhases.map((phase) => checkboxField(phase, `Give it to the ${phase}`, phases.includes(phase))),
  ];
}

/** The forms that bind connections to projects and environments, and remove their bindings. */
export const bindingForms = Object.values(bindingPages).flatMap((pages) => [bindForm(pages), unbindForm(pages)]);
