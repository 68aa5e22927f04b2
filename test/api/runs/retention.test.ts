import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makePartitions } from '#database/partitions.ts';
import { monthlyRetentions } from '#domain/retention.ts';
import { removeExpiredMonths } from '#domain/shared/retention/monthly-retention.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { LogOfAttempt } from '#test/support/runs/run-log.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

const days = 90;
const yearAhead = () => new Date(Date.now() + 365 * 24 * 3600_000);
const thisMonth = new Date().toISOString().slice(0, 7);
type Kind = keyof typeof monthlyRetentions;

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('sandbox');
  visitor = await signInVisitor(api, admin);
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.rows(`update runs set status = 'canceled', finished_at = now() where finished_at is null`);
  await makePartitions(api.services.orm.em.fork());
});

const get = async (path: string) => (await admin.get(path)).body;

/** A run of two months ago that was planned and has a log of one line. */
async function plannedRun(): Promise<string> {
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  await new LogOfAttempt(api, { attemptId }).write('planned\n');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  executing(await steps.next({ runId, executed: attemptId }));
  await api.rows(`update runs set created_at = created_at - interval '62 days' where id = ?`, [runId]);
  return runId;
}

async function endedRun(): Promise<string> {
  const id = await plannedRun();
  await api.rows(`update runs set status = 'succeeded', phase = 'finished', finished_at = now() where id = ?`, [id]);
  return id;
}

/** Removes what is out of retention in a year, and makes the months of today again. Answers the months that were removed. */
async function removeIn(kind: Kind): Promise<string[]> {
  const { transactions, installation } = api.services;
  const deps = { transactions, bindingKey: installation.bindingKey };
  const removed = await removeExpiredMonths(
    api.services.orm.em.fork(),
    deps,
    monthlyRetentions[kind],
    days,
    yearAhead(),
  );
  await makePartitions(api.services.orm.em.fork());
  return removed;
}

describe('logs out of retention', () => {
  it('are removed with their month, and reading them says so', async () => {
    const id = await endedRun();
    expect((await get(`/runs/${id}/logs`)).entries).toHaveLength(1);
    expect(await removeIn('run_logs')).toContain(thisMonth);
    const before = expect.stringMatching(/^\d{4}-\d{2}-01T00:00:00/);
    expect(await get(`/runs/${id}/logs`)).toEqual({
      entries: [],
      last_sequence: 0,
      complete: true,
      removed_before: before,
    });
    expect(await get(`/runs/${id}/logs/lines`)).toMatchObject({ lines: [], total: 0, removed_before: before });
    const page = await visitor.get(`/workloads/runs/${id}?tab=log`);
    expect(page.text).toContain('It was removed because its retention period ended.');
  });

  it('the log of a run of this month has no note on removed logs, although earlier logs are out of retention', async () => {
    const { runId } = await steps.planning(worker, 'sandbox');
    expect(await get(`/runs/${runId}/logs`)).toMatchObject({ removed_before: null });
  });
});

describe('plans out of retention', () => {
  it('are removed with the month of their run, and the run keeps digest and summary', async () => {
    const id = await endedRun();
    expect((await admin.get(`/runs/${id}/plan`)).status).toBe(200);
    const { plan } = await get(`/runs/${id}`);
    expect(await removeIn('run_plans')).toContain(thisMonth);
    for (const path of ['plan', 'plan/changes']) {
      const { status, body } = await admin.get(`/runs/${id}/${path}`);
      expect(status).toBe(404);
      expect(body.error).toMatch(/plans of runs from before \d{4}-\d{2}-01 were removed/);
    }
    expect((await get(`/runs/${id}`)).plan).toEqual(plan);
    const page = await visitor.get(`/workloads/runs/${id}?tab=plan`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('The plan was removed')]);
  });
});

describe('events out of retention', () => {
  it('are removed with their month, and the next event of the run still has the next number', async () => {
    const id = await endedRun();
    const { events } = await get(`/runs/${id}/events`);
    expect(await removeIn('events')).toContain(thisMonth);
    expect(await get(`/runs/${id}/events`)).toMatchObject({ events: [], removed_before: expect.any(String) });
    expect((await admin.delete(`/runs/${id}`)).status).toBe(204);
    const rows = await api.rows('select sequence, type from domain_events where subject_id = ?', [id]);
    expect(rows).toEqual([{ sequence: events.length + 1, type: 'run.deleted' }]);
  });
});

describe('the retention of a month with a run that has not ended', () => {
  it.each(['run_logs', 'run_plans', 'events'] as const)('keeps its %s until the run has ended', async (kind) => {
    const id = await plannedRun();
    expect(await removeIn(kind)).toEqual([]);
    await api.rows(`update runs set status = 'succeeded', phase = 'finished', finished_at = now() where id = ?`, [id]);
    expect(await removeIn(kind)).toContain(thisMonth);
  });
});

describe('the month of a row', () => {
  it.each([
    ['run_plans', 'run_id'],
    ['domain_events', 'id'],
  ])('follows from the id: %s', async (table, column) => {
    await endedRun();
    const rows = await api.rows<{ name: string }>(
      `select distinct tableoid::regclass::text as name from ${table} where ${column} >= first_id_at(date_trunc('month', now() at time zone 'UTC'))`,
    );
    expect(rows).toEqual([{ name: `${table}_${thisMonth.replace('-', '_')}` }]);
  });
});

describe('the settings of retention', () => {
  it('refuse to keep events for less than 30 days, which webhooks need', async () => {
    const { status, body } = await admin.patch('/admin/settings', { retention: { events: 29 } });
    expect([status, body.error]).toEqual([400, expect.stringContaining('must be at least 30')]);
    expect((await admin.patch('/admin/settings', { retention: { events: 30, run_logs: 1 } })).status).toBe(200);
  });
});
