import { renderAction } from '#api/web/components/actions.ts';
import { type Column, renderEmpty, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { getOfEnvironment, getOfProject } from '../binding-operations.ts';
import { get as getConnection } from '../operations.ts';
import { type BindingPlace, bindingPages, type ShownBindings } from './binding-place.ts';
import { kindWords } from './labels.ts';

type Binding = ShownBindings['connections'][string] & { readonly name: string };

/** The connections that a project gives to its runs; null while connections are turned off. */
export async function renderBindingsOfProject(visit: Visit, { id }: { readonly id: string }): Promise<Html | null> {
  if (!visit.mayDo(getOfProject).allowed) return null;
  const bindings = await bindingPages.project.readBindings(visit, id);
  return html`<h2>Connections</h2>
<p class="muted">Templates ask for connections by name. The runs of all environments of the project get these, unless an environment binds another by the same name.</p>
${renderOwn(visit, { kind: 'project', id }, bindings)}`;
}

/** The connections that an environment gives to its runs: its own, and those of its project. */
export async function renderBindingsOfEnvironment(
  visit: Visit,
  { id, project_id: projectId }: { readonly id: string; readonly project_id: string },
): Promise<Html> {
  const closed = visit.mayDo(getOfEnvironment);
  if (!closed.allowed) return html`<p class="notice">${closed.reason}</p>`;
  const [own, inherited] = await Promise.all([
    bindingPages.environment.readBindings(visit, id),
    bindingPages.project.readBindings(visit, projectId),
  ]);
  const others = bindingsOf(inherited).filter(({ name }) => !Object.hasOwn(own.connections, name));
  return html`<p class="muted">Templates ask for connections by name. Runs get the connection that this environment binds to the name, or else that of its project.</p>
${renderOwn(visit, { kind: 'environment', id }, own)}
${
  others.length > 0
    ? html`<h2>From the project</h2><div class="list-panel">${renderTable({ caption: 'Connections of the project', rows: others, columns: columnsFor(visit) })}</div>
<p><a href="${pagePath(pages.project, { id: projectId })}">The project</a></p>`
    : null
}`;
}

function renderOwn(visit: Visit, place: Pick<BindingPlace, 'kind' | 'id'>, bindings: ShownBindings): Html {
  const rows = bindingsOf(bindings);
  const { bind } = bindingPages[place.kind];
  const update = bindings.actions.find(({ name }) => name === 'update');
  const button = update
    ? renderAction(
        { ...update, name: 'bind_connections' },
        { label: 'Bind a connection', icon: 'plus', path: pagePath(bind, { id: place.id }) },
      )
    : null;
  const table =
    rows.length > 0
      ? renderTable({
          caption: 'Connections',
          rows,
          columns: [...columnsFor(visit), ...(update?.allowed ? changes(place) : [])],
        })
      : renderEmpty('No connections bound', 'Runs of templates that need a connection are refused until you bind one.');
  return html`<div class="list-panel">${table}</div><div class="actions">${button}</div>`;
}

function bindingsOf({ connections }: ShownBindings): Binding[] {
  return Object.entries(connections).map(([name, binding]) => ({ ...binding, name }));
}

const problemWords: Readonly<Record<NonNullable<Binding['problem']>, string>> = {
  connection_elsewhere: 'it belongs to another owner now: bind one that this place may use',
  connection_unauthorized:
    'the person who bound it may no longer bind it: a person with permission has to bind it again',
};

/** Visitors who may not read connections see only the kind. */
function columnsFor(visit: Visit): Column<Binding>[] {
  const isLinked = visit.mayDo(getConnection).allowed;
  const renderName = ({ connection_id: id, connection }: Binding) =>
    isLinked && id !== null
      ? html`<a class="foreign" href="${pagePath(pages.connection, { id })}">${connection}</a>`
      : html`<span class="foreign">${connection ?? ''}</span>`;
  return [
    { label: 'Name', kind: 'main', cell: ({ name }) => html`<span class="mono foreign">${name}</span>` },
    {
      label: 'Connection',
      cell: (binding) => html`${renderName(binding)} <span class="muted">${kindWords[binding.kind]}</span>`,
    },
    { label: 'In', cell: ({ phases }) => phases.join(' and ') },
    {
      label: 'Bound',
      kind: 'minor',
      cell: ({ bound_by: by, bound_at: at }) =>
        html`by <span class="foreign">${by.name ?? 'a deleted user'}</span> ${renderTime(String(at))}`,
    },
    {
      label: 'Works',
      cell: ({ problem }) => (problem === null ? 'yes' : html`<strong>no</strong>: ${problemWords[problem]}`),
    },
  ];
}

function changes({ kind, id }: Pick<BindingPlace, 'kind' | 'id'>): Column<Binding>[] {
  const { bind, unbind } = bindingPages[kind];
  return [
    {
      label: 'Actions',
      cell: ({ name }) =>
        html`<a href="${pagePath(bind, { id }, { name })}">Change</a> <a href="${pagePath(unbind, { id, name })}">Remove</a>`,
    },
  ];
}
