import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { network, publish, runToEnd } from '#test/support/templates.ts';

const secret = 's3cr3t-token-value';
let system: System;
let templateId: string;
beforeAll(async () => {
  system = await startSystem();
  templateId = await publish(system.administrator, 'network', network);
});
afterAll(async () => {
  await system?.close();
});

describe('a run of an OpenTofu template', () => {
  it('plans, applies, and stores outputs and state, with secrets masked everywhere', async () => {
    const { administrator } = system;
    const run = await runToEnd(administrator, {
      template_id: templateId,
      instance: 'main',
      variables: { token: secret },
    });
    expect(run).toMatchObject({
      status: 'succeeded',
      plan: { summary: { add: 3, change: 0, destroy: 0 } },
      variables: { cidr: '10.0.0.0/16', token: { sensitive: true } },
      outputs: { cidr: { value: '10.0.0.0/16', sensitive: false }, token: { value: null, sensitive: true } },
      state_serial_before: 0,
    });
    expect(run.tool.name).toMatch(/^(opentofu|terraform)$/);
    const plan = await administrator.get(`/runs/${run.id}/plan`);
    expect(plan.body.changes.map((change: { address: string }) => change.address).sort()).toEqual([
      'terraform_data.network',
      'terraform_data.subnet[0]',
      'terraform_data.subnet[1]',
    ]);
    const log = await administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('Apply complete!');
    const instance = await administrator.get(`/instances/${run.instance_id}`);
    expect(instance.body).toMatchObject({ resource_count: 3, deployed_run_id: run.id, locked_by_run_id: null });
    const everything = [
      run,
      plan.body,
      log.text,
      instance.body,
      await outputsOf(run.instance_id),
      await eventsOf(run.id),
    ];
    expect(JSON.stringify(everything)).not.toContain(secret);
  });

  it('succeeds without approval if the plan changes nothing', async () => {
    const run = await runToEnd(system.administrator, {
      template_id: templateId,
      instance: 'main',
      variables: { token: secret },
    });
    expect(run).toMatchObject({
      status: 'succeeded',
      plan: { summary: { add: 0, change: 0, destroy: 0 } },
      state_serial_after: null,
    });
  });

  it('stops after planning if the operation is plan', async () => {
    const run = await runToEnd(system.administrator, {
      template_id: templateId,
      instance: 'main',
      operation: 'plan',
      variables: { cidr: '10.1.0.0/16', token: secret },
    });
    expect(run).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 3, destroy: 0 } } });
    expect((await outputsOf(run.instance_id)).outputs.cidr.value).toBe('10.0.0.0/16');
  });

  it('replaces the resources that are named', async () => {
    const run = await runToEnd(system.administrator, {
      template_id: templateId,
      instance: 'main',
      replace: ['terraform_data.network'],
      variables: { token: secret },
    });
    expect(run.plan.summary).toMatchObject({ add: 1, change: 0, destroy: 1 });
    expect(run.status).toBe('succeeded');
  });

  it('runs a repository with a cloud block unchanged, and says that the block has no effect', async () => {
    const main = 'terraform {\n  cloud {\n    organization = "acme"\n  }\n}\nresource "terraform_data" "x" {}\n';
    const cloud = await publish(system.administrator, 'from-hcp', {
      executor: { kind: 'opentofu', files: { 'main.tf': main } },
    });
    const run = await runToEnd(system.administrator, { template_id: cloud, instance: 'from-hcp' });
    expect(run).toMatchObject({ status: 'succeeded', state_serial_after: expect.any(Number) });
    const log = await system.administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('main.tf, line 2: the cloud block has no effect');
  });

  it('refreshes, and destroys all resources', async () => {
    const request = { template_id: templateId, instance: 'main', variables: { token: secret } };
    const refreshed = await runToEnd(system.administrator, { ...request, operation: 'refresh' });
    expect(refreshed.status).toBe('succeeded');
    const destroyed = await runToEnd(system.administrator, { ...request, operation: 'destroy' });
    expect(destroyed).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 0, destroy: 3 } } });
    const instance = await system.administrator.get(`/instances/${destroyed.instance_id}`);
    expect(instance.body.resource_count).toBe(0);
  });

  it('fails with a reason, and its log has the error', async () => {
    // Publication validates without values, so it cannot know what this file is.
    const main =
      'variable "path" {\n  default = "missing.txt"\n}\noutput "text" { value = file("${path.module}/${var.path}") }';
    const broken = { executor: { kind: 'opentofu', files: { 'main.tf': main } } };
    const id = await publish(system.administrator, 'broken', broken);
    const run = await runToEnd(system.administrator, { template_id: id });
    expect(run).toMatchObject({ status: 'failed', plan: null });
    expect(run.status_reason).toMatch(/^(init|plan)_failed$/);
    const log = await system.administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('Invalid function argument');
  });
});

