import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { listEvents } from '../operations.ts';

/** The field for the events that a webhook hears, above a list of all that there are. */
export async function eventsField(visit: Visit<unknown>, events: readonly string[]): Promise<FormField> {
  return {
    name: 'events',
    label: 'Events',
    kind: 'area',
    isWordList: true,
    value: events.join('\n'),
    hint: 'One per line: * for all events, an area such as run.*, or a name such as run.finished. Audit records are sent only for audit.recorded.',
    below: await renderEventList(visit),
  };
}

/** The events that were written, one on each line. */
export function toEvents(text?: string): string[] {
  return readWords(text);
}

/** All events that webhooks can hear, by their areas. */
async function renderEventList(visit: Visit<unknown>): Promise<Html> {
  const { events } = await visit.read(listEvents);
  const areas = Map.groupBy(events, ({ type }) => type.slice(0, type.indexOf('.')));
  return html`<details class="fold"><summary>All ${events.length} events</summary><ul class="plain-list" role="list">
${[...areas].map(
  ([area, types]) =>
    html`<li><strong class="mono">${area}.*</strong>: <span class="mono">${types.map(({ type }) => type).join(', ')}</span></li>`,
)}</ul></details>`;
}
