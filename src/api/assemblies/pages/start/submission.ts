import { toLines } from '#api/web/forms/read-form.ts';
import type { SentFields } from '#api/web/forms/schema/decode.ts';
import { isSchemaField } from '#api/web/forms/schema/slots.ts';
import { Invalid } from '#domain/shared/errors.ts';

/** The fields of the form besides those of the variables. */
export const basicFields = [
  'version',
  'shown',
  'environment_id',
  'operation',
  'message',
  'confirmation',
  'compared',
  'taken',
  'carried',
  'key',
  'do',
] as const;
export type BasicField = (typeof basicFields)[number];
export type Basic = Readonly<Record<BasicField, string>>;

export interface SentStart {
  readonly basic: Basic;
  /** The checked nodes. */
  readonly only: readonly string[];
  readonly fields: SentFields;
}

/** Reads a submitted form for an assembly run. @throws Invalid for a field that no such form has */
export function readSentStart(body: unknown): SentStart {
  const fields = new Map(Object.entries(body ?? {}).map(([name, value]) => [name, [value].flat().map(String)]));
  for (const [name, values] of fields) {
    const isKnown = isBasic(name) || name === 'only' || isSchemaField(name);
    if (!isKnown) throw new Invalid(`the form has no field ${JSON.stringify(name)}`);
    if (isBasic(name) && values.length > 1) throw new Invalid(`the field "${name}" was sent more than once`);
  }
  const basic = Object.fromEntries(basicFields.map((name) => [name, toLines(fields.get(name)?.[0] ?? '')]));
  return { basic: basic as Basic, only: fields.get('only') ?? [], fields };
}

function isBasic(name: string): name is BasicField {
  return (basicFields as readonly string[]).includes(name);
}
