import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import type { ShownRun } from '../run-tab.ts';
import { linkSource } from './values.ts';

type Reset = ShownRun['variables_reset'][number];

const causeWords: Readonly<Record<Reset['cause'], string>> = {
  default: 'the default',
  environment: 'set by the environment',
  not_set: 'no value',
  not_declared: 'this version has no such variable',
};

/** Which deployed variables the run resets although nobody asked for that, so that reviewers see them beside the plan. */
export function renderResets(run: ShownRun): Html | null {
  const { variables_reset: resets, template_version: version } = run;
  if (resets.length === 0) return null;
  const rows = resets.map(
    (reset) =>
      html`<li><code class="foreign">${reset.variable}</code>: ${renderResetValue(reset.before)} → ${reset.after && reset.cause !== 'not_set' ? html`${renderNewValue(reset)} <span class="muted">(${renderCause(run, reset)})</span>` : html`<span class="muted">${causeWords[reset.cause]}</span>`}</li>`,
  );
  const isOne = resets.length === 1;
  const what = isOne ? 'a variable that is' : `${resets.length} variables that are`;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p><strong>This run resets ${what} deployed.</strong> ${isOne ? 'It was not entered for this run, so it gets' : 'They were not entered for this run, so they get'} what version ${version} and the environment provide.${resets.some(({ cause }) => cause !== 'not_declared') ? ' To keep a value, enter it in a new run.' : null}</p><ul>${rows}</ul></div></div>`;
}

/** Where the new value comes from. A value from one of the environment's variable sets names the set. */
function renderCause({ variable_sources: sources }: ShownRun, { variable, cause }: Reset): Html | string {
  const source = sources?.find((each) => each.category === 'template' && each.variable === variable);
  return cause === 'environment' && source?.kind === 'variable_set' ? linkSource(source) : causeWords[cause];
}

/** Two masked secrets look alike, so the text says that they differ. */
function renderNewValue({ before, after }: Reset): Html | null {
  if (before.sensitive && after?.sensitive) return html`<span class="muted">another secret</span>`;
  return after && renderResetValue(after);
}

const maxShown = 200;

function renderResetValue({ value, sensitive, truncated }: Reset['before']): Html {
  if (sensitive) return html`<span class="muted">secret</span>`;
  if (truncated) return html`<span class="muted">a long value</span>`;
  const text = JSON.stringify(value);
  return html`<code class="foreign">${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}</code>`;
}
