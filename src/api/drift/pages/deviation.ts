import { renderSides } from '#api/web/components/value-change/render-value.ts';
import { type Html, html } from '#api/web/html.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ShownFinding } from './words.ts';

type Evidence = Pick<ShownFinding['evidence'], 'before' | 'after' | 'sensitive' | 'action'>;

/** What should be and what is, as changes of values are shown everywhere. */
export function renderDeviation({ before, after, sensitive }: Evidence, mostCharacters = 2_000): Html {
  const [should, is] = [before as JsonValue, after as JsonValue];
  if (sensitive && should !== null && is !== null) return html`<em class="value-note">a secret value differs</em>`;
  const effort = { left: 20_000, characters: 2 * mostCharacters, until: Number.POSITIVE_INFINITY };
  const kind = should === null ? 'added' : is === null ? 'removed' : 'changed';
  return renderSides({ kind, before: should, after: is }, { mostCharacters, effort });
}

/** What happened to a whole resource; null if only a value of it differs. */
export function describeWhole({ path, evidence }: Pick<ShownFinding, 'path' | 'evidence'>): string | null {
  if (path !== '') return null;
  if (evidence.after === null) return 'The resource is gone.';
  return evidence.before === null ? 'The resource should not be there.' : 'The resource differs.';
}
