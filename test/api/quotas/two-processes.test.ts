import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProcess } from '#test/proofs/processes.ts';
import type { ApiProcess } from '#test/support/api/api-process.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type QuotaStage, startQuotaStages } from '#test/support/quotas/quota-stage.ts';

/** Two API processes with one database, whose simultaneous requests compete for the rest of a quota. */

const each = 50;

let api: TestApi;
let processes: ApiProcess[];
let stage: QuotaStage;
beforeAll(async () => {
  api = await startApi();
  stage = await (await startQuotaStages(api))();
  processes = await Promise.all([startProcess(api.services.config), startProcess(api.services.config)]);
});
afterAll(async () => {
  await Promise.all((processes ?? []).map((one) => one.stop()));
  await api?.close();
});

/** Sends a command to a process again while it answers 503: a process that is too busy does so, and has changed nothing. */
async function send({ url }: ApiProcess, path: string, body: object): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    ...stage.tenant.owner.credential,
    'idempotency-key': randomUUID(),
  };
  for (;;) {
    const answer = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.status === 429) expect(answer.headers.get('x-error-code'), text).toBe('quota_exceeded');
    if (answer.status !== 503) return answer.status;
  }
}

/** The number of responses by status to 50 requests at each process. */
async function race(path: string, bodyOf: (name: string) => object): Promise<Record<number, number>> {
  const sent = processes.flatMap((process, index) =>
    Array.from({ length: each }, (_, number) => send(process, path, bodyOf(`raced-${index}-${number}`))),
  );
  const counts: Record<number, number> = {};
  for (const status of await Promise.all(sent)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

it('two processes that each get fifty requests at once admit no more runs than the limit', async () => {
  const { team, organization, environment } = stage.tenant;
  await stage.limit('organization', organization, { queued_runs: 9 });
  await stage.limit('team', team, { runs_per_day: 13 });
  const run = (instance: string) => ({ template_id: stage.template, environment_id: environment, instance });
  expect(await race('/runs', run)).toEqual({ 202: 9, 429: 91 });
  expect(await stage.used('organization', organization)).toMatchObject({ queued_runs: 9 });
  await stage.clear('organization', organization);
  expect(await race('/runs', (name) => run(`again-${name}`))).toEqual({ 202: 4, 429: 96 });
  expect(await stage.used('team', team)).toMatchObject({ queued_runs: 13, runs_per_day: 13, instances: 13 });
});

it('two processes that each get fifty requests at once create no more instances and templates than the limit', async () => {
  const { team, environment } = stage.tenant;
  const { instances = 0, templates = 0 } = await stage.used('team', team);
  const limits = { instances: (instances ?? 0) + 5, templates: (templates ?? 0) + 3 };
  await stage.limit('team', team, limits);
  const instance = (name: string) => ({
    template_id: stage.template,
    environment_id: environment,
    name: `made-${name}`,
  });
  expect(await race('/instances', instance)).toEqual({ 201: 5, 429: 95 });
  const template = (name: string) => ({ name, team_id: team });
  expect(await race('/registry/templates', template)).toEqual({ 201: 3, 429: 97 });
  expect(await stage.used('team', team)).toMatchObject(limits);
});
