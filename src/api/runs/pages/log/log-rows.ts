import { type Html, html, renderTextPart } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { LogPart, PartLine } from './log-part.ts';

const streamWords: Readonly<Record<string, string>> = { stderr: 'standard error', system: 'from the service' };
const streamSigns: Readonly<Record<string, string>> = { stderr: '!', system: '›' };

/** The rows of a page of a log: heads where a section begins, and lines. The script takes the lines over, and makes rows like these. */
export function renderRows(runId: string, part: LogPart): Html {
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
