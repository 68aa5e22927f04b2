import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findResumeRefusal, findStatusRefusal } from '#domain/assemblies/runs/rules.ts';
import { takeNextAssemblyStep } from '#domain/assemblies/runs/steps/advance.ts';
import { findFactsAt, findReadableAssemblyRun } from '#domain/assemblies/runs/targets.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, admit } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(async () => {
  await api?.close();
});

/** A step of the workflow that drives a run now. */
async function takeStep(id: string): Promise<void> {
  const { transactions, keyRing } = api.services;
  const [row] = await api.rows<{ workflow_id: string }>('select workflow_id from assembly_runs where id = ?', [id]);
  const request = { assemblyRunId: id, workflowId: row?.workflow_id ?? '', isCanceled: false };
  const { starts } = await transactions.run((tx) => takeNextAssemblyStep(tx, keyRing, request));
  for (const node of starts) await admit(api, node);
}

async function countDeadlocks(): Promise<number> {
  // PostgreSQL adds to its statistics once a second.
  await sleep(1_200);
  const [row] = await api.rows<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return row?.deadlocks ?? 0;
}

it('50 simultaneous requests that start, cancel, resume, archive, delete and transfer an assembly do not deadlock', async () => {
  const { owner, environment, project } = tenant;
  const { slug } = await addTemplate(owner, { team: tenant.team });
  const keys = ['a', 'b', 'c'];
  const nodes = Object.fromEntries(keys.map((key) => [key, { template: slug, instance: `race-${key}` }]));
  const assembly = await addAssembly(tenant, { nodes });
  expect((await owner.post(`${assembly}/publish`, { version: '1.0.0' })).status).toBe(201);
  const other = await owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Other' });
  const start = (body: object = {}) => owner.post(`${assembly}/runs`, { environment_id: environment, ...body });
  const runs = await Promise.all([start(), start(), start()]);
  const ids = runs.map(({ body }) => body.id as string);
  await Promise.all(ids.map(takeStep));
  await owner.post(`${assembly}/runs/${ids[2]}/cancel`);
  const before = await countDeadlocks();
  const requests = [
    () => start(),
    () => start({ operation: 'destroy' }),
    (id: string) => owner.post(`${assembly}/runs/${id}/cancel`),
    (id: string) => owner.post(`${assembly}/runs/${id}/resume`),
    () => owner.post(`${assembly}/archive`),
    () => owner.post(`${assembly}/unarchive`),
    () => owner.post(`/environments/${environment}/archive`),
    () => owner.post(`/environments/${environment}/unarchive`),
    () => owner.post(`/projects/${project}/transfer`, { team_id: other.id }),
    () => owner.delete(assembly),
  ];
  const steps = ids.flatMap((id) => [takeStep(id), takeStep(id)]);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) => requests[number % requests.length]?.(ids[number % ids.length] ?? '')),
  );
  await Promise.all(steps);
  const failed = answers.filter((answer) => (answer?.status ?? 500) >= 500).map((answer) => answer?.text);
  expect(failed).toEqual([]);
  expect(await countDeadlocks()).toBe(before);
});

it('an assembly run that ends while it is read shows the actions of the status that it shows', async () => {
  const own = await makeTenant(api);
  const { owner, environment } = own;
  const { slug } = await addTemplate(owner, { team: own.team });
  const assembly = await addAssembly(own, { nodes: { a: { template: slug, instance: 'ends-while-read' } } });
  expect((await owner.post(`${assembly}/publish`, { version: '1.0.0' })).status).toBe(201);
  const { body } = await owner.post(`${assembly}/runs`, { environment_id: environment });
  const em = api.services.orm.em.fork();
  const assemblyId = assembly.split('/').at(-1) ?? '';
  const target = await findReadableAssemblyRun(em, { assemblyId, runId: body.id });
  if (!target) throw new Error('the assembly run was not found');
  await api.rows("update assembly_runs set status = 'failed', finished_at = now() where id = ?", [body.id]);
  const facts = await findFactsAt(em, target, 'failed');
  expect([findStatusRefusal('cancel', facts.run.status)?.code, findResumeRefusal(facts)]).toEqual([
    'assembly_run_not_cancelable',
    null,
  ]);
});
