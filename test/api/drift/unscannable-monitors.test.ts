import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

/** Monitors whose instances cannot be scanned show no next scan, and the reason. */

let api: TestApi;
let stage: DriftStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
  visitor = await signInVisitor(api, stage.tenant.owner);
});
afterAll(() => api?.close());

const schedule = { every: 'PT6H' };
const watch = (instance: string) => stage.tenant.owner.make('/drift-monitors', { instance_id: instance, schedule });

async function listed(instance: string) {
  const { body } = await stage.tenant.owner.get(`/drift-monitors?instance_id=${instance}`);
  return body.drift_monitors[0];
}

/** Each changes a deployed instance so that it cannot be scanned, or returns an instance that never could be scanned. */
const situations: Record<string, { make(): Promise<string>; code: string; reason: RegExp }> = {
  'was never deployed': {
    make: async () => {
      const { template, tenant } = stage;
      const body = { template_id: template, environment_id: tenant.environment, name: 'never' };
      return (await tenant.owner.make('/instances', body)).id;
    },
    code: 'nothing_deployed',
    reason: /[Nn]o run has deployed the instance/,
  },
  'was destroyed': {
    make: async () => {
      const { instance } = await stage.deploy();
      await api.rows('update instances set resource_count = 0 where id = ?', [instance]);
      return instance;
    },
    code: 'nothing_deployed',
    reason: /holds nothing/,
  },
  'is being removed': {
    make: async () => {
      const deployed = await stage.deploy();
      await stage.redeploy(deployed, 'destroy');
      return deployed.instance;
    },
    code: 'nothing_deployed',
    reason: /is being removed/,
  },
  'has a deployed template without steps to scan': {
    make: async () => {
      const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
      const { owner, team } = stage.tenant;
      const { id } = await owner.make('/registry/templates', { name: 'No detect', team_id: team });
      await owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
      return (await stage.deploy(id)).instance;
    },
    code: 'operation_unsupported',
    reason: /no &quot;detect&quot; steps|no "detect" steps/,
  },
};

it.each(Object.entries(situations))('a monitor whose instance %s says so in every view', async (_, situation) => {
  const instance = await situation.make();
  const made = await watch(instance);
  expect(made['scan_refusal']).toMatchObject({ code: situation.code });
  expect(await listed(instance)).toMatchObject({ scan_refusal: made['scan_refusal'] });
  const refused = await stage.tenant.owner.post(`/drift-monitors/${made.id}/scan`, {});
  expect(refused.headers['x-error-code']).toBe(situation.code);
  expect(refused.body.error).toBe((made['scan_refusal'] as { message: string }).message);
  const page = await visitor.page(`/drift/monitors/${made.id}`);
  expect(page).toContain('Cannot be scanned: ');
  expect(page).toMatch(situation.reason);
  expect(page).toContain('None: it cannot be scanned');
  expect(page).not.toContain('Not scanned yet');
  const list = await visitor.page('/drift?tab=monitors');
  expect(list).toMatch(situation.reason);
});

it('the page after the form that creates a monitor says that its instance cannot be scanned', async () => {
  const { owner, environment } = stage.tenant;
  const body = { template_id: stage.template, environment_id: environment, name: 'form-never' };
  const { id } = await owner.make('/instances', body);
  const made = await visitor.submit('/drift/monitors/new', { instance_id: id, 'schedule.every': '2h' });
  expect((await visitor.get(made.location ?? '')).text).toContain('It scans nothing yet');
});

it('a monitor whose environment is archived cannot be scanned, and one whose instance is deployed can', async () => {
  const other = await makeDriftStage(api);
  const { monitor } = await other.watched();
  const read = async () => (await other.tenant.owner.get(`/drift-monitors/${monitor}`)).body;
  expect(await read()).toMatchObject({ scan_refusal: null });
  await api.rows('update environments set archived_at = now() where id = ?', [other.tenant.environment]);
  expect(await read()).toMatchObject({ scan_refusal: { code: 'archived' } });
});
