import { type Html, html } from '../html.ts';

export type Fact = readonly [label: string, value: Html | string | number | null | undefined];

/** Names and values of one thing, side by side in two columns if `isWide` and there is room. A fact without a value is left out. */
export function renderFacts(facts: readonly Fact[], { isWide = false }: { readonly isWide?: boolean } = {}): Html {
  const present = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="${isWide ? 'facts facts-wide' : 'facts'}">${present.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`;
}
