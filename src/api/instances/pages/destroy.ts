import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { createRun, getRun } from '#api/runs/operations.ts';
import { messageField } from '#api/runs/pages/message-field.ts';
import { noneChoice } from '#api/tenancy/pages/environment-choices.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { refusalOf, requireTypedName, typedNameField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { readDestroyFacts, renderDestroyFacts } from './destroy-facts.ts';
import { despiteDependents, instanceForm, isDespiteDependents, readWithDependents } from './forms.ts';

/** The form that destroys an instance as it is deployed. It has no fields for variables; the form for a run has them. */
export const destructionForm = instanceForm(pages.destroyInstance, 'deploy', {
  read: readDestroyed,
  describe: (instance) => ({
    title: `Destroy ${instance.name}`,
    lead: describe(instance),
    fields: [
      ...versionField(instance),
      ...(instance.isRead ? [despiteDependents('destroy it')] : []),
      messageField(),
      typedNameField(instance.name),
    ],
    submit: 'Destroy',
    tone: 'danger',
    refusal: refusalOf(instance.actions, 'deploy') ?? findUnable(instance) ?? findIncomplete(instance),
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

type Destroyed = Awaited<ReturnType<typeof readDestroyed>>;

async function readDestroyed(visit: InstanceVisit) {
  const instance = await readWithDependents(visit);
  const { deployed_run_id: id } = instance;
  const deployed = id === null ? null : await visit.read(getRun, { params: { id }, query: {} });
  return { ...instance, deployed, facts: await readDestroyFacts(visit, { ...instance, deployed }) };
}

/** The field for the version. It exists only if the deployed version cannot destroy. */
function versionField({ facts: { unable } }: Destroyed): FormField[] {
  if (!unable) return [];
  const choices = unable.able.map((version) => ({ value: version, label: version }));
  return [{ name: 'version', label: 'Version', kind: 'select', choices, hint: 'One that has destroy steps.' }];
}

function findUnable({ facts: { unable } }: Destroyed): string | null {
  if (!unable || unable.able.length > 0) return null;
  return `version ${unable.version} of the template has no destroy steps, and none of its newer versions has any: publish a version with destroy steps first`;
}

/**
 * Why the form is not enough, because the destroy needs variables. If the version cannot destroy, null: another version, which may need
 * other variables, replaces it.
 */
function findIncomplete({ facts: { unable, missing } }: Destroyed): string | null {
  if (unable || missing.length === 0) return null;
  return 'the destroy needs variables that this form has no fields for: fill in the form for a run, or add them to the variables of the environment';
}

/** A link to the form with fields for all variables of the version that destroys. */
function linkToRunForm({ id, name, template_id, environment_id, deployed, facts: { unable } }: Destroyed): Html {
  const version = unable?.able[0];
  const subject = deployed ? { from_instance: id } : { environment_id: environment_id ?? noneChoice, instance: name };
  const query = { ...subject, operation: 'destroy', ...(version && { version }) };
  return html`<a href="${pagePath(pages.newRun, { id: template_id }, query)}">fill in the form for a run</a>`;
}

function describeVersion(instance: Destroyed): Html {
  const { unable, missing } = instance.facts;
  const { deployed } = instance;
  if (unable && unable.able.length > 0)
    return html`Version <strong>${unable.version}</strong> has no destroy steps. Choose below which version runs. If that one needs other variables, ${linkToRunForm(instance)}.`;
  if (deployed)
    return html`It runs version <strong>${deployed.template_version}</strong> with the variables of the last successful deployment: ${renderRunLink(deployed.id)}.`;
  const latest = 'No run has deployed it, so the latest version of the template runs.';
  if (missing.length === 0) return html`${latest}`;
  const names = missing.map((name, index) => html`${index > 0 ? ', ' : null}<code class="foreign">${name}</code>`);
  return html`${latest} This version needs ${missing.length === 1 ? 'the variable' : 'the variables'} ${names}, which nothing gives: ${linkToRunForm(instance)}.`;
}

function describe(instance: Destroyed) {
  const { name, resource_count: count, facts, environment_id: environment } = instance;
  // Resources of commands are not counted.
  const held = count > 0 ? html`: <strong>${pluralize(count, 'resource')}</strong>` : null;
  return html`<p>Destroys everything that <strong class="foreign">${name}</strong> holds${held}. ${describeVersion(instance)}</p>
${renderDestroyFacts(facts, environment !== null)}`;
}
