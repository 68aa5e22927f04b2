import type { Instance, InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { listPlaces, readListedOwners, readPlaceFields } from '#api/tenancy/pages/place-lists.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderCopyable } from '#api/web/components/secret.ts';
import { renderTable } from '#api/web/components/table.ts';
import { refusalOf, requireAuthority, revisionField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { findInstanceOwner } from '#domain/instances/store.ts';
import { hasChanged } from '#domain/runs/references/changed-inputs.ts';
import { findSourcesById } from '#domain/runs/references/sources-store.ts';
import type { UpstreamState } from '#domain/runs/references/upstream.ts';
import { readReadableNames } from '#domain/search/search-store.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { getDependencies } from '../dependency-operations.ts';
import { getOutputs } from '../operations.ts';
import { getReaders, replaceReaders } from '../reader-operations.ts';
import { renderFollow } from './follow.ts';
import { instanceForm, readInstance } from './forms.ts';

/**
 * Shows who may read the outputs of an instance, which instances were deployed with them, and with which outputs it was itself deployed.
 */
export async function renderSharing(visit: InstanceVisit, instance: Instance): Promise<Html> {
  const [readers, dependencies] = await Promise.all([
    visit.read(getReaders, { params: visit.params }),
    visit.read(getDependencies, { params: visit.params }),
  ]);
  return html`<div class="stack">
${await renderReaders(visit, instance, readers)}
${await renderReferences(visit)}
${await renderDependents(visit, dependencies)}
${renderReads(dependencies.reads)}
${await renderFollow(visit, instance)}
</div>`;
}

const maxReferences = 100;

/** The references to its outputs, to be used in variables of other instances. */
async function renderReferences(visit: InstanceVisit): Promise<Html | null> {
  const [[source], { outputs }] = await Promise.all([
    findSourcesById(visit.em, [visit.params.id], false),
    visit.read(getOutputs, { params: visit.params }),
  ]);
  const names = Object.keys(outputs);
  if (!source || names.length === 0) return null;
  const { project, environment, name } = source;
  const shown = names.slice(0, maxReferences);
  return html`<section class="panel stack"><h2>How to use its outputs</h2>
<p>Write a reference as the value of a variable. In another project of the organization, write <code class="foreign">${project}/${environment}/${name}</code> in place of <code class="foreign">${environment}/${name}</code>.</p>
${shown.map((output, index) => renderCopyable({ id: `reference-${index}`, label: output, value: `\${instances.${environment}/${name}.outputs.${output}}` }))}
${names.length > shown.length ? html`<p class="muted">${pluralize(names.length - shown.length, 'other output')} can be used in the same way.</p>` : null}</section>`;
}

type Readers = Awaited<ReturnType<typeof readReaders>>;
type Dependencies = Awaited<ReturnType<typeof readDependencies>>;
const readReaders = (visit: InstanceVisit) => visit.read(getReaders, { params: visit.params });
const readDependencies = (visit: InstanceVisit) => visit.read(getDependencies, { params: visit.params });

async function renderReaders(visit: InstanceVisit, { id, actions }: Instance, readers: Readers): Promise<Html> {
  const { team_ids: teams, environment_ids: environments } = readers;
  const { em, principal } = visit;
  // Readers are stored by id, including places that the visitor may not read.
  const [ofTeams, ofEnvironments] = await Promise.all([
    readReadableNames(em, principal, 'team', teams),
    readReadableNames(em, principal, 'environment', environments),
  ]);
  const nameOf = (each: string) =>
    html`<li class="foreign">${ofTeams.get(each) ?? ofEnvironments.get(each) ?? each}</li>`;
  const isChangeable = refusalOf(actions, 'set_readers') === null;
  const change = html`<a class="button button-plain" href="${pagePath(pages.instanceReaders, { id })}">Change who may read them</a>`;
  const nobody = html`<p class="muted">No one: runs of other environments cannot use its outputs.</p>`;
  const listed = html`${teams.length > 0 ? html`<p>Runs of these teams:</p><ul class="plain-list">${teams.map(nameOf)}</ul>` : null}
${environments.length > 0 ? html`<p>Runs in these environments:</p><ul class="plain-list">${environments.map(nameOf)}</ul>` : null}`;
  return html`<section class="panel stack"><h2>Who may read its outputs</h2>
${readers.void ? html`<p class="notice">The instance was transferred after these were allowed. Its outputs cannot be read until they are saved again.</p>` : null}
${teams.length + environments.length === 0 ? nobody : listed}
${isChangeable ? html`<div class="actions">${change}</div>` : null}</section>`;
}

async function renderDependents(
  visit: InstanceVisit,
  { dependents, other_dependents: others }: Dependencies,
): Promise<Html> {
  if (dependents.length + others === 0)
    return html`<section class="panel stack"><h2>Instances that use its outputs</h2><p class="muted">None.</p></section>`;
  const names = await readNames(visit.em, { environments: dependents.map((each) => each.environment_id) });
  return html`<section class="stack"><h2>Instances that use its outputs</h2>
<p>They keep the values that they were deployed with until their next run. Deleting or destroying this instance asks for your confirmation.</p>
${
  dependents.length === 0
    ? null
    : html`<div class="list-panel">${renderTable({
        caption: 'Instances that use its outputs',
        rows: dependents,
        columns: [
          {
            label: 'Instance',
            kind: 'main',
            cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>`,
          },
          {
            label: 'Environment',
            cell: ({ environment_id: environment }) =>
              environment && html`<span class="foreign">${names.get(environment)?.name ?? environment}</span>`,
          },
          {
            label: 'Outputs',
            cell: ({ reads }) =>
              html`<span class="mono foreign">${[...new Set(reads.map(({ output }) => output))].join(', ')}</span>`,
          },
          { label: 'Deployed by', kind: 'minor', cell: ({ deployed_run_id: run }) => renderRunLink(run) },
        ],
      })}</div>`
}
${others > 0 ? html`<p class="muted">${pluralize(others, 'other instance')} that you may not read.</p>` : null}</section>`;
}

const upstreamWords: Record<UpstreamState, string> = {
  unchanged: 'unchanged',
  changed: 'changed: the next run reads the new value',
  missing: 'gone: the instance has no such output any longer',
  ended: 'may not be read any longer',
  unknown: 'not compared: the values that it was given were deleted, or what it reads is too large together',
};

function renderReads(reads: Dependencies['reads']): Html | null {
  if (reads.length === 0) return null;
  return html`<section class="stack"><h2>Outputs that it uses</h2>
<div class="list-panel">${renderTable({
    caption: 'Outputs of other instances that it uses',
    rows: reads,
    columns: [
      {
        label: 'Variable',
        kind: 'main',
        cell: ({ variable, path }) => html`<span class="mono foreign">${variable}${path}</span>`,
      },
      {
        label: 'Output',
        cell: ({ instance, output }) =>
          html`<span class="mono foreign">${output}</span> of <span class="foreign">${instance}</span>`,
      },
      { label: 'Now', cell: ({ upstream }) => upstreamWords[upstream] },
      { label: 'From', kind: 'minor', cell: ({ run_id: run }) => (run ? renderRunLink(run) : 'an imported state') },
    ],
  })}</div></section>`;
}

/** Whether an output with which the instance was deployed has changed. */
export async function hasChangedUpstream(visit: InstanceVisit): Promise<boolean> {
  const { reads } = await readDependencies(visit);
  return reads.some(hasChanged);
}

/** The form that sets who may read the outputs of an instance. */
export const readersForm = instanceForm(pages.instanceReaders, 'set_readers', {
  read: async (visit) => {
    const [instance, readers] = [await readInstance(visit), await readReaders(visit)];
    return { ...instance, readers };
  },
  describe: async ({ id, name, readers }, visit) => {
    const hintOf = (noun: string) => `The ${noun}s whose runs may read them, one name per line. Empty: no ${noun}.`;
    const typed = {
      ...(await listPlaces(visit, 'team', readers.team_ids)),
      ...(await listPlaces(visit, 'environment', readers.environment_ids)),
    };
    const fields = await readPlaceFields(visit, hintOf);
    return {
      title: `Who may read the outputs of ${name}`,
      lead: html`Their runs can read every output of it, including secret ones, by <code>${'${instances.<environment>/<name>.outputs.<output>}'}</code> in a variable. Waiting runs lose the access that you remove here.`,
      fields: [
        ...fields.map((field) => ({ ...field, ...(typed[field.name] && { value: typed[field.name] }) })),
        revisionField(readers),
      ],
      submit: 'Save',
      cancel: pagePath(pages.instance, { id }, { tab: 'sharing' }),
    };
  },
  carryOut: async ({ id }, typed, visit) => {
    requireAuthority(visit, replaceReaders, await findInstanceOwner(visit.em, id, visit.principal.id));
    const body = {
      team_ids: await readListedOwners(visit, 'team', typed),
      environment_ids: await readListedOwners(visit, 'environment', typed),
    };
    await visit.run(replaceReaders, { params: { id }, body });
    return pagePath(pages.instance, { id }, { tab: 'sharing', done: 'readers-saved' });
  },
});
