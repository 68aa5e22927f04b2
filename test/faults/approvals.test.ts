import { afterAll, beforeAll, expect, it } from 'vitest';
import { Caller } from '#test/support/api/caller.ts';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { commands, publish } from '#test/support/templates.ts';

const count = 15;

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

it('restarting the worker loses none of many open approvals', { timeout: 120_000 }, async () => {
  const { administrator } = system;
  const spec = { ...commands({ act: 'true' }), approval: { required: 1, when: 'always' } };
  const approver = {
    email: 'approver@example.com',
    name: 'Approver',
    password: 'correct horse battery',
    role: 'admin',
  };
  expect((await administrator.post('/users', approver)).status).toBe(201);
  const reviewer = await Caller.signIn(system.url, approver.email, approver.password);
  const templateId = await publish(administrator, 'waiting', spec);
  const admitted = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const { body } = await administrator.post('/runs', { template_id: templateId, instance: `i-${number}` });
      return body.id as string;
    }),
  );
  const waiting = await Promise.all(admitted.map((id) => administrator.awaitRun(id, ['pending_approval'], 90_000)));
  await system.stopWorker();
  await system.startWorker();
  for (const { id, plan } of waiting) {
    const review = { decision: 'approve', plan_digest: plan.digest };
    const { status, text } = await reviewer.post(`/runs/${id}/approval/review`, review);
    expect(status, text).toBe(200);
  }
  const runs = await Promise.all(admitted.map((id) => administrator.awaitRun(id, ended, 90_000)));
  expect(runs.filter(({ status }) => status !== 'succeeded')).toEqual([]);
});
