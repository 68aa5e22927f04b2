import { expect, vi } from 'vitest';
import type { TestApi } from '#test/support/api/in-process-api.ts';

/** Adds finished copies of a run, of the same instance. Most of them succeeded, and all of them are younger than every other run. `changes`: SQL for other columns. */
export async function copyRun(
  api: TestApi,
  runId: string,
  many: number,
  changes: Record<string, string> = {},
): Promise<void> {
  const columns = await api.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'runs'`,
  );
  const own: Record<string, string> = {
    id: `('ff000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`,
    idempotency_key: 'gen_random_uuid()',
    instance_position: 'n + 10',
    status: `case when n % 50 = 0 then 'failed' else 'succeeded' end`,
    phase: `'finished'`,
    finished_at: 'now()',
    waiting_on: 'null',
    ...changes,
  };
  const names = columns.map(({ name }) => `"${name}"`);
  const values = columns.map(({ name }) => own[name] ?? `r."${name}"`);
  await api.rows(
    `insert into runs (${names.join(', ')}) select ${values.join(', ')} from runs r, generate_series(1, ?::int) n where r.id = ?`,
    [many, runId],
  );
  await api.rows('analyze runs');
}

/** How many entries of the indexes of runs a request reads. PostgreSQL counts them some time after the request. */
export async function countReads(api: TestApi, request: () => Promise<{ status: number }>): Promise<number> {
  const before = await readCounts(api);
  expect((await request()).status).toBe(200);
  const after = await vi.waitFor(
    async () => {
      const counts = await readCounts(api);
      expect(counts.scans).toBeGreaterThan(before.scans);
      return counts;
    },
    { timeout: 20_000, interval: 100 },
  );
  return after.entries - before.entries;
}

async function readCounts(api: TestApi): Promise<{ scans: number; entries: number }> {
  const [counts] = await api.rows<{ scans: number; entries: number }>(
    `select sum(idx_scan)::int as scans, sum(idx_tup_read)::int as entries from pg_stat_user_indexes where relname = 'runs'`,
  );
  return counts ?? { scans: 0, entries: 0 };
}
