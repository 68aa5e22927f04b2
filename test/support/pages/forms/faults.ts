import { randomUUID } from 'node:crypto';
import type { ShownField, ShownForm } from './shown-form.ts';

/** One way to fill in a form wrongly. */
export interface FormFault {
  readonly fault: string;
  readonly fields: Record<string, string>;
}

/** What a person or a broken page can do wrong with one field, by the name of the fault. Undefined: not with this field. */
const wrongValues: Readonly<Record<string, (field: ShownField) => string | undefined>> = {
  empty: ({ kind }) => (kind === 'hidden' ? undefined : ''),
  malformed: ({ kind }) => (kind === 'select' || kind === 'radio' ? 'no such choice' : '?? not;right {{ ??'),
  'an unknown id': ({ kind, value, name }) =>
    kind === 'select' || isId(value) || /user|owner|account|_ids?$/.test(name) ? randomUUID() : undefined,
  'too long': ({ kind }) => (['text', 'area', 'email', 'password'].includes(kind) ? 'x'.repeat(9_000) : undefined),
  'too large': ({ kind }) => (kind === 'number' ? '99999999999' : undefined),
  'too small': ({ kind }) => (kind === 'number' ? '-1' : undefined),
};

const isId = (value: string | null) => /^[0-9a-f]{8}-/.test(value ?? '');

/** The ways to fill in a form wrongly: every field at once and a stale revision; then also each field alone. */
export function faultsOf({ fields }: ShownForm, isEachAlone: boolean): FormFault[] {
  const open = fields.filter(({ name }) => !['key', 'expected_revision'].includes(name));
  const wrong = Object.entries(wrongValues);
  const together = wrong.flatMap(([kind, change]) => {
    if (!open.some((field) => change(field) !== undefined)) return [];
    const fault = `every field ${kind}`;
    return [{ fault, fields: fill(fields, (field) => (open.includes(field) ? change(field) : undefined)) }];
  });
  if (!isEachAlone) return [...together, ...staleFaults(fields)];
  const alone = open.flatMap((one) =>
    wrong.flatMap(([kind, change]) => {
      const value = change(one);
      if (value === undefined) return [];
      return [{ fault: `${one.name} ${kind}`, fields: fill(fields, (field) => (field === one ? value : undefined)) }];
    }),
  );
  return [...together, ...alone, ...staleFaults(fields)];
}

/** Somebody else changed the thing, or sent the form before under the same name. */
function staleFaults(fields: readonly ShownField[]): FormFault[] {
  const unchanged = () => undefined;
  const again = [1, 2].map((time) => ({ fault: `plausible values, time ${time}`, fields: fill(fields, unchanged) }));
  if (!fields.some(({ name }) => name === 'expected_revision')) return again;
  const stale = ['0', '1000000', 'x'].map((revision) => ({
    fault: `revision ${revision}`,
    fields: { ...fill(fields, unchanged), expected_revision: revision },
  }));
  return [...stale, ...again];
}

/** What a browser sends, with a plausible value in each field that is empty, and with these changes. */
function fill(
  fields: readonly ShownField[],
  change: (field: ShownField) => string | undefined,
): Record<string, string> {
  const entries = fields.flatMap((field): [string, string][] => {
    const value = field.name === 'key' ? randomUUID() : (change(field) ?? plausible(field));
    return value === null ? [] : [[field.name, value]];
  });
  return Object.fromEntries(entries);
}

function plausible({ kind, value, choices, name }: ShownField): string | null {
  if (value !== '' || kind === 'hidden') return value;
  if (kind === 'select') return choices.find((choice) => choice !== '') ?? '';
  if (kind === 'number') return '1';
  if (kind === 'date') return '2031-01-01';
  if (kind === 'datetime-local') return '2031-01-01T10:00';
  if (kind === 'email') return 'somebody@northwind.example';
  if (kind === 'password') return 'a long enough passphrase 9';
  return /url/.test(name) ? 'https://example.com/' : 'walk';
}
