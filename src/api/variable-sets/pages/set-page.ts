import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderVariableTable } from '#api/variables/pages/table.ts';
import { renderUnknownDefaults } from '#api/variables/pages/unknown-defaults.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderHidden } from '#api/web/components/hidden-rows.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { findVariableSet } from '#domain/variable-sets/store.ts';
import { getAttachments } from '../attachment-operations.ts';
import { list as listVariables } from '../variable-operations.ts';
import { placePath, readSet, type SetVisit, type ShownSet, setsCrumb } from './labels.ts';

interface Part {
  readonly key: string;
  readonly label: string;
  readonly count: (set: ShownSet) => number;
  readonly render: (visit: SetVisit, set: ShownSet) => Promise<Html>;
}

const parts: readonly [Part, ...Part[]] = [
  { key: 'variables', label: 'Variables', count: ({ variables }) => variables, render: renderVariables },
  { key: 'attachments', label: 'Attached to', count: ({ attachments }) => attachments, render: renderAttachments },
];

/** Shows a variable set: its variables, and where it is attached. */
export async function showVariableSet(visit: SetVisit): Promise<FastifyReply> {
  const set = await readSet(visit);
  const names = await readOwnerNames(visit, [set]);
  const { id, name, description } = set;
  const part = parts.find(({ key }) => key === visit.query('tab')) ?? parts[0];
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [setsCrumb],
  below: html`Owned by ${renderOwner(set, names)}`,
  actions: renderButtons(set),
  history: ['variable_sets', id],
})}
${renderConfirmation(visit, pages.variableSet)}
${description ? html`<p class="foreign">${description}</p>` : null}
${renderTabs(
  'Parts of the set',
  parts.map(({ key, label, count }) => ({
    label,
    path: pagePath(pages.variableSet, { id }, key === parts[0].key ? {} : { tab: key }),
    isCurrent: key === part.key,
    count: count(set),
  })),
)}
${await part.render(visit, set)}
</div>`,
  });
}

function renderButtons({ id, actions }: ShownSet): Html {
  return renderActions(actions, {
    replace_variables: {
      label: 'Add a variable',
      icon: 'plus',
      tone: 'primary',
      path: pagePath(pages.newVariableOfSet, { id }),
    },
    replace_attachments: { label: 'Attach', icon: 'layers', path: pagePath(pages.attachVariableSet, { id }) },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editVariableSet, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteVariableSet, { id }) },
  });
}

async function renderVariables(visit: SetVisit, { id, actions }: ShownSet): Promise<Html> {
  const cursor = visit.query('cursor');
  const { variables, next_cursor: next } = await visit.read(listVariables, { params: { id }, query: { cursor } });
  const mayChange = refusalOf(actions, 'replace_variables') === null;
  const owner = await findVariableSet(visit.em, id);
  return html`${owner && (await renderUnknownDefaults(visit, owner, variables))}<div class="list-panel">${
    variables.length > 0
      ? renderVariableTable(variables, ({ name }) => (mayChange ? pagePath(pages.variableOfSet, { id, name }) : null))
      : renderEmpty('No variables', 'Runs in the environments that the set is attached to get its variables.')
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.variableSet, { id }, query))}`;
}

async function renderAttachments(visit: SetVisit, { id }: ShownSet): Promise<Html> {
  const { attachments, hidden } = await visit.read(getAttachments, { params: { id } });
  if (attachments.length === 0) {
    const empty =
      hidden > 0
        ? renderEmpty('Not attached to a place that you can see', 'Runs in other places get the variables.')
        : renderEmpty('Not attached', 'Attach the set to a project or an environment so that runs get its variables.');
    return html`<div class="list-panel">${empty}</div>${renderHidden(hidden, 'place', 'places')}`;
  }
  return html`<div class="list-panel">${renderTable({
    caption: 'Attached to',
    rows: attachments,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: (place) => html`<a class="foreign" href="${placePath(place)}">${place.name}</a>`,
      },
      { label: 'Scope', cell: renderReach },
    ],
  })}</div>
${renderHidden(hidden, 'place', 'places')}
<p class="muted">The variables of an environment override those of every set, and a set attached to the environment overrides one attached to its project.</p>`;
}

function renderReach({ type, effective }: { type: 'project' | 'environment'; effective: boolean }): string {
  if (!effective) return 'none: it was transferred to another owner';
  return type === 'project' ? 'all environments of the project' : 'this environment';
}
