import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runShell } from '#test/support/programs/shell.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { commands, network, publish, runToEnd } from '#test/support/templates.ts';
import { codeBlocks } from './markdown.ts';

let system: System;
let directory: string;
let environment: { TOKEN: string; TEMPLATE: string; ENVIRONMENT: string };
beforeAll(async () => {
  system = await startSystem();
  const caller = system.administrator;
  const { email, password } = administrator;
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const { TEAM, ENVIRONMENT } = await makePlace(TOKEN);
  const TEMPLATE = await publish(caller, 'legacy', network, TEAM);
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
  environment = { TOKEN, TEMPLATE, ENVIRONMENT };
});
afterAll(async () => {
  await system?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Creates an environment with the commands of the documentation, as somebody who pastes them twice. Returns the second one. */
async function makePlace(TOKEN: string): Promise<{ TEAM: string; ENVIRONMENT: string }> {
  const [block] = codeBlocks('docs/access.md').filter(({ info }) => info === 'sh place');
  const script = `${block?.text}sleep 1\n${block?.text}echo "$TEAM $ENVIRONMENT"\n`.replaceAll(
    'http://127.0.0.1:8080',
    system.url,
  );
  const { code, output, errors } = await runShell(['-eu'], { TOKEN }, { input: script });
  expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
  const [TEAM = '', ENVIRONMENT = ''] = output.trim().split(' ');
  return { TEAM, ENVIRONMENT };
}

describe('the commands that adopt existing infrastructure', () => {
  it('plan no changes, list the resources, destroy them and delete the instance', { timeout: 120_000 }, async () => {
    const blocks = codeBlocks('docs/instances.md').filter(({ info }) => info === 'sh instances');
    const script = blocks.map(({ text }) => `echo '--'\n${text}`).join('');
    const input = `cd ${directory}\n${script}echo "-- $INSTANCE"\n`.replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(['-eu'], environment, { shell: 'sh', input, withinMs: 110_000 });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [, adopted = '', compared = '', listed = '', , instance = ''] = output.split('--');
    expect(adopted).toMatch(/"resource_count":3/);
    expect(adopted).toMatch(/"changes":\[\]/);
    expect(compared).toMatch(/"changes":\[\],"omitted":0,"unchanged":\d/);
    for (const line of listed.trim().split('\n')) expect(line).toMatch(/"address":"terraform_data\.network"/);
    expect((await system.administrator.get(`/instances/${instance.trim()}`)).status).toBe(404);
  });

  it('stop at a run that waits for approval, and say so', async () => {
    const spec = { ...commands({ act: 'true' }), approval: { required: 1, when: 'always' } };
    const template_id = await publish(system.administrator, 'asks', spec);
    const { id } = await runToEnd(system.administrator, { template_id }, ['pending_approval']);
    const [block] = codeBlocks('docs/instances.md').filter(({ info }) => info === 'sh instances');
    const [functions = ''] = (block?.text ?? '').split('\n\n');
    const input = `${functions}\nawait_end ${id}\n`.replaceAll('http://127.0.0.1:8080', system.url);
    const { code, errors } = await runShell(['-eu'], environment, { input });
    expect([code, errors]).toEqual([
      1,
      `run ${id} waits for another person's approval: call await_end again after it\n`,
    ]);
  });
});
