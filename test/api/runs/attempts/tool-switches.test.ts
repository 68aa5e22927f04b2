import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discoverTools, type InstalledTool } from '#executors/client/tools.ts';
import { openDatabase } from '#open-database';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { publish, publishVersion, runToEnd } from '#test/support/templates.ts';
import '#test/support/tools-on-path.ts';

const programs = { opentofu: 'tofu', terraform: 'terraform' } as const;
type Name = keyof typeof programs;

const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-tools-'));
const path = process.env['PATH'] ?? '';
const installed = await discoverTools({ directory: null });
let system: System;
let reviewer: Person;

beforeAll(async () => {
  chmodSync(directory, 0o755);
  // The worker finds only what a test offers.
  const withoutTools = path
    .split(delimiter)
    .filter((place) => !Object.values(programs).some((program) => existsSync(join(place, program))));
  process.env['PATH'] = withoutTools.join(delimiter);
  system = await startSystem({ COORDINATOR_TOOLS_DIRECTORY: directory });
  const orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 1 });
  reviewer = await addPerson({ url: system.url, orm }, 'admin');
  await orm.close();
});
afterAll(async () => {
  process.env['PATH'] = path;
  await system?.close();
  rmSync(directory, { recursive: true, force: true });
});

function toolOf(name: Name): InstalledTool {
  const found = installed.find((tool) => tool.name === name);
  if (!found) throw new Error(`these tests need ${name}`);
  return found;
}

const versionOf = (name: Name) => toolOf(name).version;

/** Gives the workers a tool, where the users of sandboxes can read it. */
function offer(name: Name): void {
  const { version, path: program } = toolOf(name);
  const place = join(directory, name, version);
  mkdirSync(place, { recursive: true });
  copyFileSync(program, join(place, programs[name]));
  chmodSync(join(place, programs[name]), 0o755);
}

function withdraw(name: Name): void {
  rmSync(join(directory, name), { recursive: true, force: true });
}

const read = async (kind: 'runs' | 'instances', id: string) => (await system.administrator.get(`/${kind}/${id}`)).body;

const resource = (input: string) => `resource "terraform_data" "x" {\n  input = "${input}"\n}\n`;

function specOf(files: Record<string, string>, more: object = {}) {
  return { outputs: { by: {} }, executor: { kind: 'opentofu', files }, ...more };
}

const output = 'output "by" {\n  value = terraform_data.x.output\n}\n';

async function switchTo(instanceId: string, name: Name) {
  const asked = await system.administrator.post(`/instances/${instanceId}/tool-switch`, { tool: { name } });
  expect(asked.status, asked.text).toBe(202);
  return asked.body.id as string;
}

/** Waits until a run waits for a worker with a tool. */
const awaitNoWorker = (id: string) =>
  expect.poll(async () => (await read('runs', id)).waiting_on?.tools, { timeout: 60_000 });

describe('a live instance', () => {
  it('is switched to OpenTofu and back once a worker has the tool, and later runs use that tool', async () => {
    offer('terraform');
    const { administrator } = system;
    const template = await publish(administrator, 'both', specOf({ 'main.tf': resource('one') + output }));
    const first = await runToEnd(administrator, { template_id: template, instance: 'live' });
    expect(first).toMatchObject({ status: 'succeeded', tool: { name: 'terraform', version: versionOf('terraform') } });
    const { instance_id: id } = first;

    const there = await switchTo(id, 'opentofu');
    await awaitNoWorker(there).toEqual([{ name: 'opentofu', version: '' }]);
    offer('opentofu');
    expect(await administrator.awaitRun(there, ended)).toMatchObject({
      status: 'succeeded',
      tool: { name: 'opentofu', version: versionOf('opentofu') },
      plan: { summary: { add: 0, change: 0, destroy: 0 } },
    });
    expect(await read('instances', id)).toMatchObject({ tool: 'opentofu', deployed_run_id: first.id });

    await publishVersion(administrator, template, '1.1.0', specOf({ 'main.tf': resource('two') + output }));
    const changed = await runToEnd(administrator, { template_id: template, instance: 'live' });
    expect(changed).toMatchObject({
      status: 'succeeded',
      tool: { name: 'opentofu' },
      outputs: { by: { value: 'two' } },
    });

    const back = await administrator.awaitRun(await switchTo(id, 'terraform'), ended);
    expect(back).toMatchObject({ status: 'succeeded', tool: { name: 'terraform' } });
    const again = await runToEnd(administrator, { template_id: template, instance: 'live' });
    expect(again).toMatchObject({ status: 'succeeded', tool: { name: 'terraform' }, state_serial_after: null });
    const removed = await runToEnd(administrator, { template_id: template, instance: 'live', operation: 'destroy' });
    expect(removed).toMatchObject({ status: 'succeeded', tool: { name: 'terraform' } });
    expect(await read('instances', id)).toMatchObject({ resource_count: 0 });
  });

  it('keeps its tool if the plan of the other tool has changes, and shows this plan', async () => {
    const { administrator } = system;
    const files = { 'main.tf': resource('terraform') + output, 'main.tofu': resource('opentofu') + output };
    const template = await publish(administrator, 'differs', specOf(files));
    const { id } = await administrator
      .post('/instances', { template_id: template, name: 'kept', tool: { name: 'terraform' } })
      .then(({ body }) => body);
    const first = await runToEnd(administrator, { template_id: template, instance: 'kept' });
    expect(first).toMatchObject({ status: 'succeeded', outputs: { by: { value: 'terraform' } } });
    const failed = await administrator.awaitRun(await switchTo(id, 'opentofu'), ended);
    expect(failed).toMatchObject({
      status: 'failed',
      status_reason: 'switch_not_empty',
      status_detail: { message: expect.stringContaining('0 to add, 1 to change, 0 to destroy'), source: 'service' },
    });
    const again = await administrator.post(`/instances/${id}/tool-switch`, { tool: { name: 'terraform' } });
    expect([again.status, again.headers.get('x-error-code')]).toEqual([409, 'same_tool']);
    const { body: plan } = await administrator.get(`/runs/${failed.id}/plan`);
    expect(plan.changes).toMatchObject([{ address: 'terraform_data.x', action: 'update' }]);
    expect(await read('instances', id)).toMatchObject({ tool: 'terraform', wanted_tool: { name: 'terraform' } });
  });

  it('waits for the tool of its plan if that tool is removed while the plan waits for approval', async () => {
    const { administrator } = system;
    const approval = { required: 1, when: 'changes' };
    const template = await publish(administrator, 'waits', specOf({ 'main.tf': resource('a') + output }, { approval }));
    const planned = await runToEnd(administrator, { template_id: template }, ['pending_approval', ...ended]);
    expect(planned).toMatchObject({ status: 'pending_approval', tool: { name: 'opentofu' } });
    withdraw('opentofu');
    await expect
      .poll(async () => JSON.stringify((await administrator.get('/workers')).body.workers), { timeout: 60_000 })
      .not.toContain('opentofu');
    const decision = { decision: 'approve', plan_digest: planned.plan.digest };
    const reviewed = await reviewer.caller.post(`/runs/${planned.id}/approval/review`, decision);
    expect(reviewed.status, reviewed.text).toBeLessThan(300);
    await awaitNoWorker(planned.id).toEqual([{ name: 'opentofu', version: versionOf('opentofu') }]);
    offer('opentofu');
    expect(await administrator.awaitRun(planned.id, ended)).toMatchObject({
      status: 'succeeded',
      tool: { name: 'opentofu', version: versionOf('opentofu') },
    });
  });
});
