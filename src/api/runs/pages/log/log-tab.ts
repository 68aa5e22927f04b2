import { renderEmpty } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { getLogLines } from '../../log-line-operations.ts';
import type { RunTab, RunVisit, ShownRun } from '../run-tab.ts';
import { type LogLines, toPart } from './log-part.ts';
import { renderLog } from './log-view.ts';

const linesPerPage = '1000';

/** The log of a run. With scripts, it is a window that scrolls over all lines and shows new ones. Without scripts, it has pages. */
export const logTab: RunTab = {
  key: 'log',
  label: 'Log',
  hasOwnStream: true,
  scripts: ['run-log.js'],
  async render(visit, run) {
    // An update of the page's head does not take over the log.
    if (visit.request.headers['hx-request'] !== undefined) return html``;
    const lines = await readPage(visit, run);
    if (lines.total === 0 && isTerminal(run.status)) return renderEmpty('No log', whyEmpty(run, lines));
    return html`${renderRemoved(lines.removed_before)}${renderLog(run, toPart(lines), visit.query('find'))}`;
  },
};

/** Reads the page that the address names. Without one, reads the last lines if the run goes on or failed, and the first lines otherwise. */
function readPage(visit: RunVisit, run: ShownRun) {
  const from = visit.query('from');
  const wantsEnd = !isTerminal(run.status) || run.status === 'failed' || run.status === 'timed_out';
  const range = from === undefined && wantsEnd ? { last: linesPerPage } : { from: from ?? '1', limit: linesPerPage };
  return visit.read(getLogLines, { params: { id: run.id }, query: range });
}

function renderRemoved(before: string | null): Html | null {
  if (before === null) return null;
  return html`<div class="notice"><p>Lines from before ${renderTime(before)} were removed because their retention period ended.</p></div>`;
}

function whyEmpty({ deleted_at, started_at }: ShownRun, { removed_before }: LogLines): string {
  if (deleted_at) return 'The log was deleted with the run.';
  if (removed_before !== null) return 'It was removed because its retention period ended.';
  return started_at ? 'There was no output.' : 'The run ended before a worker began it.';
}
