import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { createRun, getRun } from '#api/runs/operations.ts';
import { messageField } from '#api/runs/pages/message-field.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireTypedName, typedNameField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { readDestroyFacts, renderDestroyFacts } from './destroy-facts.ts';
import { despiteDependents, instanceCrumbs, isDespiteDependents, readWithDependents } from './forms.ts';

/** Adds the form that destroys what an instance holds, as it is deployed. */
export function registerDestruction(addPage: AddPage): void {
  addFormPage(addPage, pages.destroyInstance, {
    read: readDestroyed,
    describe: (instance) => ({
      title: `Destroy ${instance.name}`,
      crumbs: instanceCrumbs(instance.id, instance.name),
      lead: describe(instance),
      fields: [
        ...versionField(instance),
        ...(instance.isRead ? [despiteDependents('destroy it')] : []),
        messageField(),
        typedNameField(instance.name),
      ],
      submit: 'Destroy',
      tone: 'danger',
      cancel: pagePath(pages.instance, { id: instance.id }),
      refusal: refusalOf(instance.actions, 'deploy') ?? findUnable(instance),
    }),
    carryOut: async (instance, typed, visit) => {
      requireTypedName(typed, instance.name);
      const { template_id, environment_id, name } = instance;
      const body = {
        operation: 'destroy',
        template_id,
        ...(environment_id && { environment_id }),
        instance: name,
        message: typed['message'],
        ...(typed['version'] && { version: typed['version'] }),
        ...(isDespiteDependents(typed) && { despite_dependents: true }),
      };
      const run = await visit.run(createRun, { body });
      return pagePath(pages.run, { id: run.id }, { done: 'admitted' });
    },
  });
}

type Destroyed = Awaited<ReturnType<typeof readDestroyed>>;

async function readDestroyed(visit: InstanceVisit) {
  const instance = await readWithDependents(visit);
  const { deployed_run_id: id } = instance;
  const deployed = id === null ? null : await visit.read(getRun, { params: { id }, query: {} });
  return { ...instance, deployed, facts: await readDestroyFacts(visit, { ...instance, deployed }) };
}

/** The version is asked for only where the deployed one cannot destroy. */
function versionField({ facts: { unable } }: Destroyed): FormField[] {
  if (!unable) return [];
  const choices = unable.able.map((version) => ({ value: version, label: version }));
  return [{ name: 'version', label: 'Version', kind: 'select', choices, hint: 'One that has destroy steps.' }];
}

function findUnable({ facts: { unable } }: Destroyed): string | null {
  if (!unable || unable.able.length > 0) return null;
  return `version ${unable.version} of the template has no destroy steps, and none of its newer versions has any: publish a version with destroy steps first`;
}

function describeVersion({ id, template_id: template, deployed, facts: { unable } }: Destroyed): Html {
  if (unable && unable.able.length > 0) {
    const query = { from_instance: id, operation: 'destroy', ...(unable.able[0] && { version: unable.able[0] }) };
    const form = pagePath(pages.newRun, { id: template }, query);
    return html`Version <strong>${unable.version}</strong> has no destroy steps. Choose below which version runs. If that one needs other variables, <a href="${form}">fill in the form for a run</a>.`;
  }
  return deployed
    ? html`It runs version <strong>${deployed.template_version}</strong> with the variables of the last successful deployment: ${renderRunLink(deployed.id)}.`
    : html`No run has deployed it, so the latest version of the template runs.`;
}

function describe(instance: Destroyed) {
  const { name, resource_count: count, facts, environment_id: environment } = instance;
  // What commands have made is not counted.
  const held = count > 0 ? html`: <strong>${pluralize(count, 'resource')}</strong>` : null;
  return html`<p>Destroys everything that <strong class="foreign">${name}</strong> holds${held}. ${describeVersion(instance)}</p>
${renderDestroyFacts(facts, environment !== null)}`;
}
