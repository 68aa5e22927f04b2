import type { FastifyReply } from 'fastify';
import { renderInstanceTable } from '#api/environments/pages/instance-table.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { fieldId, renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { list } from '../operations.ts';
import { list as listResources } from '../resource-operations.ts';

const everything = { drifted: undefined, inputs_changed: undefined };

/** Lists the instances. */
export async function showInstances(visit: Visit): Promise<FastifyReply> {
  const filter = {
    ...scopeQuery(visit.scope),
    environment_id: visit.query('environment_id'),
    template_id: visit.query('template_id'),
    drifted: visit.query('drifted'),
    inputs_changed: visit.query('inputs_changed'),
  };
  const cursor = visit.query('cursor');
  const { instances, next_cursor: next } = await visit.read(list, { query: { ...filter, cursor } });
  const named = await readNames(visit.em, {
    environments: instances.map((each) => (filter.environment_id ? each.environment_id : null)),
    templates: instances.map((each) => (filter.template_id ? each.template_id : null)),
  });
  const narrowed = [filter.environment_id, filter.template_id].flatMap((id) => (id ? [named.get(id)?.name ?? id] : []));
  const link = (query: Query) => pagePath(pages.instances, {}, { ...filter, ...query });
  return visit.show({
    title: 'Instances',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Instances',
  below:
    narrowed.length > 0
      ? html`Only of ${narrowed.join(' and ')} · <a href="${pagePath(pages.instances, {}, scopeQuery(visit.scope))}">Show all</a>`
      : 'What templates have deployed. Each instance has its own state and executes one run at a time.',
  actions: html`<div class="actions"><a class="button button-plain" href="${pagePath(pages.resources, {}, scopeQuery(visit.scope))}">Search resources</a>
<a class="button button-plain" href="${pagePath(pages.newInstance, {}, { environment_id: filter.environment_id, template_id: filter.template_id })}">Import existing infrastructure</a></div>`,
})}
<ul class="chips" role="list" aria-label="Which instances">
<li><a class="chip" href="${link(everything)}" ${filter.drifted || filter.inputs_changed ? null : html`aria-current="true"`}>All</a></li>
<li><a class="chip" href="${link({ ...everything, drifted: 'true' })}" ${filter.drifted === 'true' ? html`aria-current="true"` : null}>Drifted</a></li>
<li><a class="chip" href="${link({ ...everything, inputs_changed: 'true' })}" ${filter.inputs_changed === 'true' ? html`aria-current="true"` : null}>Inputs changed</a></li>
</ul>
<div class="list-panel">${
      instances.length > 0
        ? await renderInstanceTable(visit, instances)
        : filter.inputs_changed === 'true'
          ? renderEmpty('No inputs have changed', 'All outputs that instances use are unchanged.')
          : filter.drifted === 'true'
            ? renderEmpty(
                'No open findings',
                'No scan has found drift that is still there. Instances without a complete scan may have drifted.',
              )
            : renderEmpty(
                'Nothing is deployed here yet',
                'Instances appear when a template is deployed.',
                html`<a class="button button-primary" href="${pagePath(pages.catalog)}">Choose a template</a>`,
              )
    }</div>
${renderPages({ cursor, next }, link)}
</div>`,
  });
}

/** Searches the resources of all instances. */
export async function showResources(visit: Visit): Promise<FastifyReply> {
  const filter = {
    ...scopeQuery(visit.scope),
    environment_id: visit.query('environment_id'),
    type: visit.query('type'),
    q: visit.query('q'),
  };
  const cursor = visit.query('cursor');
  const listed = await submit(visit, ['q', 'type'], () => visit.read(listResources, { query: { ...filter, cursor } }));
  const page = {
    title: 'Resources',
    hasProblem: !listed.done,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Resources',
  crumbs: [{ label: 'Instances', path: pagePath(pages.instances) }],
  below: 'All resources in the latest states. Their attributes are in the states.',
})}
<form class="filters" method="get" action="${pages.resources}">
${Object.entries(scopeQuery(visit.scope)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`)}
<div class="field"><label for="${fieldId('q')}">${labels.q}</label><input id="${fieldId('q')}" name="q" value="${filter.q ?? ''}" maxlength="200" data-key="f" data-key-says="Filter"></div>
<div class="field"><label for="${fieldId('type')}">${labels.type}</label><input id="${fieldId('type')}" name="type" value="${filter.type ?? ''}" maxlength="255" placeholder="aws_subnet"></div>
<button class="button button-plain" type="submit">Filter</button>
</form>
${listed.done ? await renderResources(visit, filter, listed.result) : renderSummary(listed.problems, fields)}
</div>`,
  };
  return visit.show(page, listed.done ? 200 : listed.problems.status);
}

const labels = { q: 'Address contains', type: 'Type' } as const;
const fields = Object.entries(labels).map(([name, label]) => ({ name, label }));

async function renderResources(
  visit: Visit,
  filter: Query,
  { resources, next_cursor: next }: EncodedAnswerOf<typeof listResources.responses>,
): Promise<Html> {
  const names = await readNames(visit.em, { environments: resources.map((each) => each.environment_id) });
  const link = (query: Query) => pagePath(pages.resources, {}, { ...filter, ...query });
  return html`<div class="list-panel">${
    resources.length > 0
      ? renderTable({
          caption: 'Resources',
          rows: resources,
          columns: [
            {
              label: 'Address',
              kind: 'main' as const,
              cell: ({ address, instance_id: id }) =>
                html`<a class="mono foreign" href="${pagePath(pages.instance, { id }, { tab: 'resources' })}">${address}</a>`,
            },
            { label: 'Type', cell: ({ type }) => html`<span class="mono foreign">${type}</span>` },
            { label: 'Instance', cell: ({ instance }) => html`<span class="foreign">${instance}</span>` },
            {
              label: 'Environment',
              cell: ({ environment_id: id }) => (id === null ? null : (names.get(id)?.name ?? id)),
            },
          ],
        })
      : renderEmpty(
          'No resources',
          filter['q'] || filter['type']
            ? 'No resource matches the filters.'
            : 'Resources appear after the first apply.',
        )
  }</div>
${renderPages({ cursor: visit.query('cursor'), next }, link)}`;
}
