import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPager } from '#api/web/components/table.ts';
import { page } from '#api/web/declarations/area.ts';
import { type Html, html } from '#api/web/html.ts';
import type { EventTest } from '#api/web/live/change-feed.ts';
import { renderLive } from '#api/web/live/live.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { EventTypeName } from '#domain/events.ts';
import { mayReviewSome } from '#domain/runs/approval/rules.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { list as listApprovals } from '../../approvals/inbox-operations.ts';
import { sendApprovalCount } from '../approval-count.ts';
import { type Inbox, renderInboxTable } from './inbox-table.ts';
import { describeNews } from './news.ts';

/** The types of events that may change which runs an inbox contains. */
const relevant: ReadonlySet<EventTypeName> = new Set([
  'run.approval_required',
  'run.approval_requested',
  'run.approval_lapsed',
  'run.reviewed',
  'run.held',
  'run.applying',
  'run.cancel_requested',
  'run.finished',
] as const);

/** Notifies an open inbox that its runs may have changed. Nothing is sent about runs that the visitor may not review. */
function followApprovals(visit: Visit): Promise<FastifyReply> {
  const { changeFeed } = visit.context.services;
  return visit.stream(listApprovals, {}, async function* (signal) {
    for await (const _ of changeFeed.watch(concerns(visit.principal), signal)) yield { event: 'changed', data: '' };
  });
}

function concerns(reviewer: Principal): EventTest {
  return ({ type, teamId, organizationId }) =>
    relevant.has(type) && mayReviewSome(reviewer, { teamId, organizationId });
}

const rowsPerPage = 50;

async function showInbox(visit: Visit) {
  const query = { ...scopeQuery(visit.scope), asked: visit.query('asked') };
  const cursor = visit.query('cursor');
  const inbox = await visit.read(listApprovals, { query: { ...query, cursor, limit: String(rowsPerPage) } });
  const names = await readNames(visit.em, {
    environments: inbox.approvals.map(({ run }) => run.environment_id),
    teams: inbox.approvals.map(({ run }) => run.team_id),
    assemblies: inbox.approvals.map(({ run }) => run.assembly_node?.assembly_id ?? null),
  });
  const first = cursor === undefined ? null : pagePath(pages.approvals, {}, query);
  const next =
    inbox.next_cursor === null ? null : pagePath(pages.approvals, {}, { ...query, cursor: inbox.next_cursor });
  const main = html`<div class="page page-wide">
${renderPageHead({ title: 'Approvals', below: 'Runs that need your approval, oldest first. Open one to review its plan.' })}
${renderChips(query)}
${renderCount(visit, inbox, { ...query, cursor })}
<div class="list-panel inbox">${inbox.approvals.length === 0 ? renderNothing(query.asked !== undefined) : renderInboxTable(inbox, names)}</div>
${renderPager({ first, next })}
</div>`;
  return visit.show({ title: 'Approvals', main });
}

function renderChips({ asked, ...query }: Query): Html {
  const chip = (label: string, isCurrent: boolean, more: Query) =>
    html`<li><a class="chip" href="${pagePath(pages.approvals, {}, { ...query, ...more })}" ${isCurrent ? html`aria-current="true"` : null}>${label}</a></li>`;
  return html`<nav aria-label="Which approvals"><ul class="chips">
${chip('All', asked === undefined, {})}
${chip('Requested from you', asked === 'true', { asked: 'true' })}
</ul></nav>`;
}

/**
 * How many runs wait. The number is updated, but the rows are not, so that no row moves under the pointer. Instead, the line says how the
 * inbox differs from the rows on the page. The address of the update says which rows those are.
 */
function renderCount(visit: Visit, inbox: Inbox, query: Query): Html {
  const ids = inbox.approvals.map(({ run }) => run.id);
  const isUpdate = visit.query('shown') !== undefined;
  const shown = visit.query('shown') ?? String(ids.length);
  const last = (isUpdate ? visit.query('last') : ids.at(-1)) ?? '';
  const live = {
    stream: pagePath(pages.approvalStream),
    address: pagePath(pages.approvals, {}, { ...query, shown, last: last || undefined }),
  };
  const news = describeNews({ shown: Number(shown), last }, ids, inbox.next_cursor !== null);
  return renderLive(
    live,
    html`<p class="inbox-count" role="status"><strong>${describeCount(inbox)}</strong>${news ? html` <span class="muted">${news} –</span> <a href="${pagePath(pages.approvals, {}, query)}">show</a>` : null}</p>`,
  );
}

function describeCount({ approvals, next_cursor: next }: Inbox): string {
  const count = approvals.length;
  if (next !== null) return `${count} on this page, and more behind it`;
  return count === 1 ? '1 run' : `${count} runs`;
}

function renderNothing(isAskedOnly: boolean): Html {
  if (isAskedOnly) {
    const all = html`<a class="button button-plain" href="${pagePath(pages.approvals)}">Show all</a>`;
    return renderEmpty('No review requests', 'Runs appear here when your review is requested.', all);
  }
  const runs = html`<a class="button button-plain" href="${pagePath(pages.runs)}">Show all runs</a>`;
  return renderEmpty(
    'Nothing needs your approval',
    'Runs appear here when their plan needs an approval that you may give. Your own runs need another person’s approval.',
    runs,
  );
}

/** The inbox: the runs that wait for the visitor's approval, oldest first. */
export const inboxPages = [
  page('GET', pages.approvals, showInbox),
  page('GET', pages.approvalStream, followApprovals),
  page('GET', pages.approvalCount, sendApprovalCount),
];
