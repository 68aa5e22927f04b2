import type { FastifyReply } from 'fastify';
import { list as listAccounts } from '#api/service-accounts/operations.ts';
import { suggestPeople } from '#api/tenancy/pages/person-fields.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { showUnseen } from '#api/web/components/value-change/print.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import { renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { verify } from '../chain-operations.ts';
import { list, listActions } from '../operations.ts';
import type { ShownRecord } from '../views.ts';
import {
  type AuditFilters,
  apiQuery,
  exportPath,
  readFilters,
  renderFilters,
  renderKinds,
  withNamed,
} from './filters.ts';
import { listRecordChanges } from './record-changes.ts';
import { readResourceNames, renderResource } from './resource-names.ts';

/** Shows who did what: the visitor's own actions, and all actions in what the visitor administers. */
export async function showAudit(visit: Visit): Promise<FastifyReply> {
  const typed = readFilters(visit);
  const filters = await withNamed(visit, typed);
  const cursor = visit.query('cursor');
  const [{ actions }, people, listed] = await Promise.all([
    visit.read(listActions),
    suggestActors(visit),
    submit(visit, [], () => visit.read(list, { query: { ...apiQuery(filters), ...(cursor && { cursor }) } })),
  ]);
  const resourceNames = listed.done ? await readResourceNames(visit, listed.result.audit_records) : new Map();
  return visit.show(
    {
      title: 'Audit',
      hasProblem: !listed.done,
      main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Audit',
  below:
    'Who did what, newest first: your own actions, and those in the organizations and teams whose members you manage.',
  actions: renderHeadActions(visit, filters),
})}
${renderKinds(typed)}
${renderFilters(typed, actions, people)}
${listed.done ? renderPage(filters, { ...listed.result, cursor, names: resourceNames }) : renderSummary(listed.problems, [])}
</div>`,
    },
    listed.done ? 200 : listed.problems.status,
  );
}

/** The people whom the visitor knows, and the service accounts that the visitor may manage, as suggestions. */
async function suggestActors(visit: Visit): Promise<Choice[]> {
  const people = await suggestPeople(visit);
  if (!visit.mayDo(listAccounts).allowed) return people;
  const { service_accounts: accounts } = await visit.read(listAccounts, { query: {} });
  const known = new Set(people.map(({ value }) => value));
  const others = accounts.filter(({ id }) => !known.has(id));
  return [...people, ...others.map(({ id, name }) => ({ value: id, label: `${name}, service account` }))];
}

function renderHeadActions(visit: Visit, filters: AuditFilters): Html {
  const link = (format: 'ndjson' | 'csv', label: string) =>
    html`<a class="button" href="${exportPath(filters, format)}" download>${renderIcon('download')}${label}</a>`;
  const verifying = renderAction(visit.mayDo(verify), {
    label: 'Verify',
    icon: 'list-checks',
    path: pagePath(pages.auditChain),
  });
  return html`<div class="actions">${verifying}${link('csv', 'CSV')}${link('ndjson', 'NDJSON')}</div>`;
}

interface ShownPage {
  readonly audit_records: readonly ShownRecord[];
  readonly next_cursor: string | null;
  readonly cursor: string | undefined;
  readonly names: ReadonlyMap<string, string>;
}

function renderPage(filters: AuditFilters, shown: ShownPage): Html {
  const { audit_records: records, next_cursor: next, cursor, names } = shown;
  if (records.length === 0 && !cursor)
    return renderEmpty('No records', 'No record that you can see matches these filters.');
  return html`<div class="list-panel">${renderRecords(records, names)}</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.audit, {}, { ...filters, ...query }))}`;
}

function renderRecords(records: readonly ShownRecord[], names: ReadonlyMap<string, string>): Html {
  return renderTable({
    caption: 'Audit records',
    rows: records,
    columns: [
      {
        label: 'Action',
        kind: 'main',
        cell: ({ id, action }) => html`<a href="${pagePath(pages.auditRecord, { id })}">${action}</a>`,
      },
      { label: 'Outcome', cell: ({ outcome }) => renderOutcome(outcome) },
      { label: 'Actor', cell: ({ actor }) => html`<span class="foreign">${actor.name}</span>` },
      { label: 'Resource', cell: (record) => renderResource(record, names) },
      { label: 'Changed', kind: 'minor', cell: describeChange },
      { label: 'Time', cell: ({ at }) => renderTime(at) },
    ],
  });
}

const maxNames = 4;

/** The names of what changed, with short values. That is enough to decide whether to open the record. */
function describeChange({ before, after }: ShownRecord): Html | null {
  const { changes, omitted } = listRecordChanges({ before, after }, maxNames);
  if (changes.length === 0) return null;
  const names = changes.map((change) => `${showUnseen(change.label)}${describeWord(change)}`).join(', ');
  return html`<span class="foreign muted">${names}${omitted > 0 ? `, ${omitted} more` : ''}</span>`;
}

/** A short value, such as the decision of a review. The page of the record has longer values. */
function describeWord({ after, sensitive }: ValueChange): string {
  const value = sensitive ? undefined : after;
  const isWord = typeof value === 'boolean' || (typeof value === 'string' && /^[a-z_]{1,20}$/.test(value));
  return isWord ? ` (${value})` : '';
}

export function renderOutcome(outcome: ShownRecord['outcome']): Html {
  return outcome === 'committed'
    ? renderStatusBadge({ word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' })
    : renderStatusBadge({ word: 'Denied', icon: 'ban', tone: 'failed' });
}
