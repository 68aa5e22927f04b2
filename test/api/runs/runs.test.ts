import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.close();
});

const greeting = {
  executor: {
    kind: 'command',
    apply: [
      {
        name: 'greet',
        run: ['sh', '-c', 'echo hello $COORDINATOR_VAR_NAME; echo "{\\"greeting\\":\\"hi\\"}" > outputs.json'],
      },
    ],
  },
  variables: { type: 'object', properties: { name: { type: 'string', default: 'world' } } },
  outputs: { greeting: {} },
};

describe('a run of a command template', () => {
  it('goes from admission to succeeded, with its log and its outputs', async () => {
    const { administrator } = system;
    const templateId = await publish(system.administrator, 'greeting', greeting);
    const admitted = await administrator.post('/runs', { template_id: templateId, variables: { name: 'Ana' } });
    expect(admitted.status, admitted.text).toBe(202);
    expect(admitted.body).toMatchObject({ status: 'queued', operation: 'apply', template_version: '1.0.0' });
    expect(admitted.headers.get('location')).toBe(`/api/v1/runs/${admitted.body.id}`);
    expect(admitted.headers.get('idempotency-key')).toBe(admitted.body.idempotency_key);
    const run = await administrator.awaitRun(admitted.body.id, ended);
    expect(run).toMatchObject({ status: 'succeeded', outputs: { greeting: { value: 'hi', sensitive: false } } });
    const log = await administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('hello Ana');
  });

  it('ends timed_out if a step takes longer than its timeout, and its log names the step and the limit', async () => {
    const { administrator } = system;
    const slow = { name: 'wait', run: ['sleep', '60'], timeout: '1s' };
    const templateId = await publish(system.administrator, 'slow', { executor: { kind: 'command', apply: [slow] } });
    const { body } = await administrator.post('/runs', { template_id: templateId });
    const run = await administrator.awaitRun(body.id, ended);
    expect(run).toMatchObject({ status: 'timed_out', status_reason: 'step_timeout' });
    const log = await administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('step "wait" took longer than its timeout of 1 s');
  });
});
