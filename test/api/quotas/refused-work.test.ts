import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAssemblyRunActivities } from '#activities/assembly-runs.ts';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { type QuotaStage, startQuotaStages } from '#test/support/quotas/quota-stage.ts';

/** Work that starts automatically shows in its status, its history and on its page that a quota refused it, and continues once it can. */

let api: TestApi;
let make: () => Promise<QuotaStage>;
beforeAll(async () => {
  api = await startApi();
  make = await startQuotaStages(api);
});
afterAll(() => api?.close());

describe('an assembly node', () => {
  /** Admits a run of two nodes, of which the second waits for nothing. Its steps are taken as by its workflow. */
  async function startTwoNodes(stage: QuotaStage) {
    const { tenant } = stage;
    const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
    const nodes = { a: { template: slug, instance: 'node-a' }, b: { template: slug, instance: 'node-b' } };
    const path = await addAssembly(tenant, { nodes });
    expect((await tenant.owner.post(`${path}/publish`, { version: '1.0.0' })).status).toBe(201);
    const { body, status, text } = await tenant.owner.post(`${path}/runs`, { environment_id: tenant.environment });
    expect(status, text).toBe(202);
    const run = `${path}/runs/${body.id}`;
    const { keyRing, evaluator, installation, ...services } = api.services;
    const activities = createAssemblyRunActivities({
      ...services,
      keyRing,
      evaluator,
      bindingKey: installation.bindingKey,
    });
    return {
      run,
      advance: async () => {
        const [row] = await api.rows<{ workflow_id: string }>('select workflow_id from assembly_runs where id = ?', [
          body.id,
        ]);
        const workflowId = row?.workflow_id ?? '';
        return activities.advanceAssemblyRun({ assemblyRunId: body.id, workflowId, canceled: false });
      },
      nodes: async () => {
        const listed = (await tenant.owner.get(`${run}/nodes`)).body.nodes;
        return Object.fromEntries(listed.map((node: { key: string }) => [node.key, node]));
      },
      page: async () => (await (await signInVisitor(api, tenant.owner)).get(run)).text,
      runs: () => api.rows('select id from runs where assembly_run_id = ?', [body.id]),
    };
  }

  it('an assembly node whose run is refused fails with the quota in its reason, and a resume starts it when the quota allows it', async () => {
    const stage = await make();
    const { owner, team } = stage.tenant;
    const started = await startTwoNodes(stage);
    await stage.limit('team', team, { instances: 1 });
    await started.advance();
    const before = await started.nodes();
    const message = expect.stringContaining('the quota of the team is used up: 1 of 1 instances');
    expect(before['b']).toMatchObject({ status: 'failed', reason: { code: 'refused', message }, run_id: null });
    expect(before['a'].run_id).not.toBeNull();
    expect(await started.runs()).toHaveLength(1);
    const events = (await owner.get(`${started.run}/events`)).body.events;
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'assembly_run.node_ended', data: expect.objectContaining({ node: 'b' }) }),
    );
    expect(await started.page()).toContain('the quota of the team is used up: 1 of 1 instances');
    await stage.cancel(before['a'].run_id);
    await started.advance();
    expect((await owner.get(started.run)).body.status).toBe('failed');
    await stage.clear('team', team);
    const resumed = await owner.post(`${started.run}/resume`);
    expect(resumed.status, resumed.text).toBe(202);
    await started.advance();
    expect((await started.nodes())['b']).toMatchObject({ reason: null, run_id: expect.any(String) });
  });

  it('waits, with the quota in its reason, while the queue is full, and is admitted once when the quota allows it', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    const started = await startTwoNodes(stage);
    await stage.limit('team', team, { queued_runs: 1 });
    await started.advance();
    const blocker = { scope: 'team', id: team, kind: 'queued_runs', limit: 1, used: 1 };
    expect((await started.nodes())['b']).toMatchObject({
      status: 'waiting',
      waiting_on: { code: 'admission', blocker, until: expect.any(String) },
    });
    expect(await started.page()).toContain('waits for room in the queue: the quota of the team is full (1 of 1)');
    await stage.limit('team', team, { queued_runs: 2 });
    await api.rows(`update assembly_nodes set next_attempt_at = now() where key = 'b' and next_attempt_at is not null`);
    await started.advance();
    await started.advance();
    expect((await started.nodes())['b']).toMatchObject({ attempts: 1, run_id: expect.any(String) });
    expect(await started.runs()).toHaveLength(2);
  });

  it('an assembly node that has waited for ten minutes because the queue is full fails with the quota in its reason', async () => {
    const stage = await make();
    const started = await startTwoNodes(stage);
    await stage.limit('team', stage.tenant.team, { queued_runs: 1 });
    await started.advance();
    await api.rows(
      `update assembly_nodes set next_attempt_at = now(),
         waiting = waiting || jsonb_build_object('since', now() - interval '11 minutes') where next_attempt_at is not null`,
    );
    await started.advance();
    const message = expect.stringContaining('the quota of the team is used up: 1 of 1 queued runs');
    expect((await started.nodes())['b']).toMatchObject({
      status: 'failed',
      reason: { code: 'admission_failed', message },
    });
  });
});

it('a schedule whose run is refused shows the quota in its history, and starts at its next time', async () => {
  const stage = await make();
  const { owner, team, environment } = stage.tenant;
  const work = { run: { template_id: stage.template, environment_id: environment } };
  const { id } = await owner.make('/schedules', { team_id: team, name: 'S', schedule: { every: 'PT6H' }, work });
  const fire = async () => {
    const asked = await owner.post(`/schedules/${id}/trigger`);
    expect(asked.status, asked.text).toBe(202);
    const pending = `select scheduled_at as at from schedule_firings where schedule_id = ? and outcome = 'pending'`;
    const [row] = await api.rows<{ at: string }>(pending, [id]);
    const deps = { ...api.services, bindingKey: api.services.installation.bindingKey };
    await fireSchedule(deps, id, new Date(row?.at ?? ''));
    return (await owner.get(`/schedules/${id}`)).body;
  };
  await stage.limit('environment', environment, { runs_per_day: 0 });
  const refused = await fire();
  const message = expect.stringContaining('the quota of the environment is used up: 0 of 0 runs');
  expect(refused.last_results[0]).toMatchObject({ outcome: 'failed', reason: 'refused', message, run_id: null });
  expect(refused).toMatchObject({ enabled: true });
  expect(refused.next_times).toHaveLength(5);
  const visitor = await signInVisitor(api, owner);
  const page = (await visitor.get(`/schedules/${id}`)).text;
  expect(page).toContain('The last start failed');
  expect(page).toContain('the quota of the environment is used up: 0 of 0 runs');
  await stage.clear('environment', environment);
  const { last_results: results } = await fire();
  expect(results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['started', 'failed']);
  expect(
    (await owner.get(`/runs?environment_id=${environment}`)).body.runs.map((run: { id: string }) => run.id),
  ).toEqual([results[0].run_id]);
});
