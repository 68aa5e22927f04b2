import { isDeepStrictEqual } from 'node:util';
import type { EntityClass, FilterQuery } from '@mikro-orm/core';
import { z } from 'zod';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { Conflict } from './errors.ts';
import { maxInteger } from './values/storable.ts';

const Revision = z.int().min(1).max(maxInteger);

/** The field with the revision that an update expects; another present revision is a conflict. */
export const ExpectedRevision = { expected_revision: Revision.optional() };

/** @throws Conflict if an update names another revision than the current one, in this field of its body */
export function refuseStale(
  current: { readonly revision: number },
  expected: number | undefined,
  field = 'expected_revision',
): void {
  if (expected === undefined || expected === current.revision) return;
  throw new Conflict(
    `${field}: ${expected} is stale, the current revision is ${current.revision}: read the resource again`,
    'stale_revision',
  );
}

/** The fields that an update changes, with their values before and after. */
export interface Difference<T> {
  readonly before: Partial<T>;
  readonly after: Partial<T>;
  readonly isEmpty: boolean;
}

/** Returns an object with only the named properties. */
export function pick<From, Name extends keyof From>(from: From, names: readonly Name[]): Pick<From, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<From, Name>;
}

/** Compares the wanted fields with the current ones. Undefined fields are ignored. */
export function findDifference<T extends object>(
  current: T,
  wanted: { [K in keyof T]?: T[K] | undefined },
): Difference<T> {
  const names = (Object.keys(wanted) as (keyof T)[]).filter(
    (name) => wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], current[name]),
  );
  return { before: pick(current, names), after: pick(wanted, names) as Partial<T>, isEmpty: names.length === 0 };
}

/**
 * Writes the changes of a resource through its entity, and raises its revision, which it returns. The caller has first locked the row, and
 * then read the revision.
 */
export async function saveChange<Row extends { id: string; revision: number }>(
  em: Em,
  entity: EntityClass<Row>,
  { id, revision }: { readonly id: string; readonly revision: number },
  changes: Partial<NoInfer<Row>>,
): Promise<number> {
  const row = await readForChange(em, entity, { id } as FilterQuery<NoInfer<Row>>);
  Object.assign(row, changes, { revision: revision + 1 });
  await em.flush();
  return row.revision;
}

/** Awaits a row that this transaction has just written. @throws Error if it is missing */
export async function readBack<T>(reading: Promise<T | undefined>): Promise<T> {
  const found = await reading;
  if (found === undefined) throw new Error('a row that this transaction wrote was not found in it');
  return found;
}
