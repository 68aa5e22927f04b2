import { isShort } from '#api/web/components/value-change/print.ts';
import { renderPlain, renderSides } from '#api/web/components/value-change/render-value.ts';
import { type Html, html } from '#api/web/html.ts';
import { expectationWords } from '#domain/drift/findings/perpetual-words.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ShownFinding } from './labels.ts';

type Evidence = Pick<ShownFinding['evidence'], 'before' | 'after' | 'sensitive' | 'action'>;

/** The expected and the actual value. */
export function renderDeviation({ before, after, sensitive }: Evidence, maxCharacters = 2_000): Html {
  const [expected, found] = [before as JsonValue, after as JsonValue];
  if (sensitive && expected !== null && found !== null) return html`<em class="value-note">a secret value differs</em>`;
  const effort = { left: 20_000, characters: 2 * maxCharacters, until: Number.POSITIVE_INFINITY };
  const extent = { maxCharacters, effort };
  if (isShort(expected) && isShort(found)) {
    const side = (value: JsonValue) => (value === null ? html`<em>nothing</em>` : renderPlain(value, extent));
    return html`<p class="deviation-sides"><span>Expected ${side(expected)}</span> <span>Found ${side(found)}</span></p>`;
  }
  const kind = expected === null ? 'added' : found === null ? 'removed' : 'changed';
  return html`<p class="deviation-sides">${legends[kind]}</p>${renderSides({ kind, before: expected, after: found }, extent)}`;
}

/** Legends for the signs, which alone would look like a planned change. */
const legends = {
  added: 'Expected nothing, found +',
  removed: 'Expected −, found nothing',
  changed: 'Expected −, found +',
} as const;

/** Why the scan could not determine the expected value; null if it could. */
export function renderExpectation({ expectation }: Pick<ShownFinding['evidence'], 'expectation'>): Html | null {
  return expectation && html`<p class="muted">${expectationWords[expectation]}</p>`;
}

/** What happened to a whole resource; null if only a value in it differs. */
export function describeWhole({ path, evidence }: Pick<ShownFinding, 'path' | 'evidence'>): string | null {
  if (path !== '') return null;
  if (evidence.after === null) return 'The resource is gone.';
  return evidence.before === null ? 'The resource was not expected.' : 'The resource differs.';
}
