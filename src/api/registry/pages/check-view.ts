import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { ShownCheck, ShownVersion } from './views.ts';

type Findings = ShownCheck['errors'];
type Check = Omit<NonNullable<ShownVersion['check']>, 'at'>;

const stateWords = { passed: 'Passed', failed: 'Failed', not_done: 'Pending' } as const;
const toneOf = { passed: '', failed: 'badge-bad', not_done: '' } as const;

/** Says in one line whether a version was checked. */
export function renderCheckState({ check }: Pick<ShownVersion, 'check'>): Html | null {
  if (check === null) return null;
  const { state, tool, warnings, not_checked: notChecked } = check;
  const count = warnings.length;
  const words = state === 'passed' && notChecked.length > 0 ? 'Partially passed' : stateWords[state];
  return html`<span class="badge ${toneOf[state]}">${words}</span>${
    count > 0 ? html` <span class="muted">${count === 1 ? '1 warning' : `${count} warnings`}</span>` : null
  }${tool ? html`<span class="below muted">${tool.name} ${tool.version}</span>` : null}`;
}

/** Renders what the check of a version found; null if it found nothing. */
export function renderVersionCheck({ check }: Pick<ShownVersion, 'check'>): Html | null {
  if (check === null || isSilent(check)) return null;
  return html`<section class="panel stack" aria-labelledby="check"><h2 id="check">Check</h2>
<p>${describe(check)} <span class="muted">${renderTime(check.at)}</span></p>${renderFindings(check)}</section>`;
}

/** Renders the findings of a check of a draft. Nothing was published. */
export function renderDraftCheck(check: ShownCheck): Html {
  const isFine = check.valid && check.warnings.length === 0 && check.not_checked.length === 0;
  const lead = check.valid
    ? html`<p><strong>${check.not_checked.length > 0 ? 'This can be published, but it could be checked only in part.' : 'This can be published.'}</strong> ${describe(check)}</p>`
    : html`<p><strong>This cannot be published.</strong> ${describe(check)}</p>`;
  return html`<section class="notice ${check.valid ? (isFine ? '' : 'notice-wait') : 'notice-problem'}" aria-label="What the check found" ${check.valid ? null : html`role="alert"`} tabindex="-1" data-focus><div class="stack">${lead}${renderFindings(check)}</div></section>`;
}

function isSilent({ state, errors, warnings, not_checked: notChecked }: Check): boolean {
  return state === 'passed' && errors.length + warnings.length + notChecked.length === 0;
}

function describe({ state, tool, errors, not_checked: notChecked }: Check): string {
  const by = tool ? ` with ${tool.name} ${tool.version}` : '';
  if (state === 'passed' && notChecked.length > 0)
    return `A worker checked a part of it${by}, without running it. A run needs the rest too, such as its providers and modules: its plan fails if the worker cannot get them.`;
  if (state === 'passed') return `A worker checked it${by}, without running it.`;
  if (errors.length > 0)
    return tool ? `A worker checked it${by} and found errors.` : 'Its spec or its files have errors.';
  return 'No worker has checked it yet.';
}

function renderFindings({ errors, warnings, not_checked: notChecked }: Check): Html {
  return html`${renderList('Errors', errors)}${renderList('Warnings', warnings)}${
    notChecked.length > 0
      ? html`<div><p><strong>Not checked</strong></p><ul class="plain-list">${notChecked.map((text) => html`<li class="foreign">${toSentence(text)}</li>`)}</ul></div>`
      : null
  }`;
}

function renderList(title: string, findings: Findings): Html | null {
  if (findings.length === 0) return null;
  return html`<div><p><strong>${title}</strong></p><ul class="plain-list">${findings.map(
    ({ path, file, line, message }) =>
      html`<li class="foreign"><code>${file === undefined ? `spec${path}` : `${file}${line === undefined ? '' : `:${line}`}`}</code> ${toSentence(message)}</li>`,
  )}</ul></div>`;
}
