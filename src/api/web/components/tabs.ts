import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

export interface Tab {
  readonly label: string;
  readonly path: LocalPath;
  readonly isCurrent: boolean;
  /** How many things the tab has; left out if undefined. */
  readonly count?: number | undefined;
}

/** Links between the parts of one thing. The digits 1 to 9 move to them. */
export function renderTabs(label: string, tabs: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}">${tabs.map(
    ({ label: name, path, isCurrent, count }, index) =>
      html`<a class="tab" href="${path}" data-key="${index + 1}" ${isCurrent ? html`aria-current="page"` : null}>${name}${count === undefined ? null : html` <span class="count">${count}</span>`}</a>`,
  )}</nav>`;
}
