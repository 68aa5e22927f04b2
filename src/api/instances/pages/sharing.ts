import { listPlaces, readPlaceFields, readPlaces } from '#api/tenancy/pages/place-lists.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderTable } from '#api/web/components/table.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { haveChanged } from '#domain/runs/references/changed-inputs.ts';
import type { UpstreamState } from '#domain/runs/references/upstream.ts';
import { readNames } from '#domain/tenancy/names-store.ts';
import { getDependencies } from '../dependency-operations.ts';
import { getReaders, replaceReaders } from '../reader-operations.ts';
import { renderFollow } from './follow.ts';
import { instanceCrumbs, readInstance } from './forms.ts';
import type { Instance, InstanceVisit } from './table.ts';

/** Shows who may read the outputs of an instance, who was deployed with them, and what it was itself deployed with. */
export async function renderSharing(visit: InstanceVisit, instance: Instance): Promise<Html> {
  const [readers, dependencies] = await Promise.all([
    visit.read(getReaders, { params: visit.params }),
    visit.read(getDependencies, { params: visit.params }),
  ]);
  return html`<div class="stack">
${await renderReaders(visit, instance, readers)}
${await renderDependents(visit, dependencies)}
${renderReads(dependencies.reads)}
${await renderFollow(visit, instance)}
</div>`;
}

type Readers = Awaited<ReturnType<typeof readReaders>>;
type Dependencies = Awaited<ReturnType<typeof readDependencies>>;
const readReaders = (visit: InstanceVisit) => visit.read(getReaders, { params: visit.params });
const readDependencies = (visit: InstanceVisit) => visit.read(getDependencies, { params: visit.params });

async function renderReaders(visit: InstanceVisit, { id, actions }: Instance, readers: Readers): Promise<Html> {
  const { team_ids: teams, environment_ids: environments } = readers;
  const names = await readNames(visit.em, { teams, environments });
  const nameOf = (each: string) => html`<li class="foreign">${names.get(each)?.name ?? each}</li>`;
  const isChangeable = refusalOf(actions, 'set_readers') === null;
  const change = html`<a class="button button-plain" href="${pagePath(pages.instanceReaders, { id })}">Change who may read them</a>`;
  const nobody = html`<p class="muted">Nobody. Runs of others cannot be given its outputs.</p>`;
  const listed = html`${teams.length > 0 ? html`<p>Runs of these teams:</p><ul class="plain-list">${teams.map(nameOf)}</ul>` : null}
${environments.length > 0 ? html`<p>Runs in these environments:</p><ul class="plain-list">${environments.map(nameOf)}</ul>` : null}`;
  return html`<section class="panel stack"><h2>Who may read its outputs</h2>
${readers.void ? html`<p class="notice">It came to other owners since these were allowed: nobody reads it until they are saved again.</p>` : null}
${teams.length + environments.length === 0 ? nobody : listed}
${isChangeable ? html`<div class="actions">${change}</div>` : null}</section>`;
}

async function renderDependents(
  visit: InstanceVisit,
  { dependents, other_dependents: others }: Dependencies,
): Promise<Html> {
  if (dependents.length + others === 0)
    return html`<section class="panel stack"><h2>What was deployed with them</h2><p class="muted">Nothing.</p></section>`;
  const names = await readNames(visit.em, { environments: dependents.map((each) => each.environment_id) });
  return html`<section class="stack"><h2>What was deployed with them</h2>
<p>These keep the values that they were given until their next run. Deleting or destroying the instance asks for your confirmation.</p>
${
  dependents.length === 0
    ? null
    : html`<div class="list-panel">${renderTable({
        caption: 'What was deployed with its outputs',
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
          { label: 'By', kind: 'minor', cell: ({ deployed_run_id: run }) => renderRunLink(run) },
        ],
      })}</div>`
}
${others > 0 ? html`<p class="muted">${pluralize(others, 'other instance')} that you may not read.</p>` : null}</section>`;
}

const upstreamWords: Record<UpstreamState, string> = {
  unchanged: 'as it was read',
  changed: 'another value by now: the next run reads it',
  missing: 'gone: the instance has no such output any longer',
  ended: 'not to be read any longer',
  unknown: 'not compared: what it reads is too large together',
};

function renderReads(reads: Dependencies['reads']): Html | null {
  if (reads.length === 0) return null;
  return html`<section class="stack"><h2>What it was deployed with</h2>
<div class="list-panel">${renderTable({
    caption: 'Outputs of other instances that it was deployed with',
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

/** Whether an output that the instance was deployed with is another one by now. */
export async function hasChangedUpstream(visit: InstanceVisit): Promise<boolean> {
  const { reads } = await readDependencies(visit);
  return haveChanged(reads);
}

/** Adds the form that says who may read the outputs of an instance. */
export function registerReaders(addPage: AddPage): void {
  addFormPage(addPage, pages.instanceReaders, {
    read: async (visit) => {
      const [instance, readers] = [await readInstance(visit), await readReaders(visit)];
      const { team_ids: teams, environment_ids: environments } = readers;
      return { ...instance, readers, names: await readNames(visit.em, { teams, environments }) };
    },
    describe: async ({ id, name, actions, readers, names }, visit) => {
      const hintOf = (noun: string) =>
        `The ids of each ${noun} whose runs may read them, one in a line, each behind its name if you like. Empty: no ${noun}.`;
      const typed: Record<string, string> = {
        team_ids: listPlaces(readers.team_ids, names),
        environment_ids: listPlaces(readers.environment_ids, names),
      };
      const fields = await readPlaceFields(visit, hintOf);
      return {
        title: `Who may read the outputs of ${name}`,
        crumbs: instanceCrumbs(id, name),
        lead: html`Their runs may be given every output of it, secret ones too, by <code>${'${instances.<environment>/<name>.outputs.<output>}'}</code> in a variable. Runs that wait lose what you take away here.`,
        fields: fields.map((field) => ({ ...field, ...(typed[field.name] && { value: typed[field.name] }) })),
        submit: 'Save',
        cancel: pagePath(pages.instance, { id }, { tab: 'sharing' }),
        refusal: refusalOf(actions, 'set_readers'),
      };
    },
    carryOut: async ({ id }, typed, visit) => {
      const body = { team_ids: readPlaces(typed, 'team'), environment_ids: readPlaces(typed, 'environment') };
      await visit.run(replaceReaders, { params: { id }, body });
      return pagePath(pages.instance, { id }, { tab: 'sharing', done: 'readers-saved' });
    },
  });
}
