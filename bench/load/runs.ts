import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from '../installation/installation.ts';
import type { HttpClient } from './http-client.ts';
import { runLoad } from './load.ts';

const pollEveryMs = 10;
const admissionsAtOnce = 16;

/** Admits a run of a new instance. @returns the run's id */
export async function admitRun(http: HttpClient, request: object): Promise<string> {
  const { id } = await http.call('POST', '/runs', { ...request, instance: `bench-${randomUUID()}` });
  return id;
}

interface RunFacts {
  readonly plan: { readonly digest: string };
  readonly outputs: Readonly<Record<string, { readonly value: unknown }>>;
}

/** Polls a run until it has this status. @throws Error where the run ends with another status */
export async function waitForStatus(http: HttpClient, id: string, status: string): Promise<RunFacts> {
  for (;;) {
    const run = await http.call('GET', `/runs/${id}`);
    if (run.status === status) return run;
    if (run.finished_at !== null) throw new Error(`run ${id} ended ${run.status}: ${run.status_reason}`);
    await sleep(pollEveryMs);
  }
}

/** Waits for the end of a run, as clients should: a request is answered when the run has ended. @throws Error unless the run succeeds */
export async function awaitSuccess(
  http: HttpClient,
  { id, revision }: { id: string; revision: number },
): Promise<void> {
  let known = revision;
  for (;;) {
    const run = await http.call('GET', `/runs/${id}?wait=30s&until=settled&revision=${known}`);
    if (run.status === 'succeeded') return;
    if (run.finished_at !== null) throw new Error(`run ${id} ended ${run.status}: ${run.status_reason}`);
    known = run.revision;
  }
}

/** Admits this many runs concurrently and waits until all have succeeded. @returns the seconds that this took */
export async function runAllToEnd({ http, database }: Installation, count: number, request: object): Promise<number> {
  const startedAt = performance.now();
  await runLoad(count, admissionsAtOnce, async () => void (await admitRun(http, request)));
  for (;;) {
    const { rows } = await database.query(
      `select count(*) filter (where finished_at is null)::int as open,
              count(*) filter (where finished_at is not null and status <> 'succeeded')::int as broken from runs`,
    );
    if (rows[0].broken > 0) throw new Error(`${rows[0].broken} runs did not succeed`);
    if (rows[0].open === 0) return (performance.now() - startedAt) / 1000;
    await sleep(20);
  }
}
