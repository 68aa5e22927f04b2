import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#api/web/forms/schema/resolve.ts';
import { type Html, html } from '#api/web/html.ts';
import type { JsonObject } from '#domain/registry/variables/engine.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';

/** How a variable differs between two versions. */
export interface VariableChange {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The keywords that differ, with their values as JSON; empty where one has none. */
  readonly details: readonly { readonly keyword: string; readonly before: string; readonly after: string }[];
}

/** What has changed in the variables between two versions, by name. */
export function compareVariables(before: JsonObject, after: JsonObject): VariableChange[] {
  const [old, now] = [describeAll(before), describeAll(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): VariableChange[] => {
    const [was, is] = [old.get(name), now.get(name)];
    if (!was) return [{ name, kind: 'added', details: [] }];
    if (!is) return [{ name, kind: 'removed', details: [] }];
    const keywords = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    const details = keywords
      .filter((keyword) => !isDeepStrictEqual(was[keyword], is[keyword]))
      .map((keyword) => ({ keyword, before: write(was[keyword]), after: write(is[keyword]) }));
    return details.length > 0 ? [{ name, kind: 'changed', details }] : [];
  });
}

/** The variables by name. Whether one is required counts as part of it. */
function describeAll(schema: JsonObject): Map<string, Record<string, unknown>> {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return new Map(
    Object.entries(propertiesOf(schema)).map(([name, variable]) => [
      name,
      { ...(isObject(variable) ? variable : { schema: variable }), required: required.includes(name) },
    ]),
  );
}

const longestShown = 300;

function write(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

const words = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const;

/** The changes of the variables since another version. */
export function renderComparison(changes: readonly VariableChange[], previous: string): Html {
  if (changes.length === 0) return html`<p class="muted">The variables are those of ${previous}.</p>`;
  return html`<ul class="changes">${changes.map(
    ({ name, kind, details }) =>
      html`<li><span class="change change-${kind}">${words[kind]}</span> <code class="foreign">${name}</code>${
        details.length > 0
          ? html`<ul>${details.map(({ keyword, before, after }) => html`<li><code>${keyword}</code>: ${before ? html`<del class="foreign">${before}</del>` : html`<span class="muted">nothing</span>`} → ${after ? html`<ins class="foreign">${after}</ins>` : html`<span class="muted">nothing</span>`}</li>`)}</ul>`
          : null
      }</li>`,
  )}</ul>`;
}
