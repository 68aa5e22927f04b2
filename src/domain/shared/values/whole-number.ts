import { z } from 'zod';
import { maxInteger } from './storable.ts';

interface Bounds {
  readonly min: number;
  /** By default the largest number that a column of PostgreSQL's type `int` holds. */
  readonly max?: number;
}

/** A whole number in a path or a query, in decimal digits alone: no sign, no exponent, no spaces. */
export function wholeNumber({ min, max = maxInteger }: Bounds) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z
    .unknown()
    .transform((text, context): number => {
      const number = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max });
}
