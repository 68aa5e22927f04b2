import type { FastifyReply } from 'fastify';
import { list as listUndoAttempts } from '#api/undo/operations.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { copyScript } from '#api/web/components/copied.ts';
import { lookOfRun } from '#api/web/components/status.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive, renderStatic } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { readLateErrors } from '#domain/registry/checks/store.ts';
import type { Action } from '#domain/shared/actions.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { getLogLines } from '../log-line-operations.ts';
import { getEvents } from '../log-operations.ts';
import { getRun } from '../operations.ts';
import { renderRunActions } from './actions/buttons.ts';
import { eventsTab } from './events/events-tab.ts';
import { logTab } from './log/log-tab.ts';
import { planTab } from './plan/plan-tab.ts';
import { renderBlockerWait, renderShareHolders } from './run/blockers.ts';
import { renderDependentsNotice } from './run/dependents-notice.ts';
import { detailsTab } from './run/details-tab.ts';
import { type CommentForm, renderCommentForm, renderDiscussion } from './run/discussion.ts';
import { renderPartial, renderRunHead, renderSituation, renderToolSwitch, titleOf } from './run/head.ts';
import { renderLateErrors } from './run/late-errors.ts';
import { renderResult } from './run/outputs.ts';
import { renderResets } from './run/resets.ts';

import { type LogPlaces, renderTimeline } from './run/timeline-view.ts';
import { type ReviewForm, type RunTab, type RunTabKey, type RunVisit, runTabPath, type ShownRun } from './run-tab.ts';

/** The parts of a run's page, in their order. */
const tabs: readonly RunTab[] = [planTab, logTab, eventsTab, detailsTab];

/** The tabs that show the run's discussion below them. */
const discussedIn: readonly RunTabKey[] = ['plan', 'details'];

/** Forms of the page that were refused, with the status of the answer. */
interface RefusedForms {
  readonly status?: number;
  readonly comment?: CommentForm;
  readonly review?: ReviewForm | null;
}

/** Shows a run. A form that was refused is shown again with its problems. */
export async function showRunPage(
  visit: RunVisit,
  { status = 200, comment = {}, review = null }: RefusedForms = {},
): Promise<FastifyReply> {
  const run = await visit.read(getRun, { params: { id: visit.params.id }, query: {} });
  const chosen = comment.typed?.['tab'] ?? visit.query('tab');
  const chosenTab = review ? planTab : tabs.find(({ key }) => key === chosen);
  const tab = chosenTab ?? findFollowedTab(visit, run);
  const follows = chosenTab === undefined;
  const isDiscussed = discussedIn.includes(tab.key) && run.deleted_at === null;
  const [head, content, discussion] = await Promise.all([
    renderHead(visit, run, tab),
    renderTab(visit, run, { tab, review }),
    isDiscussed ? renderDiscussion(visit, run) : null,
  ]);
  const page = {
    title: titleOf(run),
    tabStatus: lookOfRun(run).word,
    hasProblem: Boolean(comment.problems ?? review?.problems),
    // If the visitor did not choose the tab, an update may replace it by the plan's tab, so the page already needs the plan's scripts.
    scripts: [...new Set([copyScript, ...(tab.scripts ?? []), ...(follows ? (planTab.scripts ?? []) : [])])],
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.run)}
${renderLivePart(visit, { run, tab, review, follows }, html`${head}${renderTabLinks(run, tab)}${tab.hasOwnStream ? null : content}${discussion}`)}
${tab.hasOwnStream ? content : null}
${isDiscussed ? renderCommentForm(run, tab.key, comment) : null}
</div>`,
  };
  return visit.show(page, status);
}

/** The tab that most readers want first. It opens unless the visitor chooses another one. */
function findTabThatMatters({ status, status_reason: reason, plan }: ShownRun): RunTab {
  if (reason === 'approval_timeout') return planTab;
  const opensLog = status === 'running' || status === 'failed' || status === 'timed_out' || status === 'canceling';
  if (opensLog) return logTab;
  return plan === null && status === 'queued' ? eventsTab : planTab;
}

/**
 * The tab for a visitor who has chosen none. An update opens the tab that matters now. It can neither replace a tab that has a stream of
 * its own nor open one, so the tab that is open stays then.
 */
function findFollowedTab(visit: RunVisit, run: ShownRun): RunTab {
  const matters = findTabThatMatters(run);
  const opened = tabs.find(({ key }) => key === visit.query('opened'));
  return opened && (opened.hasOwnStream || matters.hasOwnStream) ? opened : matters;
}

async function renderHead(visit: RunVisit, run: ShownRun, tab: RunTab): Promise<Html> {
  const [names, { events }, places, undo, lateErrors, dependents, holders, blockerWait] = await Promise.all([
    readNames(visit.em, {
      environments: [run.environment_id],
      templates: [run.template_id],
      assemblies: [run.assembly_node?.assembly_id ?? null],
    }),
    visit.read(getEvents, { params: { id: run.id }, query: { limit: '1000' } }),
    readLogPlaces(visit, run),
    readUndo(visit, run),
    readLateErrors(visit.em, { templateId: run.template_id, version: run.template_version }),
    renderDependentsNotice(visit, run),
    renderShareHolders(visit, run),
    renderBlockerWait(visit, run),
  ]);
  return html`${renderRunHead(run, names, renderRunActions(run, { events, undo }))}