describe('the state of an instance', () => {
  it('is stored in versions that can be downloaded, and imported into an instance without state', async () => {
    const { administrator } = system;
    const run = await runToEnd(administrator, { template_id: templateId, instance: 'source', variables: {} });
    const versions = await administrator.get(`/instances/${run.instance_id}/state-versions`);
    expect(versions.body.state_versions[0]).toMatchObject({
      serial: run.state_serial_after,
      run_id: run.id,
      resource_count: 3,
    });
    const page = (cursor = '') => administrator.get(`/instances/${run.instance_id}/state-versions?limit=1${cursor}`);
    const serials: number[] = [];
    for (let next = await page(); ; next = await page(`&cursor=${next.body.next_cursor}`)) {
      serials.push(...next.body.state_versions.map(({ serial }: { serial: number }) => serial));
      if (next.body.next_cursor === null) break;
    }
    expect(serials).toEqual(versions.body.state_versions.map(({ serial }: { serial: number }) => serial));
    expect((await page('&cursor=MTIzNDU2Nzg5MDEy')).status).toBe(400);
    const state = await administrator.get(
      `/instances/${run.instance_id}/state-versions/${run.state_serial_after}/download`,
    );
    expect(JSON.parse(state.text)).toMatchObject({ version: 4, outputs: { cidr: { value: '10.0.0.0/16' } } });

    const adopter = await administrator.post('/instances', { template_id: templateId, name: 'adopter' });
    const path = `/instances/${adopter.body.id}/state`;
    const imported = await administrator.post(path, JSON.parse(state.text));
    expect(imported.status, imported.text).toBe(201);
    const again = await administrator.post(path, JSON.parse(state.text));
    expect(again.status).toBe(409);
    const unchanged = await runToEnd(administrator, { template_id: templateId, instance: 'adopter' });
    expect(unchanged).toMatchObject({
      status: 'succeeded',
      instance_id: adopter.body.id,
      plan: { summary: { add: 0, change: 0, destroy: 0 } },
    });
  });

  it('is imported with its resources, so that a run changes them, and a destroy removes them', async () => {
    const { administrator } = system;
    const source = await runToEnd(administrator, { template_id: templateId, instance: 'legacy', variables: {} });
    const downloaded = await administrator.get(
      `/instances/${source.instance_id}/state-versions/${source.state_serial_after}/download`,
    );
    const adopter = await administrator.post('/instances', { template_id: templateId, name: 'heir' });
    const path = `/instances/${adopter.body.id}`;
    const state = JSON.parse(downloaded.text);
    const imported = await administrator.post(`${path}/state`, { ...state, serial: 2 ** 53 - 1_000_001 });
    expect(imported.status, imported.text).toBe(201);
    const request = { template_id: templateId, instance: 'heir', variables: { cidr: '10.9.0.0/16' } };
    const changed = await runToEnd(administrator, request);
    expect(changed).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 3, destroy: 0 } } });
    const after = await administrator.get(`${path}/state-versions/${changed.state_serial_after}/download`);
    expect(idsIn(JSON.parse(after.text))).toEqual(idsIn(state));
    const destroyed = await runToEnd(administrator, { ...request, operation: 'destroy' });
    expect(destroyed).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 0, destroy: 3 } } });
  });

  it('is refused if it is not a state of OpenTofu', async () => {
    const { administrator } = system;
    const empty = await runToEnd(administrator, { template_id: templateId, instance: 'nothing', operation: 'plan' });
    const answer = await administrator.post(`/instances/${empty.instance_id}/state`, {
      version: 3,
      serial: 1,
      lineage: 'x',
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain('format version 4');
  });
});

interface TofuState {
  resources: { instances: { attributes: { id: string } }[] }[];
}

/** The ids that the provider gave the resources of a state. A resource that is created again gets another one. */
function idsIn({ resources }: TofuState): string[] {
  return resources.flatMap(({ instances }) => instances.map(({ attributes }) => attributes.id)).sort();
}

async function outputsOf(instanceId: string) {
  return (await system.administrator.get(`/instances/${instanceId}/outputs`)).body;
}

async function eventsOf(runId: string) {
  return (await system.administrator.get(`/runs/${runId}/events`)).body;
}
