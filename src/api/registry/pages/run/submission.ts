import { toLines } from '#api/web/forms/read-form.ts';
import type { SentFields } from '#api/web/forms/schema/decode.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { isSchemaField } from '#api/web/forms/schema/slots.ts';
import { knowsField } from '#api/web/forms/schema/unknown-fields.ts';
import { Invalid } from '#domain/shared/errors.ts';

/** The fields of the form besides those of the variables. */
export const basicFields = [
  'version',
  'shown',
  'environment_id',
  'instance',
  'operation',
  'replace',
  'options.target',
  'options.exclude',
  'options.refresh',
  'options.parallelism',
  'options.log_level',
  'despite_dependents',
  'confirmation',
  'message',
  'compared',
  'carried',
  'key',
  'do',
] as const;
export type BasicField = (typeof basicFields)[number];

/** Fields that no visitor fills in. */
export const hiddenFields: readonly BasicField[] = ['shown', 'compared', 'carried', 'key', 'do'];

/** Names the deployed secrets that the run drops. It may be sent more than once. */
export const omitField = 'omit';

export interface SentForm {
  readonly basic: Readonly<Record<BasicField, string>>;
  readonly omitted: readonly string[];
  readonly fields: SentFields;
}

/** Reads a submitted form for a run. @throws Invalid for a field that no such form has */
export function readSentForm(body: unknown): SentForm {
  const fields = new Map(Object.entries(body ?? {}).map(([name, value]) => [name, [value].flat().map(String)]));
  for (const [name, values] of fields) {
    if (!isBasic(name) && name !== omitField && !isSchemaField(name))
      throw new Invalid(`the form has no field ${JSON.stringify(name)}`);
    if (isBasic(name) && values.length > 1) throw new Invalid(`the field "${name}" was sent more than once`);
  }
  const basic = Object.fromEntries(basicFields.map((name) => [name, toLines(fields.get(name)?.[0] ?? '')]));
  return { basic: basic as SentForm['basic'], omitted: fields.get(omitField) ?? [], fields };
}

/** @throws Invalid for a field that the form of these variables cannot have */
export function refuseUnknownFields({ fields }: SentForm, root: ObjectNode): void {
  const unknown = [...fields.keys()].find((name) => !isBasic(name) && name !== omitField && !knowsField(root, name));
  if (unknown !== undefined) throw new Invalid(`the form has no field ${JSON.stringify(unknown)}`);
}

function isBasic(name: string): name is BasicField {
  return (basicFields as readonly string[]).includes(name);
}
