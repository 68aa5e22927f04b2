import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';

/** Waits until the installation is idle: every run has ended, and the outbox is empty. @returns how many seconds it took */
export async function settle(installation: Installation, load: Load, withinMs: number): Promise<number> {
  const startedAt = Date.now();
  for (;;) {
    const remaining = await countRemainingWork(installation);
    if (remaining.runs === 0 && remaining.messages === 0) return (Date.now() - startedAt) / 1000;
    if (Date.now() - startedAt > withinMs) {
      installation.violations.push(
        `after ${withinMs / 1000} s there is still work to do: ${await describeRemainingWork(installation)}`,
      );
      return withinMs / 1000;
    }
    await load.approveWaiting();
    await sleep(500);
  }
}

async function countRemainingWork(installation: Installation): Promise<{ runs: number; messages: number }> {
  const [row] = await installation.query<{ runs: number; messages: number }>(
    `select (select count(*)::int from runs where finished_at is null) as runs, (select count(*)::int from outbox) as messages`,
  );
  return row ?? { runs: 0, messages: 0 };
}

async function describeRemainingWork(installation: Installation): Promise<string> {
  const runs = await installation.query(
    `select r.id, r.idempotency_key, r.status, r.phase, r.waiting_on, a.worker_id, a.outcome, a.started_at
       from runs r left join run_attempts a on a.id = r.attempt_id where r.finished_at is null limit 10`,
  );
  const messages = await installation.query(
    `select target, payload, attempts, due_at, last_error from outbox limit 10`,
  );
  return JSON.stringify({ runs, messages });
}
