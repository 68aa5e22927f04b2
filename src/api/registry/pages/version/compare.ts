import { showUnseen } from '#api/web/components/value-change/print.ts';
import { renderValueChanges } from '#api/web/components/value-change/value-changes.ts';
import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import { type Html, html } from '#api/web/html.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import { type Effort, newEffort } from '#domain/shared/values/comparison/compare.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';

/** How a variable differs between two versions. */
export interface VariableChange {
  readonly name: string;
  readonly kind: ValueChange['kind'];
  /** The keywords that differ; none if the variable is added or removed. */
  readonly keywords: readonly ValueChange[];
}

/** The changes of the variables between two versions, by name. */
export function compareVariables(
  before: JsonObject,
  after: JsonObject,
  effort: Effort = newEffort(),
): VariableChange[] {
  const [old, now] = [describeAll(before), describeAll(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): VariableChange[] => {
    const [was, is] = [old.get(name), now.get(name)];
    if (!was) return [{ name, kind: 'added', keywords: [] }];
    if (!is) return [{ name, kind: 'removed', keywords: [] }];
    const { changes } = listValueChanges(was, is, { effort });
    return changes.length > 0 ? [{ name, kind: 'changed', keywords: changes }] : [];
  });
}

/** The variables by name. Whether one is required counts as part of it. */
function describeAll(schema: JsonObject): Map<string, JsonValue> {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return new Map(
    Object.entries(propertiesOf(schema)).map(([name, variable]) => [
      name,
      { ...(isObject(variable) ? variable : { schema: variable }), required: required.includes(name) } as JsonValue,
    ]),
  );
}

const words = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const;
const extent = { maxCharacters: 2_000, maxDifferences: 50, maxUnchanged: 0, whole: null };

/** The changes of the variables since another version. */
export function renderComparison(changes: readonly VariableChange[], previous: string): Html {
  if (changes.length === 0) return html`<p class="muted">The variables are those of ${previous}.</p>`;
  const view = { ...extent, effort: newEffort() };
  return html`<ul class="changes">${changes.map(
    ({ name, kind, keywords }) =>
      html`<li><span class="change change-${kind}">${words[kind]}</span> <code class="foreign">${showUnseen(name)}</code>${renderValueChanges(keywords, view)}</li>`,
  )}</ul>`;
}
