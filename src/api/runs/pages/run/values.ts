import { renderCopied } from '#api/web/components/copied.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ShownRun } from '../run-tab.ts';

/** The number of characters from which a value is folded. */
const maxLength = 400;
/** The number of characters after which a page cuts a value. */
const max = 20_000;

/** The outputs of a run. Sensitive ones are masked. */
export function renderOutputs(outputs: ShownRun['outputs']): Html {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return html`<p class="muted">None.</p>`;
  return html`<dl class="facts">${entries.map(
    ([name, { value, sensitive, unrepresentable }]) =>
      html`<dt class="foreign">${name}</dt><dd>${sensitive ? masked : renderCopied(name, renderValue(textOf(value)))}${renderMissing(unrepresentable)}</dd>`,
  )}</dl>`;
}

/** Says which parts of an output are missing because they cannot be stored. */
export function renderMissing(missing: ShownRun['outputs'][string]['unrepresentable'] = []): Html | null {
  if (missing.length === 0) return null;
  return html` <span class="muted">Not stored: ${missing.map(({ path, reason }) => html`<span class="foreign">${path || 'the value'}</span> ${reason}. `)}The state has it.</span>`;
}

type Source = NonNullable<ShownRun['variable_sources']>[number];

/** Variables. Each says where its value comes from, unless the run named it itself. Secret values are masked. */
export function renderVariables(
  variables: ShownRun['variables'],
  given: ShownRun['variable_sources'] = null,
  reads: ShownRun['reads'] = [],
): Html {
  const entries = Object.entries(variables);
  const ofStates = reads.filter(({ variable }) => !Object.hasOwn(variables, variable)).map(renderState);
  if (entries.length === 0) return html`<p class="muted">None.</p>${ofStates}`;
  const sources = (given ?? []).filter(({ category }) => category === 'template');
  const sourceOf = new Map(sources.map((source) => [source.variable, source]));
  return html`<dl class="facts">${entries.map(
    ([name, value]) =>
      html`<dt class="foreign">${name}</dt><dd>${isMasked(value) ? masked : renderValue(textOf(value))} ${renderSource(sourceOf.get(name))}${reads.filter(({ variable }) => variable === name).map(renderRead)}</dd>`,
  )}</dl>${ofStates}`;
}

/** The names of the environment variables that a run's tools get, and where they come from. Their values are not shown. */
export function renderEnvironmentVariables({ variable_sources }: ShownRun): Html {
  const given = (variable_sources ?? []).filter(({ category }) => category === 'env');
  if (given.length === 0) return html`<p class="muted">None.</p>`;
  return html`<dl class="facts">${given.map(
    (source) => html`<dt class="foreign">${source.variable}</dt><dd>${renderSource(source)}</dd>`,
  )}</dl>`;
}

/** An output of another instance that the configuration reads through a data source. */
function renderState({ variable, instance, instance_id, run_id }: ShownRun['reads'][number]): Html {
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance_id })}">${instance}</a>`;
  return html`<p><span class="mono foreign">${variable}</span> <span class="muted">is given the outputs of ${link}${run_id ? html`, deployed by ${renderRunLink(run_id)}` : null}</span></p>`;
}

/** An output of another instance that set a variable, with the name that the instance had then. */
function renderRead({
  path,
  instance,
  instance_id,
  output,
  run_id,
  state_serial,
  copied,
}: ShownRun['reads'][number]): Html {
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance_id })}">${instance}</a>`;
  const state = state_serial > 0 ? `, state #${state_serial}` : '';
  const by = run_id ? html`, deployed by ${renderRunLink(run_id)}` : null;
  return html` <span class="muted">${path ? html`<span class="mono foreign">${path}</span> ` : null}is the output <span class="mono foreign">${output}</span> of ${link}${state}${by}${copied ? ', as an earlier run had read it' : null}</span>`;
}

/** Where the value of a variable comes from, by the name at that time. A variable set may have been deleted since. */
function renderSource(source: Source | undefined): Html | null {
  return source ? html`<span class="muted">${linkSource(source)}</span>` : null;
}

/** The source of a variable, with a link to it. */
export function linkSource(source: Source): Html {
  const { kind, id, name } = source;
  const path =
    kind === 'variable_set'
      ? pagePath(pages.variableSet, { id })
      : pagePath(pages.environment, { id }, { tab: 'variables' });
  const giver = kind === 'variable_set' ? 'the set' : 'the environment';
  return html`from ${giver} <a class="foreign" href="${path}">${name}</a>`;
}

const masked = html`<span class="muted masked">${renderIcon('eye-off')}sensitive, not shown</span>`;

function isMasked(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sensitive' in value && value.sensitive === true;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function renderValue(text: string): Html {
  if (text === '') return html`<span class="muted">empty</span>`;
  const code = html`<code class="foreign value" data-value>${text.slice(0, max)}</code>${
    text.length > max ? html` <span class="muted">The first ${max} of ${text.length} characters.</span>` : null
  }`;
  if (text.length <= maxLength) return code;
  return html`<details><summary class="foreign">${text.slice(0, 80)}… <span class="muted">${text.length} characters</span></summary>${code}</details>`;
}
