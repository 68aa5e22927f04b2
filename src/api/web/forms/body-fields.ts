import { z } from 'zod';
import { capitalize } from '../text.ts';
import type { FormField } from './fields/form-field.ts';
import { isYes, yesIf } from './fields/yes.ts';
import type { Typed } from './form-page.ts';
import { readWholeNumber } from './read-form.ts';

/** A longer text gets an area of several lines. */
const maxInLine = 250;

/** What a form adds to what the body of the operation says about a field. */
export type DescribedFields = Readonly<Record<string, Partial<FormField>>>;

/**
 * The fields of a form for these fields of an operation's body: the control that fits, and whether the field may be empty.
 * @param described labels, hints and controls that override those derived from names and limits
 * @param current the values of the resource that the form changes
 */
export function bodyFields(
  fields: z.ZodRawShape,
  described: DescribedFields = {},
  current: Readonly<Record<string, unknown>> = {},
): FormField[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    label: labelOf(name),
    ...controlOf(schemaOf(field as z.ZodType)),
    isOptional: z.safeParse(field, undefined).success,
    value: toTyped(current[name]),
    ...described[name],
  }));
}

/** The value of a resource in the form of its field. */
function toTyped(value: unknown): string | undefined {
  if (typeof value === 'boolean') return yesIf(value);
  return value === undefined || value === null ? undefined : String(value);
}

const schemas = new WeakMap<z.ZodType, z.core.JSONSchema.JSONSchema>();

/** The JSON Schema of a field. It is cached, because every request uses the same declarations. */
function schemaOf(type: z.ZodType): z.core.JSONSchema.JSONSchema {
  const known = schemas.get(type) ?? z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  schemas.set(type, known);
  return known;
}

/** Cost center, for `cost_center`. */
function labelOf(name: string): string {
  return capitalize(name.replaceAll('_', ' '));
}

function controlOf({
  type,
  enum: values,
  maxLength = 0,
  minimum: min,
  maximum: max,
}: z.core.JSONSchema.JSONSchema): Partial<FormField> {
  if (values) return { kind: 'select', choices: values.map(String).map((value) => ({ value, label: labelOf(value) })) };
  if (type === 'boolean') return { kind: 'checkbox' };
  if (type === 'integer')
    return { kind: 'number', ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  return maxLength > maxInLine ? { kind: 'area' } : {};
}

/** Reads these fields of a body from what was typed. An empty field is left out, unless an empty text is valid for it. */
export function readFields(fields: z.ZodRawShape, typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = readValue(field as z.ZodType, typed[name] ?? '');
      return value === '' && !z.safeParse(field, value).success ? [] : [[name, value]];
    }),
  );
}

function readValue(field: z.ZodType, typed: string): unknown {
  const { type } = schemaOf(field);
  if (type === 'boolean') return isYes(typed);
  return type === 'integer' ? readWholeNumber(typed) : typed;
}
