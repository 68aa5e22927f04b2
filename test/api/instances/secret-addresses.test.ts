import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing } from '#domain/shared/secrets.ts';
import { openDatabase } from '#open-database';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { publish, runToEnd } from '#test/support/templates.ts';
import { repairResourceLists } from '#worker/background/resource-list-repair.ts';
import '#test/support/tools-on-path.ts';

/** Keys that only the environment marks as secret, and not the configuration. The resources differ at every plan. */
const main = `
variable "one" { type = string }
variable "two" { type = string }
variable "size" { type = number }
resource "terraform_data" "of" {
  for_each = toset([var.one, var.two, "open"])
  input    = [plantimestamp(), var.size]
}
`;
const size = { type: 'number', default: 1 };
const text = { type: 'string' };
const spec = {
  variables: { type: 'object', properties: { size, one: text, two: text } },
  executor: { kind: 'opentofu', files: { 'main.tf': main } },
};
const secrets = { one: 'hunter2-of-alpha', two: 'swordfish-of-beta' };
const masked = ['terraform_data.of["[redacted]"]', 'terraform_data.of["[redacted]"] (2)', 'terraform_data.of["open"]'];

let system: System;
let cookie: string;
let place: { environment_id: string; template_id: string };
beforeAll(async () => {
  system = await startSystem();
  const organization = await make('/organizations', { name: 'Acme', slug: `acme-${randomUUID()}` });
  const team = await make(`/organizations/${organization}/teams`, { name: 'Core' });
  const project = await make('/projects', { team_id: team, name: 'Network' });
  const environment = await make('/environments', { project_id: project, name: 'Test', kind: 'development' });
  const variables = Object.entries(secrets).map(([name, value]) => ({
    name,
    value,
    category: 'template',
    sensitive: true,
  }));
  const set = await system.administrator.send('PUT', `/environments/${environment}/variables`, { variables });
  expect(set.status, set.text).toBe(200);
  place = { environment_id: environment, template_id: await publish(system.administrator, 'keyed', spec, team) };
  const { email, password } = administrator;
  const signedIn = await fetch(`${system.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ email, password }),
    redirect: 'manual',
  });
  cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(() => system?.close());

async function make(path: string, body: object): Promise<string> {
  const answer = await system.administrator.post(path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

/** What an operation answers, in which no secret is. */
async function read(path: string) {
  const { status, text: answered, body } = await system.administrator.get(path);
  expect(status, answered).toBe(200);
  expectClean(answered);
  return body;
}

async function readPage(path: string): Promise<string> {
  const answer = await fetch(`${system.url}${path}`, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
  const page = await answer.text();
  expect(answer.status, page).toBe(200);
  expectClean(page);
  return page;
}

function expectClean(answered: string): void {
  for (const secret of ['hunter2', 'swordfish']) expect(answered).not.toContain(secret);
}

const addressesOf = ({ resources }: { resources: { address: string }[] }) =>
  resources.map(({ address }) => address).sort();

async function deploy(instance: string, variables: object) {
  const run = await runToEnd(system.administrator, { ...place, instance, variables });
  expect(run.status, JSON.stringify(run)).toBe('succeeded');
  return run;
}

async function until(path: string, isDone: (body: never) => boolean) {
  await expect.poll(async () => isDone((await read(path)) as never), { timeout: 60_000, interval: 200 }).toBe(true);
  return read(path);
}

describe.each(['opentofu', 'terraform'])('a secret of the environment as key of for_each, by %s', (name) => {
  let instance: string;
  let runs: { id: string }[];
  beforeAll(async () => {
    instance = await make('/instances', { ...place, name, tool: { name } });
    runs = [await deploy(name, { size: 1 }), await deploy(name, { size: 2 }), await deploy(name, { size: 3 })];
  }, 120_000);

  it('is in no list of resources, and a search for it finds none', async () => {
    expect(addressesOf(await read(`/instances/${instance}/resources`))).toEqual(masked);
    expect(addressesOf(await read(`/resources?environment_id=${place.environment_id}&q=OF`))).toEqual(
      expect.arrayContaining(masked),
    );
    for (const secret of Object.values(secrets)) {
      const found = await system.administrator.get(`/resources?q=${secret}`);
      expect(found.body.resources).toEqual([]);
      const searched = await system.administrator.get(`/search?q=${secret}`);
      expect(searched.text).not.toContain('terraform_data');
    }
    expect(await readPage('/workloads/resources')).toContain('[redacted]');
    await readPage(`/workloads/instances/${instance}`);
  });

  it('is in no comparison of states', async () => {
    const comparison = await read(`/instances/${instance}/state-comparison?from=1&to=2`);
    const changes = comparison.changes.map(({ address, action }: Record<string, string>) => [address, action]);
    expect(changes).toEqual(masked.map((address) => [address, 'update']));
    expect(await readPage(`/workloads/instances/${instance}/compare?from=1&to=2`)).toContain('[redacted]');
  });

  it('is not in the list that a worker repairs, and is still in the downloaded state', async () => {
    const orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 1 });
    await orm.em.getConnection().execute('delete from instance_resources where instance_id = ?', [instance]);
    await orm.em.getConnection().execute('update instances set resources_serial = null where id = ?', [instance]);
    const log = pino({ level: 'silent' });
    await repairResourceLists({ orm, keyRing: new KeyRing(system.config.secretKeys), log });
    await orm.close();
    expect(addressesOf(await read(`/instances/${instance}/resources`))).toEqual(masked);
    const state = await system.administrator.get(`/instances/${instance}/state-versions/3/download`);
    expect(state.text).toContain(secrets.one);
    const refused = await system.administrator.send('DELETE', `/instances/${instance}`);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('[redacted]')]);
    expectClean(refused.text);
  });

  it('is in no plan, drift finding or undo', async () => {
    for (const { id } of runs) {
      await read(`/runs/${id}`);
      await read(`/runs/${id}/plan`);
    }
    await readPage(`/workloads/runs/${runs[0]?.id}`);
    const monitor = await make('/drift-monitors', { instance_id: instance, schedule: { every: 'PT6H' } });
    await system.administrator.post(`/drift-monitors/${monitor}/scan`);
    await until(
      `/drift-monitors/${monitor}`,
      (body: { last_success_at: string | null }) => body.last_success_at !== null,
    );
    const { drift_findings: findings } = await read(`/drift-findings?monitor_id=${monitor}`);
    const found: string[] = findings.map(({ address }: { address: string }) => address);
    expect([...new Set(found)].sort()).toEqual(masked);
    for (const { id } of findings) await read(`/drift-findings/${id}`);
    const key = { 'idempotency-key': randomUUID() };
    const { body } = await system.administrator.post(`/runs/${runs[1]?.id}/selective-undo/check`, undefined, key);
    const path = `/selective-undo/${body.id}`;
    const ended = ['ready', 'blocked', 'failed', 'conflicted', 'promotable'];
    const checked = await until(path, ({ state }: { state: string }) => ended.includes(state));
    expect(checked.baseline_run_id ?? checked.state).toBeDefined();
    await readPage(`/selective-undo/${body.id}`);
  }, 120_000);
});
