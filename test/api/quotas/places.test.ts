import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type QuotaStage, startQuotaStages } from '#test/support/quotas/quota-stage.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';

/** Quotas of runs that execute at the same time. The tests take the steps of runs that workflows would take. */

let api: TestApi;
let make: (environment?: Record<string, unknown>) => Promise<QuotaStage>;
beforeAll(async () => {
  api = await startApi();
  make = await startQuotaStages(api);
});
afterAll(() => api?.close());

it('runs beyond the limit wait in the order of their admission, and the end of a run wakes the first of them', async () => {
  const stage = await make();
  const { team } = stage.tenant;
  await stage.limit('team', team, { concurrent_runs: 1 });
  const [first = '', second = '', third = ''] = [await stage.admit(), await stage.admit(), await stage.admit()];
  expect((await stage.step(first)).attempt).not.toBeNull();
  const blocker = { scope: 'team', id: team, kind: 'concurrent_runs', limit: 1, used: 1 };
  expect((await stage.step(second)).waiting).toMatchObject({ code: 'quota', position: 0, blocker });
  expect((await stage.step(third)).waiting).toMatchObject({ code: 'quota', position: 1, blocker });
  expect(await stage.wokenBy(() => stage.cancel(first))).toEqual([second]);
  // The third comes first, and must not take the place of the second.
  expect((await stage.step(third)).waiting).toMatchObject({ code: 'quota', position: 1 });
  expect((await stage.step(second)).attempt).not.toBeNull();
  expect(await stage.used('team', team)).toMatchObject({ concurrent_runs: 1, queued_runs: 1 });
  const shown = await stage.tenant.owner.get(`/runs/${third}`);
  expect(shown.body.waiting_on).toMatchObject({ code: 'quota', position: 0 });
  // Another one that waits and is canceled lets the next one pass.
  expect(await stage.wokenBy(() => stage.cancel(second))).toEqual([third]);
});

it("a run that waits for the quota of its team does not block the organization's quota for another team", async () => {
  const stage = await make();
  const { owner, organization, team, project } = stage.tenant;
  const other = await owner.make(`/organizations/${organization}/teams`, { name: 'Other' });
  const place = await owner.make('/projects', { team_id: other.id, name: 'Elsewhere' });
  const environment = await owner.make('/environments', { project_id: place.id, name: 'There', kind: 'development' });
  expect(project).not.toBe(place.id);
  await stage.limit('organization', organization, { concurrent_runs: 2 });
  const running = [await stage.admit(), await stage.admit()];
  for (const run of running) expect((await stage.step(run)).attempt).not.toBeNull();
  const [own = '', theirs = ''] = [await stage.admit(), await stage.admit({ environment_id: environment.id })];
  for (const run of [own, theirs])
    expect((await stage.step(run)).waiting.blocker).toMatchObject({ scope: 'organization', used: 2 });
  await stage.limit('team', team, { concurrent_runs: 1 });
  expect(await stage.wokenBy(() => stage.cancel(running[0] ?? ''))).toEqual([own]);
  expect(await stage.wokenBy(async () => expect((await stage.step(own)).waiting.blocker.scope).toBe('team'))).toEqual([
    theirs,
  ]);
  expect((await stage.step(theirs)).attempt).not.toBeNull();
});

it('a run that waits for approval does not count towards the quota until it applies', async () => {
  const stage = await make({ approval_policy: { required: 1, when: 'always', allow_self: true } });
  const { environment, owner } = stage.tenant;
  await stage.limit('environment', environment, { concurrent_runs: 1 });
  const [first = '', second = ''] = [await stage.admit(), await stage.admit()];
  const { attempt } = await stage.step(first);
  await stage.step(second);
  const worker = await stage.steps.worker('sandbox');
  expect(await stage.steps.claim(attempt ?? '', worker, 'sandbox')).not.toBeNull();
  await stage.steps.complete(attempt ?? '', { outcome: 'planned', plan: aPlan() });
  const pending = async () => {
    const { run } = await stage.step(first, { executed: attempt });
    expect(run.status).toBe('pending_approval');
    return run;
  };
  expect(await stage.wokenBy(pending)).toContain(second);
  const { plan } = await pending();
  expect((await stage.step(second)).attempt).not.toBeNull();
  const review = { decision: 'approve', comment: 'yes', plan_digest: plan.digest };
  const { status, text } = await owner.post(`/runs/${first}/approval/review`, review);
  expect(status, text).toBeLessThan(300);
  expect((await stage.step(first, { executed: attempt })).waiting).toMatchObject({ code: 'quota', position: 0 });
  expect(await stage.wokenBy(() => stage.cancel(second))).toEqual([first]);
  expect((await stage.step(first, { executed: attempt })).run.phase).toBe('applying');
});

