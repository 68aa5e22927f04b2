import { escapePointer } from '#domain/shared/values/json-pointer.ts';

/**
 * A slot identifies a value in a form. It is a JSON pointer, except that rows and shapes have segments that cannot be names of members. The
 * names of form fields are made from slots, so the plan alone is enough to read what a form sends.
 */
export const slots = {
  member: (slot: string, name: string) => `${slot}/${escapePointer(name)}`,
  item: (slot: string, index: number) => `${slot}/${index}`,
  row: (slot: string, index: number) => `${slot}/~r${index}`,
  shape: (slot: string, index: number) => `${slot}/~s${index}`,
};

/** The names of the fields that a slot has. */
export const fieldNames = {
  value: (slot: string) => `v${slot}`,
  /** The value in a text area, for browsers without scripts. */
  lines: (slot: string) => `l${slot}`,
  /** The number of items or rows. */
  count: (slot: string) => `n${slot}`,
  /** The name of a row. */
  key: (slot: string) => `k${slot}`,
  /** The chosen shape. */
  shape: (slot: string) => `s${slot}`,
  /** The shape that the form shows, which differs from the chosen one until the form is shown again. */
  shown: (slot: string) => `p${slot}`,
  /** The value as JSON. */
  json: (slot: string) => `j${slot}`,
};

/** Whether a form field belongs to the value of a schema, by its name. */
export function isSchemaField(name: string): boolean {
  return /^(?:[vlnkspj]\/|j$)/.test(name);
}

/** An id for a field, different for every name. */
export function idOf(name: string): string {
  const text = name.replaceAll(/[^A-Za-z0-9-]/gu, (character) => `_${character.codePointAt(0)?.toString(36)}_`);
  return `field-${text}`;
}

/** The id of a group of fields. */
export function groupId(slot: string): string {
  return idOf(`g${slot}`);
}
