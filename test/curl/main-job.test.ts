import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { Caller } from '#test/support/api/caller.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.close();
});

const script = join(import.meta.dirname, 'main-job.sh');
const directories = (process.env['PATH'] ?? '').split(delimiter);
const hasTool = directories.some((path) => ['tofu', 'terraform'].some((tool) => existsSync(join(path, tool))));

function runScript(tool: string, overrides: Record<string, string> = {}) {
  const environment = { URL: system.url, EMAIL: administrator.email, PASSWORD: administrator.password, ...overrides };
  return runShell([script, tool], environment, { withinMs: 120_000 });
}

const stepsOf = (output: string) => output.trim().split('\n');

describe('the main job', () => {
  it('can be done with only curl', { timeout: 150_000 }, async () => {
    const { code, output, errors } = await runScript(hasTool ? 'opentofu' : 'none');
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const steps = stepsOf(output);
    expect(steps.filter((line) => !line.startsWith('ok - '))).toEqual([]);
    expect(steps).toHaveLength(hasTool ? 80 : 68);
  });

  it('stops at the first failing step, and shows the response', async () => {
    const { code, output } = await runScript('none', { PASSWORD: 'another password' });
    expect(code).toBe(1);
    expect(stepsOf(output)).toContain('not ok - the administrator signs in: expected 201');
    expect(output).toContain('POST /api/v1/auth/sessions answered 401');
  });
});

describe('an idempotency key', () => {
  it('is bound to its request even after the API was restarted', async () => {
    const { administrator: root, url } = system;
    const template = await root.post('/registry/templates', { name: 'Restart' });
    const spec = { executor: { kind: 'command', apply: [{ name: 'nothing', run: ['true'] }] } };
    await root.post(`/registry/templates/${template.body.id}/versions`, { version: '1.0.0', spec });
    const key = { 'idempotency-key': randomUUID() };
    const request = { template_id: template.body.id, message: 'once' };
    const admitted = await root.post('/runs', request, key);
    expect(admitted.status, admitted.text).toBe(202);
    await root.awaitRun(admitted.body.id, ['succeeded']);

    const restarted = await runApi(system.config);
    try {
      expect(restarted.url).not.toBe(url);
      const again = await Caller.signIn(restarted.url, administrator.email, administrator.password);
      const repeated = await again.post('/runs', request, key);
      expect(repeated, repeated.text).toMatchObject({
        status: 202,
        body: { id: admitted.body.id, status: 'succeeded' },
      });
      const other = await again.post('/runs', { ...request, message: 'twice' }, key);
      expect(other, other.text).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('idempotency key') },
      });
    } finally {
      await restarted.close();
    }
    const { body } = await root.get(`/runs?template_id=${template.body.id}`);
    expect(body.runs.map(({ id }: { id: string }) => id)).toEqual([admitted.body.id]);
  });
});