${renderSituation(run, events)}
${holders}${blockerWait}
${tab.key === 'details' ? null : renderResult(run, runTabPath(run.id, 'details'))}
${renderToolSwitch(run)}
${renderPartial(run)}
${renderResets(run)}
${renderLateErrors(run, lateErrors)}
${dependents}
${renderTimeline(run, { events, places })}`;
}

/** Whether the run's change can be undone; null while there is none. */
async function readUndo(
  visit: RunVisit,
  { id, status, operation, deleted_at: deleted }: ShownRun,
): Promise<Action | null> {
  const mayHaveChanged = operation === 'apply' || operation === 'refresh';
  if (!isTerminal(status) || !mayHaveChanged || deleted !== null) return null;
  const reading = visit.mayDo(listUndoAttempts);
  if (!reading.allowed) return reading;
  const { actions } = await visit.read(listUndoAttempts, { params: { id }, query: { limit: '1' } });
  return actions[0] ?? null;
}

/** The number of the line at which the log of each phase begins. If a phase has several attempts, that of the last one. */
async function readLogPlaces(
  visit: RunVisit,
  { id, started_at: start, deleted_at: deleted }: ShownRun,
): Promise<LogPlaces> {
  if (start === null || deleted !== null) return {};
  const { sections } = await visit.read(getLogLines, { params: { id }, query: { limit: '1' } });
  return Object.fromEntries(sections.map(({ phase, first_line: first }) => [phase, first]));
}

interface ShownTab {
  readonly tab: RunTab;
  readonly review: ReviewForm | null;
}

/** Renders a tab. The plan and the log of a deleted run are gone. */
async function renderTab(visit: RunVisit, run: ShownRun, { tab, review }: ShownTab): Promise<Html> {
  const isGone = run.deleted_at !== null && (tab.key === 'plan' || tab.key === 'log');
  if (isGone) return renderEmpty(`No ${tab.key}`, 'It was deleted with the run.');
  return tab.render(visit, run, review);
}

function renderTabLinks({ id, operation }: ShownRun, current: RunTab): Html {
  return renderTabs(
    'Parts of the run',
    tabs.map((tab) => ({
      label: (operation === 'scan' ? tab.labelOfScan : undefined) ?? tab.label,
      path: runTabPath(id, tab.key),
      isCurrent: tab === current,
    })),
  );
}

/**
 * A run that has ended changes no more. While a refused review is shown, updates are off: one would remove its problems and what was typed.
 */
function renderLivePart(
  visit: RunVisit,
  { run, tab, review, follows }: ShownTab & { readonly run: ShownRun; readonly follows: boolean },
  content: Html,
): Html {
  if (isTerminal(run.status) || review) return renderStatic(content);
  const stream = pagePath(pages.runChanges, { id: run.id }, { revision: String(run.revision) });
  const live = { stream: tab.hasOwnStream ? null : stream, address: addressOf(visit, run, tab, follows), again: '20s' };
  return renderLive(live, content);
}

/** The address that updates request. It names a tab that the visitor chose, so that an update does not open another one. */
function addressOf(visit: RunVisit, run: ShownRun, { key, liveQuery }: RunTab, follows: boolean): string {
  const { request } = visit;
  const shown = new URL(request.method === 'GET' ? request.url : '/', 'http://service.invalid').searchParams;
  shown.set(follows ? 'opened' : 'tab', key);
  shown.delete('done');
  for (const [name, value] of Object.entries(liveQuery?.(visit, run) ?? {})) shown.set(name, value);
  return `${pagePath(pages.run, { id: run.id })}?${shown}`;
}
