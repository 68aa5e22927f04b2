import type { Schema } from '#domain/registry/variables/engine.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';
import { type Budget, costOfText } from '../budget.ts';
import { type LabeledValue, textOf } from './node.ts';
import { resolveSchema } from './resolve.ts';

const maxOptions = 500;
const optionsOfOne = 10;

export const yesAndNo: readonly LabeledValue[] = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
];

export const nothing: LabeledValue = { value: null, label: 'Nothing (null)' };

/** A value as an option. Strings are shown as they are, everything else as JSON. */
export function optionOf(value: JsonValue, title = ''): LabeledValue {
  return { value, label: title || showValue(value) };
}

/** A value as people read it. */
export function showValue(value: JsonValue): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

/**
 * The values of an `enum`, or of a `oneOf` or `anyOf` that lists constants with titles; null if the schema has neither.
 * @throws BeyondBudget
 */
export function findOptions(schema: JsonObject, root: JsonObject, budget: Budget): LabeledValue[] | null {
  const values = schema['enum'];
  if (Array.isArray(values)) {
    if (values.length > maxOptions) return null;
    budget.demand(Math.ceil(values.length / optionsOfOne));
    return charged(
      values.map((value) => optionOf(value)),
      budget,
    );
  }
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(branches) || branches.length > maxOptions) return null;
  const options: LabeledValue[] = [];
  for (const branch of branches) {
    const resolved = resolveSchema(branch as Schema, root, budget);
    if (resolved['const'] === undefined) return null;
    const option = optionOf(resolved['const'], textOf(resolved, 'title'));
    budget.charge(costOfText(option.label.length));
    options.push(option);
  }
  return options.length > 0 ? options : null;
}

/** Pays for the texts of options. @throws BeyondBudget */
function charged(options: LabeledValue[], budget: Budget): LabeledValue[] {
  budget.charge(costOfText(options.reduce((sum, { label }) => sum + label.length, 0)));
  return options;
}
