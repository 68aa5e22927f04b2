import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { usesQuotaSlot } from '#domain/quotas/use/usage-store.ts';
import { Run } from '#domain/runs/entity.ts';
import { isTerminal, runOperations, runPhases, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { waitingCodes } from '#domain/shared/vocabulary/waiting.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 1 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const cases = runStatuses.flatMap((status) =>
  runPhases.flatMap((phase) =>
    runOperations.flatMap((operation) => [null, ...waitingCodes].map((code) => ({ status, phase, operation, code }))),
  ),
);

test('a run uses a slot of a quota by its entity in exactly the situations in which the quota counts it', async () => {
  const rows = cases.map(({ status, phase, operation, code }) => {
    const waitingOn = code === null ? null : JSON.stringify({ code });
    const finishedAt = isTerminal(status) ? new Date() : null;
    return sql`(${status}::text, ${phase}::text, ${operation}::text, ${waitingOn}::jsonb, ${finishedAt}::timestamptz)`;
  });
  const counted = await sql<{ counts: boolean }>`select (${usesQuotaSlot}) as counts
    from (values ${sql.join(rows)}) as runs (status, phase, operation, waiting_on, finished_at)`.execute(
    db(orm.em.fork()),
  );
  const used = cases.map(({ status, phase, operation, code }) =>
    Run.prototype.usesQuotaSlot.call(
      Object.assign(Object.create(Run.prototype), { status, phase, operation, waitingOn: code && { code } }),
    ),
  );
  expect(used).toEqual(counted.rows.map(({ counts }) => counts));
  expect(new Set(used)).toEqual(new Set([true, false]));
});
