import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runShell } from '#test/support/shell.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { network, publish, runToEnd } from '#test/support/templates.ts';
import { codeBlocks } from './markdown.ts';

let system: System;
let directory: string;
let environment: { TOKEN: string; TEMPLATE: string; ENVIRONMENT: string };
beforeAll(async () => {
  system = await startSystem();
  const caller = system.administrator;
  const make = async (path: string, body: object) => (await caller.post(path, body)).body.id as string;
  const organization = await make('/organizations', { name: 'Adopters' });
  const team_id = await make(`/organizations/${organization}/teams`, { name: 'Core' });
  const project_id = await make('/projects', { team_id, name: 'Legacy' });
  const policy = { approval_policy: { required: 0, when: 'never', allow_self: true } };
  const ENVIRONMENT = await make('/environments', { project_id, name: 'Lab', kind: 'development', ...policy });
  const TEMPLATE = await publish(caller, 'legacy', network, team_id);
  const elsewhere = await runToEnd(caller, {
    template_id: TEMPLATE,
    environment_id: ENVIRONMENT,
    instance: 'elsewhere',
  });
  const state = await caller.get(
    `/instances/${elsewhere.instance_id}/state-versions/${elsewhere.state_serial_after}/download`,
  );
  directory = mkdtempSync(join(tmpdir(), 'coordinator-instances-'));
  writeFileSync(join(directory, 'legacy.tfstate'), state.text);
  const { email, password } = administrator;
  const session = await caller.post('/auth/sessions', { email, password });
  environment = { TOKEN: session.body.token, TEMPLATE, ENVIRONMENT };
});
afterAll(async () => {
  await system?.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('the commands that adopt existing infrastructure', () => {
  it('plan no changes, list what was adopted, destroy it and delete the instance', { timeout: 120_000 }, async () => {
    const blocks = codeBlocks('docs/instances.md').filter(({ info }) => info === 'sh instances');
    const script = blocks.map(({ text }) => `echo '--'\n${text}`).join('');
    const input = `cd ${directory}\n${script}echo "-- $INSTANCE"\n`.replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(['-eu'], environment, { shell: 'sh', input, withinMs: 110_000 });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [, adopted = '', listed = '', , instance = ''] = output.split('--');
    expect(adopted).toMatch(/"resource_count":3/);
    expect(adopted).toMatch(/"changes":\[\]/);
    for (const line of listed.trim().split('\n')) expect(line).toMatch(/"address":"terraform_data\.network"/);
    expect((await system.administrator.get(`/instances/${instance.trim()}`)).status).toBe(404);
  });
});
