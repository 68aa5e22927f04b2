import type { FormField } from '#api/web/forms/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWholeNumber } from '#api/web/forms/typed-number.ts';
import { kindsInBytes, type QuotaKind, quotaKinds } from '#domain/quotas/model.ts';
import { kindLabels } from './words.ts';

/** The field of one limit, below the member of the body that has all limits. The hint may go on after the limit. */
export function limitField(member: string, kind: QuotaKind, limit?: number | null, more = ''): FormField {
  const isDaily = kind === 'runs_per_day';
  const unit = kindsInBytes.includes(kind) ? '; a GiB is 1073741824' : '';
  return {
    name: `${member}.${kind}`,
    label: isDaily ? 'Runs a day (UTC)' : kindLabels[kind],
    kind: 'number',
    min: 0,
    isOptional: true,
    hint: `At most this many ${isDaily ? 'runs admitted each day' : quotaKinds[kind]}${unit}.${more}`,
    ...(typeof limit === 'number' && { value: String(limit) }),
  };
}

/** The limits that were typed, by their kinds. The operation says what is wrong with anything but a number. */
export function toLimits(member: string, typed: Typed): Record<string, unknown> {
  const prefix = `${member}.`;
  const filled = Object.entries(typed).filter(([name, value]) => name.startsWith(prefix) && value.trim() !== '');
  return Object.fromEntries(filled.map(([name, value]) => [name.slice(prefix.length), readWholeNumber(value)]));
}
