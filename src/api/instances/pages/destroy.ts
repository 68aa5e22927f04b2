import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { createRun, getRun } from '#api/runs/operations.ts';
import { messageField } from '#api/runs/pages/message-field.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireTypedName, typedNameField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
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
        ...(instance.isRead ? [despiteDependents('destroy it')] : []),
        messageField(),
        typedNameField(instance.name),
      ],
      submit: 'Destroy',
      tone: 'danger',
      cancel: pagePath(pages.instance, { id: instance.id }),
      refusal: refusalOf(instance.actions, 'deploy'),
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

function describe({ name, resource_count: count, deployed, facts, environment_id: environment }: Destroyed) {
  const version = deployed
    ? html`It runs version <strong>${deployed.template_version}</strong> with the variables of the last successful deployment: ${renderRunLink(deployed.id)}.`
    : html`No run has deployed it, so the latest version of the template runs.`;
  // What commands have made is not counted.
  const held = count > 0 ? html`: <strong>${pluralize(count, 'resource')}</strong>` : null;
  return html`<p>Destroys everything that <strong class="foreign">${name}</strong> holds${held}. ${version}</p>
${renderDestroyFacts(facts, environment !== null)}`;
}
