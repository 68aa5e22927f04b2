import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Conflict } from './errors.ts';

const Revision = z.int().min(1);

/** What an update may say of the revision that it was made for; a stale one conflicts. */
export const ExpectedRevision = { expected_revision: Revision.optional() };

/** @throws Conflict where an update was made for a revision that is no longer the current one */
export function refuseStale(current: { readonly revision: number }, expected: number | undefined): void {
  if (expected === undefined || expected === current.revision) return;
  throw new Conflict(
    `expected_revision: ${expected} is stale, the current revision is ${current.revision}: read the resource again`,
  );
}

/** What an update really changes. */
export interface Difference<T> {
  readonly before: Partial<T>;
  readonly after: Partial<T>;
  readonly isEmpty: boolean;
}

/** The wanted fields that were given and differ from the current ones, as they were and as they become. */
export function findDifference<T extends object>(
  current: T,
  wanted: { [K in keyof T]?: T[K] | undefined },
): Difference<T> {
  const names = (Object.keys(wanted) as (keyof T)[]).filter(
    (name) => wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], current[name]),
  );
  const pick = (from: { [K in keyof T]?: T[K] | undefined }): Partial<T> => {
    const picked: Partial<T> = {};
    for (const name of names) picked[name] = from[name] as T[keyof T];
    return picked;
  };
  return { before: pick(current), after: pick(wanted), isEmpty: names.length === 0 };
}

/** What was just written, read again by the transaction that wrote it. */
export async function readBack<T>(reading: Promise<T | undefined>): Promise<T> {
  const found = await reading;
  if (found === undefined) throw new Error('a row vanished inside the transaction that wrote it');
  return found;
}
