import { expect } from 'vitest';
import { auditCatalogue } from '#api/audit/catalogue.ts';
import { operations } from '#api/operations.ts';
import type { Orm } from '#database/database.ts';

const known = new Set(auditCatalogue(operations).map(({ action }) => action));
/** Actions of tests' own operations, or of records that tests write directly. */
const made = /^(test|things?)\./;

/** Expects every action with a record in the audit to be in the catalogue. */
export async function expectKnownActions(orm: Orm): Promise<void> {
  const rows = await orm.em.fork().execute<{ action: string }[]>('select distinct action from audit_records');
  const unknown = rows.map(({ action }) => action).filter((action) => !known.has(action) && !made.test(action));
  expect(unknown, 'actions that are in no catalogue (src/domain/system-actions.ts)').toEqual([]);
}
