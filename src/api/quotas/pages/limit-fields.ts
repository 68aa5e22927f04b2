import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWholeNumber } from '#api/web/forms/read-form.ts';
import type { FieldProblem } from '#domain/shared/validation/validation-messages.ts';
import { kindsInBytes, type QuotaKind, quotaKinds } from '#domain/shared/vocabulary/quotas.ts';
import { kindLabels } from './labels.ts';

/** The field of one limit, named below the body's member that contains all limits. `more` continues the hint after the limit. */
export function limitField(member: string, kind: QuotaKind, limit?: number | null, more = ''): FormField {
  const isDaily = kind === 'runs_per_day';
  const isInBytes = kindsInBytes.includes(kind);
  return {
    name: `${member}.${kind}`,
    label: isDaily ? 'Runs per day (UTC)' : kindLabels[kind],
    ...(isInBytes ? { kind: 'text' as const } : { kind: 'number' as const, min: 0 }),
    isOptional: true,
    hint: `Max ${isDaily ? 'runs per day' : quotaKinds[kind]}${isInBytes ? ', such as 2 GiB' : ''}.${more}`,
    ...(typeof limit === 'number' && { value: isInBytes ? writeBytes(limit) : String(limit) }),
  };
}

/** Reads the limits by kind. An invalid amount is returned as it was typed, and `findLimitProblems` and the operation refuse it. */
export function toLimits(member: string, typed: Typed): Record<string, number | string> {
  return Object.fromEntries(readLimits(member, typed).map(({ kind, amount }) => [kind, amount]));
}

/** The problems of fields without a whole number, each with an example of a valid value. */
export function findLimitProblems(member: string, typed: Typed): FieldProblem[] {
  return readLimits(member, typed)
    .filter(({ amount }) => typeof amount !== 'number')
    .map(toProblem);
}

function readLimits(member: string, typed: Typed) {
  const prefix = `${member}.`;
  const filled = Object.entries(typed).filter(([name, value]) => name.startsWith(prefix) && value.trim() !== '');
  return filled.map(([name, value]) => ({ name, kind: name.slice(prefix.length), amount: readAmount(value) }));
}

function toProblem({ name, kind }: { readonly name: string; readonly kind: string }): FieldProblem {
  const isInBytes = kindsInBytes.some((each) => each === kind);
  const unit = isInBytes ? ', or a number with a unit, such as 2 GiB' : '';
  return { in: 'body', path: name, message: `${name}: expected a whole number from 0 on${unit}` };
}

const bytesOf: Readonly<Record<string, number>> = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };

/** A number of bytes as text, with a unit if that is exact. */
function writeBytes(bytes: number): string {
  const fitting = Object.entries(bytesOf).filter(([, size]) => bytes > 0 && bytes % size === 0);
  const [unit, size] = fitting.at(-1) ?? [];
  if (unit === undefined || size === undefined) return String(bytes);
  return `${bytes / size} ${unit.charAt(0).toUpperCase()}iB`;
}

/** Reads a whole number, or a number with a unit of bytes. Returns any other text unchanged. */
function readAmount(text: string): number | string {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s*([kmgt]ib)$/i.exec(text.trim()) ?? [];
  const size = bytesOf[unit.toLowerCase()];
  return size === undefined ? readWholeNumber(text) : Math.round(Number(digits) * size);
}
