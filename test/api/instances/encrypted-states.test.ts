import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';
import { repairResourceLists } from '#worker/background/resource-list-repair.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());

const encrypted = (serial: number) => Buffer.from(`{"serial":${serial},"lineage":"a","encrypted_data":"eA=="}`);

/** Every place with the number of an instance's resources, and their addresses. */
async function countsOf(instanceId: string) {
  const instance = await admin.get(`/instances/${instanceId}`);
  const versions = await admin.get(`/instances/${instanceId}/state-versions`);
  const listed = await admin.get(`/instances/${instanceId}/resources`);
  return {
    instance: instance.body.resource_count,
    version: versions.body.state_versions[0]?.resource_count,
    listed: listed.body.resources.map(({ address }: { address: string }) => address),
  };
}

describe('an instance whose template encrypts its state', () => {
  test('counts as one resource from its first state until it is destroyed', async () => {
    const worker = await steps.worker('none');
    const template_id = await steps.publish({
      executor: {
        kind: 'command',
        apply: [{ name: 'act', run: ['true'] }],
        destroy: [{ name: 'undo', run: ['true'] }],
      },
    });
    const request = { template_id, instance: 'vault' };
    const applying = await steps.applying(worker, 'none', request);
    const { body: run } = await admin.get(`/runs/${applying.runId}`);
    await steps.keep({ attemptId: applying.attemptId, content: encrypted(1) });
    const held = { instance: 1, version: 1, listed: ['encrypted_state.vault'] };
    expect(await countsOf(run.instance_id)).toEqual(held);
    await steps.complete(applying.attemptId, { outcome: 'applied' });
    expect(await countsOf(run.instance_id)).toEqual(held);
    await steps.next({ runId: applying.runId, executed: applying.attemptId });

    const destroying = await steps.applying(worker, 'none', { ...request, operation: 'destroy' });
    await steps.keep({ attemptId: destroying.attemptId, content: encrypted(2) });
    expect(await countsOf(run.instance_id)).toEqual(held);
    await steps.complete(destroying.attemptId, { outcome: 'applied' });
    expect(await countsOf(run.instance_id)).toEqual({ instance: 0, version: 0, listed: [] });

    await api.rows('update instances set resources_serial = null where id = ?', [run.instance_id]);
    const { orm, keyRing, log } = api.services;
    await repairResourceLists({ orm, keyRing, log });
    expect(await countsOf(run.instance_id)).toEqual({ instance: 0, version: 0, listed: [] });
  });
});