it('raising or clearing a quota wakes the first waiting run, and each run that starts wakes the next', async () => {
  const stage = await make();
  const { team } = stage.tenant;
  await stage.limit('team', team, { concurrent_runs: 0 });
  const runs = [await stage.admit(), await stage.admit(), await stage.admit()] as const;
  for (const run of runs) expect((await stage.step(run)).waiting.code).toBe('quota');
  expect(await stage.wokenBy(() => stage.limit('team', team, { concurrent_runs: 1 }))).toEqual([runs[0]]);
  expect(await stage.wokenBy(() => stage.step(runs[0]))).toEqual([]);
  expect(await stage.wokenBy(() => stage.clear('team', team))).toEqual([runs[1]]);
  expect(await stage.wokenBy(() => stage.step(runs[1]))).toEqual([runs[2]]);
});

it('a quota that cannot be read lets no run start, and does not prevent the end of one', async () => {
  const stage = await make();
  const { team } = stage.tenant;
  const [first = '', second = ''] = [await stage.admit(), await stage.admit()];
  expect((await stage.step(first)).attempt).not.toBeNull();
  await stage.limit('team', team, { concurrent_runs: 5 });
  await api.rows(`update quotas set limits = '{"concurrent_runs": "five"}' where team_id = ?`, [team]);
  expect((await stage.step(second)).waiting).toMatchObject({ code: 'quota', blocker: { limit: null, used: null } });
  await stage.cancel(first);
  expect(await stage.wokenBy(() => stage.limit('team', team, { concurrent_runs: 1 }))).toEqual([second]);
  expect((await stage.step(second)).attempt).not.toBeNull();
});

it('twenty runs that start at the same time never exceed the limit', async () => {
  const stage = await make();
  const { team } = stage.tenant;
  await stage.limit('team', team, { concurrent_runs: 6 });
  const runs = await Promise.all(Array.from({ length: 20 }, () => stage.admit()));
  const steps = await Promise.all(runs.map((runId) => stage.steps.next({ runId })));
  expect(steps.filter(({ kind }) => kind === 'execute').map((step) => executing(step))).toHaveLength(6);
  expect((await stage.used('team', team)).concurrent_runs).toBe(6);
});

it('the log of a run counts from its end until the run or its month is deleted, and a full quota refuses runs and scans', async () => {
  const stage = await make();
  const { team } = stage.tenant;
  const { orm } = api.services;
  const runId = await stage.admit();
  const { attempt } = await stage.step(runId);
  await stage.steps.claim(attempt ?? '', await stage.steps.worker('sandbox'), 'sandbox');
  const content = Buffer.from('x'.repeat(1000));
  const chunk = { sequence: 1, phase: 'plan', stream: 'stdout', firstLine: 0, lines: 1, checksum: 'sha256:0' } as const;
  await appendLog(orm.em.fork(), attempt ?? '', { ...chunk, time: new Date().toISOString(), content });
  expect((await stage.used('team', team)).log_bytes).toBe(0);
  await stage.cancel(runId);
  expect((await stage.used('team', team)).log_bytes).toBe(1000);
  await stage.limit('team', team, { log_bytes: 1000 });
  expect((await stage.used('team', team)).log_bytes).toBe(1000);
  expect((await stage.run()).text).toContain('1000 of 1000 bytes of log');
  const gone = `update instance_usages set month = '2001-01-01' where instance_id = (select instance_id from runs where id = ?)`;
  await api.rows(gone, [runId]);
  expect((await stage.used('team', team)).log_bytes).toBe(0);
  await stage.admin.post(`/admin/quotas/team/${team}/recount`);
  expect((await stage.used('team', team)).log_bytes).toBe(1000);
  expect((await stage.admin.delete(`/runs/${runId}`)).status).toBe(204);
  expect((await stage.used('team', team)).log_bytes).toBe(0);
  expect((await stage.run()).status).toBe(202);
});
