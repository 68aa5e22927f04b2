import { z } from 'zod';

/** The property name in code for a name in the API: `teamId` for `team_id`. */
type PropertyOf<Name> = Name extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<PropertyOf<Rest>>}` : Name;

function propertyOf(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Renames the fields of a body to the property names of the domain. Values stay as they are. */
export function toProperties<Body extends object>(
  body: Body,
): { [Name in keyof Body as PropertyOf<Name>]: Body[Name] } {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [propertyOf(name), value])) as never;
}

/** An object that has a property for each field of an answer. */
export type Answered<Fields extends z.ZodRawShape> = {
  readonly [Name in keyof Fields as PropertyOf<Name>]: z.output<Fields[Name]>;
};

/** Builds an answer with these fields. Each takes the value of the property of the same name. */
export function answerOf<Fields extends z.ZodRawShape, From extends Answered<Fields>>(fields: Fields, from: From) {
  const values = from as Readonly<Record<string, unknown>>;
  const answer: Record<string, unknown> = {};
  for (const [name, property] of namesOf(fields)) answer[name] = values[property];
  return answer as { [Name in keyof Fields]: From[PropertyOf<Name> & keyof From] };
}

const namesByFields = new WeakMap<z.ZodRawShape, (readonly [name: string, property: string])[]>();

/** The fields with their properties. A list asks for those of the same view once for each row. */
function namesOf(fields: z.ZodRawShape): (readonly [name: string, property: string])[] {
  const known = namesByFields.get(fields);
  if (known) return known;
  const names = Object.keys(fields).map((name) => [name, propertyOf(name)] as const);
  namesByFields.set(fields, names);
  return names;
}

/** Makes the fields of an update from those of a creation. Each is optional: a field that the update leaves out keeps its value. */
export function changesOf<Fields extends z.ZodRawShape>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, field]) => [name, optional(field as z.ZodType)]);
  return Object.fromEntries(entries) as { [Name in keyof Fields]: Optional<Fields[Name]> };
}

type Optional<Field> =
  Field extends z.ZodOptional<z.core.SomeType>
    ? Field
    : Field extends z.ZodDefault<infer Inner>
      ? z.ZodOptional<Inner>
      : Field extends z.core.SomeType
        ? z.ZodOptional<Field>
        : never;

function optional(field: z.ZodType) {
  if (field instanceof z.ZodOptional) return field;
  return z.optional(field instanceof z.ZodDefault ? field.unwrap() : field);
}
