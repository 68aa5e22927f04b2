import { assetUrl } from '#api/web/assets.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html, renderTextPart } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import type { ShownRun } from '../run-tab.ts';
import type { LogPart, PartLine } from './log-part.ts';

const streamWords: Readonly<Record<string, string>> = { stderr: 'standard error', system: 'from the service' };
const streamSigns: Readonly<Record<string, string>> = { stderr: '!', system: '›' };

/** The rows of a page of a log: a head for each section, and lines. The script takes over these rows, and makes new ones like them. */
function renderRows(runId: string, part: LogPart): Html {
  const digits = Math.max(3, String(part.total).length);
  const heads = new Map(part.sections.map((section) => [section.first, section]));
  const rows = part.lines.map((line) => {
    const section = heads.get(line[0]);
    return html`${section ? html`<h3 class="log-head log-head-still"><strong>${section.label}</strong> <span class="status status-${section.tone}">${section.outcome}</span></h3>` : null}${renderLine(runId, line, digits)}
`;
  });
  return html`<div class="log-rows log-whole">${rows}</div>`;
}

function renderLine(runId: string, [number, stream, time, spans, cut]: PartLine, digits: number): Html {
  const word = streamWords[stream];
  const sign = html`<span class="log-sign" ${word ? html`title="${word}"` : null}>${streamSigns[stream] ?? '\u200b'}${word ? html`<span class="unseen"> ${word}: </span>` : null}</span>`;
  const text =
    typeof spans === 'string'
      ? renderTextPart(spans)
      : spans.map(([piece, classes]) => {
          const part = renderTextPart(piece);
          return classes === '' ? part : html`<span class="${classes}">${part}</span>`;
        });
  const rest =
    cut > 0
      ? html`<a class="log-rest" href="${pagePath(pages.runLogLine, { id: runId, number: String(number) })}"> … ${cut.toLocaleString('en')} more characters: show the whole line</a>`
      : null;
  return html`<div class="log-line ${word ? `log-${stream}` : null}" id="L${number}" data-line="${number}" data-time="${time}" ${word ? html`data-stream="${stream}"` : null} ${cut > 0 ? html`data-cut="${cut}"` : null}><a class="log-number" href="#L${number}" aria-label="Line ${number}">${String(number).padStart(digits)}</a>${sign}<span class="log-text">${text}</span>${rest}</div>`;
}

/** The log: a bar, the lines of one page, and links to the other pages. */
export function renderLog(run: ShownRun, part: LogPart, find: string | undefined): Html {
  const { id } = run;
  const failed = run.status === 'failed' || run.status === 'timed_out';
  return html`<run-log class="run-log" data-total="${part.total}" data-sections="${JSON.stringify(part.sections)}" data-revision="${run.revision}"
data-lines-url="${pagePath(pages.runLogLines, { id })}" data-matches-url="${pagePath(pages.runLogMatches, { id })}" data-stream-url="${pagePath(pages.runLogStream, { id })}"
data-line-url="${pagePath(pages.runLogLines, { id })}" data-icons="${assetUrl('icons.svg')}" ${isTerminal(run.status) ? null : html`data-live`} data-start="${failed ? 'error' : 'top'}">
<h2 class="unseen">Log</h2>
${renderBar(run, find)}
<div class="log-frame">
<div class="log-scroller" role="region" aria-label="Log, ${part.total.toLocaleString('en')} lines" tabindex="0">${renderRows(id, part)}</div>
<button class="log-news button button-primary" type="button" data-log="news" data-log-do="follow" hidden>↓ Follow</button>
</div>
<p class="log-plain muted" data-log="plain" ${part.hasLostColours ? null : html`hidden`}>Some lines are shown without their colours, because those before them have more than ten thousand. The download has all of them.</p>
${renderPages(id, part)}
</run-log>`;
}

function renderBar({ id, status }: ShownRun, find = ''): Html {
  const isLive = !isTerminal(status);
  return html`<div class="log-bar">
<form class="log-find" role="search" aria-label="Search this log" method="get" action="${pagePath(pages.run, { id })}"><input type="hidden" name="tab" value="log">
<input type="search" name="find" value="${find}" maxlength="200" placeholder="Find in the log" aria-label="Find in the log" data-key="f" data-key-says="Find in the log" autocomplete="off" spellcheck="false">
${renderTool('find-previous', 'Previous match', up)}${renderTool('find-next', 'Next match', down)}
<span class="log-count" data-log="find" role="status"></span></form>
<div class="log-tools">
<span class="log-count" data-log="errors" role="status"></span>
${renderTool('error-previous', 'Previous error', html`${up}Error`, 'E')}${renderTool('error-next', 'Next error', html`${down}Error`, 'e')}
${renderTool('top', 'Top of the log', 'Top', 'g')}${renderTool('end', isLive ? 'End of the log: follow it' : 'End of the log', 'End', 'G')}
${renderTool('wrap', 'Wrap long lines', 'Wrap', 'w', true)}${renderTool('times', 'Show times', 'Times', undefined, true)}
<a class="button button-small" href="${pagePath(pages.runLogText, { id })}" download>${renderIcon('download')}Download</a>
</div>
</div>`;
}

const up = renderIcon('chevron-up');
const down = renderIcon('chevron-down');

/** A button that works only with the script. */
function renderTool(action: string, says: string, label: Html | string, key?: string, isSwitch = false): Html {
  return html`<button class="button button-small log-tool" type="button" data-log-do="${action}" title="${says}${key ? html` (${key})` : null}" aria-label="${says}" ${key ? html`data-key="${key}" data-key-says="${says}"` : null} ${isSwitch ? html`aria-pressed="false"` : null}>${label}</button>`;
}

/** Links to the other pages of the log, for browsers without scripts. */
function renderPages(id: string, { lines, total }: LogPart): Html | null {
  const first = lines[0]?.[0] ?? 1;
  const last = lines.at(-1)?.[0] ?? total;
  if (total === 0) return html`<p class="log-pages muted">No output yet.</p>`;
  const perPage = 1000;
  const at = (from: number): LocalPath => pagePath(pages.run, { id }, { tab: 'log', from: String(from) });
  const end = Math.max(1, total - perPage + 1);
  return html`<nav class="pager log-pages" aria-label="Pages of the log">
<span class="muted">Lines ${first.toLocaleString('en')}–${last.toLocaleString('en')} of ${total.toLocaleString('en')}</span>
${first > 1 ? html`<a class="button button-small" href="${at(1)}">First</a><a class="button button-small" href="${at(Math.max(1, first - perPage))}" rel="prev">Previous</a>` : null}
${last < total ? html`<a class="button button-small" href="${at(last + 1)}" rel="next">Next</a><a class="button button-small" href="${at(end)}">Last</a>` : null}
</nav>`;
}
