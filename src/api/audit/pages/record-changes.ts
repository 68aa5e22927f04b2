import { renderUnchanged, renderValueChanges } from '#api/web/components/value-change/value-changes.ts';
import { type Html, html } from '#api/web/html.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import { listValueChanges, type ValueChanges } from '#domain/shared/values/comparison/value-changes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** The values before and after in a record; null if it has none. */
interface Values {
  readonly before: unknown;
  readonly after: unknown;
}

/** The values that an action changed, by path. */
export function listRecordChanges({ before, after }: Values, maxChanges?: number): ValueChanges {
  const limits = maxChanges === undefined ? {} : { maxChanges };
  return listValueChanges(
    (before ?? undefined) as JsonValue | undefined,
    (after ?? undefined) as JsonValue | undefined,
    limits,
  );
}

/** The values of one record, as completely as a page can show them. Null if it has none. */
export function renderRecordChanges(record: Values): Html | null {
  const { changes, unchanged } = listRecordChanges(record);
  if (changes.length === 0 && unchanged.length === 0) return null;
  const view = { maxCharacters: 20_000, maxDifferences: 500, maxUnchanged: 200, whole: null, effort: newEffort() };
  return html`<div class="panel stack">${renderValueChanges(changes, view)}${renderUnchanged(unchanged, view)}</div>`;
}
