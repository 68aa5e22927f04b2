import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderTimeWithSeconds } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import { parseWrittenJson } from '#domain/shared/values/exact-json.ts';
import { shownBodyCharacters } from '#domain/webhooks/model.ts';
import { describeAnswer, type ShownDelivery, type ShownTry, type ShownWebhook } from './labels.ts';

const columns: Column<ShownTry>[] = [
  { label: 'Started', kind: 'main', cell: ({ at }) => renderTimeWithSeconds(String(at)) },
  { label: 'Response', cell: (tried) => describeAnswer(tried) },
  {
    label: 'Failure reason',
    cell: ({ problem }) => problem && html`<span class="foreign">${toSentence(problem)}</span>`,
  },
];

/** The last attempts of a delivery, newest first. */
export function renderTries(tries: readonly ShownTry[]): Html | null {
  if (tries.length === 0) return null;
  const table = renderTable({ caption: 'Recent attempts, newest first', rows: tries.toReversed(), columns });
  return html`<section class="stack"><h2>Attempts</h2><div class="list-panel">${table}</div></section>`;
}

/** The body of a message, formatted in lines; or the reason why it is not shown. */
export function renderBody(body: string | null, webhook: ShownWebhook): Html {
  if (body === null) return html`<p class="muted">${explainHidden(webhook)}</p>`;
  const cut = body.length < shownBodyCharacters ? null : html`<p class="muted">The rest is not shown.</p>`;
  return html`<section class="stack"><h2>Request body</h2>
<pre class="code-block foreign" tabindex="0" role="group" aria-label="Body"><code>${inLines(body)}</code></pre>${cut}</section>`;
}

/**
 * Explains why the body is hidden. Only visitors who may change a webhook see its address, so the address shows whether the visitor is one
 * of them.
 */
function explainHidden({ url }: ShownWebhook): string {
  if (url === null) return 'Only people who may change the webhook can see the request and the response.';
  return 'The message is not shown: its subject was removed or has another owner, or the webhook no longer gets this type of event.';
}

/** The beginning of an endpoint's answer. */
export function renderAnswerText(answer: ShownDelivery['answer']): Html | null {
  if (!answer?.text) return null;
  return html`<section class="stack"><h2>Response body</h2>
<pre class="code-block foreign" tabindex="0" role="group" aria-label="Answer"><code>${answer.text}</code></pre></section>`;
}

/** Formats a body in lines. A body that was cut is not valid JSON any longer, and is shown unchanged. */
function inLines(body: string): string {
  if (body.length >= shownBodyCharacters) return body;
  return JSON.stringify(parseWrittenJson(body), null, 2);
}
