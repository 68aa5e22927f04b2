import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

/** One chip: the filter that it selects. */
export interface Chip<Value> {
  readonly value: Value;
  readonly label: string;
}

/** Links that filter a list by a value. The current one is marked. `label` names the filter. */
export function renderChips<Value>(
  label: string,
  chips: readonly Chip<Value>[],
  current: Value,
  link: (value: Value) => LocalPath,
): Html {
  const links = chips.map(
    ({ value, label }) =>
      html`<li><a class="chip" href="${link(value)}" ${value === current ? html`aria-current="true"` : null}>${label}</a></li>`,
  );
  return html`<nav aria-label="${label}"><ul class="chips">${links}</ul></nav>`;
}

/** The chips of some values, after one that selects all. */
export function withAll<Value>(
  values: readonly Value[],
  labelOf: (value: Value) => string,
  all = 'All',
): Chip<Value | undefined>[] {
  return [{ value: undefined, label: all }, ...values.map((value) => ({ value, label: labelOf(value) }))];
}
