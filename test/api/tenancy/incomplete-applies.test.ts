import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { withKey } from '#test/support/access/tenant-levels.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('sandbox');
});
afterAll(() => api?.close());

const step = [{ name: 'act', run: ['true'] }];
const destroyable = { executor: { kind: 'command', apply: step, destroy: step } };

/** A run in its own environment, with the attempt of its present phase. */
interface Begun {
  readonly runId: string;
  readonly attemptId: string;
}

const cancel = (runId: string, force: boolean) => admin.post(`/runs/${runId}/cancel`, { force });

/** Ends of an apply after which it may have changed more than is recorded. */
const incomplete: Record<string, (begun: Begun) => Promise<unknown>> = {
  'ended by force': ({ runId }) => cancel(runId, true),
  'interrupted by the loss of its worker': ({ attemptId }) => steps.abandon(attemptId, worker, 'lost'),
  canceled: async ({ runId, attemptId }) => {
    await cancel(runId, false);
    await steps.complete(attemptId, { outcome: 'canceled' });
  },
  'ended by its time limit': ({ attemptId }) => steps.complete(attemptId, { outcome: 'timed_out' }),
  'failed because its state was refused': ({ attemptId }) =>
    steps.complete(attemptId, { outcome: 'failed', reason: 'state_refused' }),
};

/** Begins to apply in the environment of a new tenant, and ends that. */
async function endApply(end: (begun: Begun) => Promise<unknown>) {
  const tenant = await makeTenant(api);
  const begun = await steps.planned(worker, 'sandbox', { environment_id: tenant.environment }, destroyable);
  expect(await steps.claim(begun.attemptId, worker, 'sandbox')).not.toBeNull();
  await end(begun);
  await steps.next({ runId: begun.runId, executed: begun.attemptId });
  const { body: run } = await admin.get(`/runs/${begun.runId}`);
  expect(run.finished_at).not.toBeNull();
  return { tenant, run };
}

async function complete(runId: string): Promise<void> {
  const planning = executing(await steps.next({ runId }));
  await steps.claim(planning, worker, 'sandbox');
  await steps.complete(planning, { outcome: 'planned', plan: aPlan() });
  const applying = executing(await steps.next({ runId, executed: planning }));
  await steps.claim(applying, worker, 'sandbox');
  await steps.complete(applying, { outcome: 'applied' });
  await steps.next({ runId, executed: applying });
}

const environmentOf = ({ environment }: Tenant) => `/environments/${environment}`;
const expectGone = async (tenant: Tenant) => {
  const answer = await admin.delete(environmentOf(tenant), withKey());
  expect(answer.status, answer.text).toBe(204);
};

describe('an environment with an instance', () => {
  test.each(Object.entries(incomplete))('whose apply was %s cannot be archived or deleted', async (_, end) => {
    const { tenant, run } = await endApply(end);
    const reason = `whose last apply may be incomplete, so that they may hold resources that nothing records: "${run.instance}"; apply or destroy them again first`;
    for (const answer of [
      await admin.post(`${environmentOf(tenant)}/archive`),
      await admin.delete(environmentOf(tenant), withKey()),
      await admin.delete(tenant.teamPath, withKey()),
    ])
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining(reason)]);
  });

  test('whose apply was incomplete can be deleted after a destroy has succeeded', async () => {
    const { tenant, run } = await endApply(incomplete['ended by force']!);
    const request = { template_id: run.template_id, environment_id: tenant.environment, operation: 'destroy' };
    const canceled = await admin.post('/runs', request);
    expect(canceled.status, canceled.text).toBe(202);
    await cancel(canceled.body.id, true);
    expect((await admin.delete(environmentOf(tenant), withKey())).status).toBe(409);
    const destroy = await admin.post('/runs', request);
    await complete(destroy.body.id);
    await expectGone(tenant);
  });

  test('whose apply failed with a complete record can be deleted', async () => {
    const { tenant } = await endApply(({ attemptId }) =>
      steps.complete(attemptId, { outcome: 'failed', reason: 'step_failed' }),
    );
    await expectGone(tenant);
  });

  test('whose apply no worker has begun can be deleted', async () => {
    const tenant = await makeTenant(api);
    const { runId } = await steps.planned(worker, 'sandbox', { environment_id: tenant.environment }, destroyable);
    await cancel(runId, true);
    await expectGone(tenant);
  });
});
