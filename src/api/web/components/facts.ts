import { type Html, html } from '../html.ts';

export type Fact = readonly [label: string, value: Html | string | number | null | undefined];

/** Names and values of one thing. A fact without a value is left out. */
export function renderFacts(facts: readonly Fact[]): Html {
  const present = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts">${present.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`;
}
