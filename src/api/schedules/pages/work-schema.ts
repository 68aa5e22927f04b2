import { list as listEnvironments } from '#api/environments/operations.ts';
import { type InheritedValues, inheritedBy, readInherited } from '#api/environments/pages/inherited.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { get as getVersion } from '#api/registry/version-operations.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { writeEdit } from '#api/web/forms/schema/edit.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import type { SchemaPart } from '#api/web/forms/schema-part.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import { html } from '#api/web/html.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readStartedVariables } from './kept-values.ts';
import type { ListedSchedule } from './schedule-view.ts';

/** The variables of the template in the form: from the sent form, the saved work, or the address. */
export async function readWorkSchema(visit: Visit, work?: ListedSchedule['work']): Promise<SchemaPart> {
  const saved = work && 'run' in work ? work.run : undefined;
  const chosen = (name: 'template_id' | 'environment_id' | 'version' | 'instance' | 'operation' | 'variables_from') =>
    sentText(visit, `work.run.${name}`) ?? saved?.[name] ?? visit.query(name) ?? '';
  const [templateId, environmentId] = await Promise.all([
    chosen('template_id') || findOnlyTemplate(visit),
    chosen('environment_id') || findOnlyEnvironment(visit),
  ]);
  const [version, inherited] = await Promise.all([
    readVersion(visit, templateId, chosen('version') || 'latest'),
    readInheritedOf(visit, environmentId),
  ]);
  const published = schemaOf(version?.spec ?? {});
  const sentOmit = sentText(visit, 'work.run.omit');
  const start = {
    ...{ templateId, environmentId, instance: chosen('instance'), operation: chosen('operation') },
    variablesFrom: chosen('variables_from'),
    omit: sentOmit === undefined ? (saved?.omit ?? []) : readWords(sentOmit),
  };
  const given = inheritedBy(inherited, published);
  const { schema, ...started } = await readStartedVariables(visit, start, { schema: published, given });
  return {
    root: planForm(schema),
    values: withoutMasks(saved?.variables),
    ...started,
    of: version ? `${templateId} ${version.version}` : '',
    lead: html`<p><button class="button button-small" type="submit" name="do" value="${writeEdit('show', '')}" formaction="${visit.request.url}#variables" data-edit data-edit-for="work.run.template_id work.run.environment_id work.run.variables_from work.run.operation">Show the fields of this template and environment</button></p>`,
    ...(!version && {
      none: templateId
        ? 'The template has no version yet: publish one before you schedule its runs.'
        : 'Choose a template: its variables appear here.',
    }),
  };
}

/** If there is only one template to choose, the form preselects it. */
async function findOnlyTemplate(visit: Visit): Promise<string> {
  const { choices, isCut } = await readRunnableTemplates(visit);
  return choices.length === 1 && !isCut ? (choices[0]?.value ?? '') : '';
}

/** The templates that a run can use: those with a version, and the one that the form has already selected. */
export async function readRunnableTemplates(visit: Visit, chosenId?: string): Promise<Choices> {
  const { templates, next_cursor: next } = await visit.read(listTemplates, { query: { limit: '200' } });
  const runnable = templates.filter(({ id, latest_version: latest }) => latest !== null || id === chosenId);
  return choicesOf(visit.em, { things: runnable, next, kind: 'template' });
}

async function findOnlyEnvironment(visit: Visit): Promise<string> {
  const { environments } = await visit.read(listEnvironments, { query: { ...scopeQuery(visit.scope), limit: '2' } });
  return environments.length === 1 ? (environments[0]?.id ?? '') : '';
}

/** The sent text of a field; undefined if the form was not sent yet. */
function sentText({ request }: Visit, name: string): string | undefined {
  const sent = (request.body as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof sent === 'string' ? sent : undefined;
}

/** The version that the schedule would run today, or the latest one if it does not exist. */
export async function readVersion(visit: Visit, id: string, wanted: string) {
  if (id === '') return null;
  const read = (version: string) => orNull(visit.read(getVersion, { params: { id, version } }));
  return (await read(wanted)) ?? (wanted === 'latest' ? null : read('latest'));
}

/**
 * The values that the environment of the work and its variable sets provide. Empty if the work has no environment, or one that the visitor
 * may not read.
 */
export async function readInheritedOf(visit: Visit, id: string): Promise<InheritedValues> {
  return (id !== '' && (await readInherited(visit, id))) || new Map();
}

/** Removes masked values, because sending a mask back would make it the value. */
export function withoutMasks(variables: Readonly<Record<string, unknown>> = {}): Record<string, JsonValue> {
  const isMask = (value: unknown) => typeof value === 'object' && value !== null && 'sensitive' in value;
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !isMask(value))) as Record<
    string,
    JsonValue
  >;
}
