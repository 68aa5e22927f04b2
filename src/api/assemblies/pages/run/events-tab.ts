import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { listEvents } from '../../run-operations.ts';
import { operationWords, type ShownEvent } from '../views.ts';
import { describeRepeated } from './run-forms.ts';
import { type AssemblyRunTab, runPath } from './run-tab.ts';

/** The events, in order. */
export const eventsTab: AssemblyRunTab = {
  key: 'events',
  label: 'Events',
  async render(visit, { run }) {
    const cursor = visit.query('cursor');
    const query = { limit: '100', cursor };
    const { events, next_cursor: next } = await visit.read(listEvents, { params: visit.params, query });
    return html`<div class="list-panel">${events.length > 0 ? renderEvents(events) : renderEmpty('No events yet', 'Events appear here while the run makes progress.')}</div>
${renderPager({
  first: cursor ? runPath(run, { tab: 'events' }) : null,
  next: next ? runPath(run, { tab: 'events', cursor: next }) : null,
})}`;
  },
};

function renderEvents(events: readonly ShownEvent[]): Html {
  return renderTable({
    caption: 'Events of the run, oldest first',
    rows: events,
    rowId: ({ sequence }) => `event-${sequence}`,
    columns: [
      { label: 'Time', cell: ({ at }) => renderTime(at) },
      { label: 'Event', kind: 'main', cell: describe },
      { label: 'Type', kind: 'minor', cell: ({ type }) => html`<code class="muted">${type}</code>` },
    ],
  });
}

type Data = Readonly<Record<string, unknown>>;

function describe({ type, data }: ShownEvent): Html {
  const tell = words[type];
  return tell ? tell(data as Data) : html`${type}`;
}

const words: Readonly<Record<string, (data: Data) => Html>> = {
  'assembly_run.admitted': ({ by, operation, nodes }) =>
    html`<span class="foreign">${text(by)}</span> asked for it: ${operationWords[text(operation) as keyof typeof operationWords] ?? ''}, ${text(nodes)} nodes`,
  'assembly_run.started': () => html`Started to run its nodes`,
  'assembly_run.node_status_changed': ({ node, run_id: run, status }) =>
    html`${nodeName(node)}: ${run ? runLink(run, 'its run') : 'it'} is ${text(status).replaceAll('_', ' ')}`,
  'assembly_run.node_started': ({ node, run_id: run, attempt }) =>
    html`${nodeName(node)} got ${runLink(run, attempt === 1 ? 'its run' : `its run, try ${text(attempt)}`)}`,
  'assembly_run.node_approval_required': ({ node, run_id: run }) =>
    html`${nodeName(node)} waits for approval of ${runLink(run, 'its plan')}`,
  'assembly_run.node_approved': ({ node, run_id: run }) =>
    html`${nodeName(node)}: ${runLink(run, 'its plan')} was approved`,
  'assembly_run.node_retried': ({ node, run_id: run, until }) =>
    html`${nodeName(node)}: ${runLink(run, 'the run')} failed, and it is tried again ${renderTime(text(until))}`,
  'assembly_run.node_ended': ({ node, run_id: run, status, reason }) =>
    html`${nodeName(node)} ended: ${text(status).replaceAll('_', ' ')}${reasonOf(reason)}${run ? html` (${runLink(run, 'its run')})` : null}`,
  'assembly_run.cancel_requested': ({ by, reason }) =>
    html`<span class="foreign">${text(by)}</span> asked to cancel it${reason ? html`: <q class="foreign">${text(reason)}</q>` : null}`,
  'assembly_run.resumed': ({ by, nodes }) =>
    html`<span class="foreign">${text(by)}</span> resumed it: ${describeRepeated(Number(nodes))}`,
  'assembly_run.finished': ({ status }) => html`Finished: ${text(status).replaceAll('_', ' ')}`,
};

function text(value: unknown): string {
  return String(value ?? '');
}

function nodeName(key: unknown): Html {
  return html`<span class="mono foreign">${text(key)}</span>`;
}

function runLink(id: unknown, label: string): Html {
  return html`<a href="${pagePath(pages.run, { id: text(id) })}">${label}</a>`;
}

function reasonOf(reason: unknown): Html | null {
  const message = typeof reason === 'object' && reason !== null && 'message' in reason ? reason.message : null;
  return message === null ? null : html`, <span class="foreign">${text(message)}</span>`;
}
