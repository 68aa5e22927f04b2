import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findStateSecrets } from '#domain/runs/state-secrets/state-secrets.ts';
import { maxWriters } from '#domain/runs/state-secrets/writers-store.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { openDatabase } from '#open-database';
import type { Caller } from '#test/support/api/caller.ts';
import type { TestApi } from '#test/support/api/in-process-api.ts';
import { copyRun } from '#test/support/runs/many-runs.ts';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { publish, runToEnd } from '#test/support/templates.ts';
import '#test/support/tools-on-path.ts';

/** The configuration marks no secrets: only the environment, a variable set, or the schema of the template does. */
const main = `
variable "name" { type = string }
variable "token" { type = string }
variable "users" {
  type    = list(string)
  default = []
}
resource "terraform_data" "t" { input = "\${var.name}/\${var.token}" }
resource "terraform_data" "u" { for_each = nonsensitive(toset(var.users)) }
resource "terraform_data" "kept" {
  input = var.token
  lifecycle { ignore_changes = [input] }
}
output "url" { value = "u:\${var.token}" }
`;
const text = { type: 'string' };
const users = { type: 'array', items: text };
const executor = { kind: 'opentofu', files: { 'main.tf': main } };
const writeOnly = {
  variables: {
    type: 'object',
    properties: { name: text, token: { ...text, writeOnly: true }, users: { ...users, writeOnly: true } },
  },
  executor,
};
const open = { variables: { type: 'object', properties: { name: text, token: text, users } }, executor };

let system: System;
let caller: Caller;
let secretly: string;
let openly: string;
let environment: string;
let place: { environment_id: string };
beforeAll(async () => {
  system = await startSystem();
  caller = system.administrator;
  const organization = await make('/organizations', { name: 'Acme', slug: `acme-${randomUUID()}` });
  const team = await make(`/organizations/${organization}/teams`, { name: 'Core' });
  const project = await make('/projects', { team_id: team, name: 'Network' });
  environment = await make('/environments', { project_id: project, name: 'Test', kind: 'development' });
  place = { environment_id: await make('/environments', { project_id: project, name: 'Free', kind: 'development' }) };
  secretly = await publish(caller, 'secretly', writeOnly, team);
  openly = await publish(caller, 'openly', open, team);
});
afterAll(() => system?.close());

async function make(path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

async function run(body: object) {
  const found = await runToEnd(caller, { template_id: secretly, ...place, ...body });
  expect(found.status, JSON.stringify(found)).toBe('succeeded');
  return found;
}

/** Returns what the API shows of a run: the run, its plan and its log. */
async function shown({ id }: { id: string }): Promise<string> {
  const log = await caller.get(`/runs/${id}/logs`, { accept: 'text/plain' });
  const [found, plan] = [await caller.get(`/runs/${id}`), await caller.get(`/runs/${id}/plan`)];
  expect([found.status, plan.status, log.status]).toEqual([200, 200, 200]);
  return [found.text, plan.text, log.text].join('\n');
}

async function planOf({ id }: { id: string }) {
  return (await caller.get(`/runs/${id}/plan`)).body;
}

describe('secrets under which earlier runs wrote the state', () => {
  it('are in no plan of a run that guesses another value, whose plan says that they change', async () => {
    const variables = [{ name: 'token', value: 'prod-secret-jjjj', category: 'template', sensitive: true }];
    const set = await caller.send('PUT', `/environments/${environment}/variables`, { variables });
    expect(set.status, set.text).toBe(200);
    const guessed = { template_id: openly, environment_id: environment, instance: 'guessed' };
    await run({ ...guessed, variables: { name: 'a' } });
    const guess = await run({ ...guessed, operation: 'plan', variables: { name: 'a', token: 'guess' } });
    expect(await shown(guess)).not.toContain('jjjj');
    const change = (await planOf(guess)).changes.find(({ address }: { address: string }) => address.endsWith('.t'));
    expect(change).toMatchObject({ before: { input: { sensitive: true } }, after: { input: { sensitive: true } } });
    expect(change.sensitive).toContainEqual({ path: ['input'], changed: true });
  }, 120_000);

  it('are not shown after a rotation, even if a resource keeps an older one', async () => {
    const instance = { instance: 'rotated' };
    await run({ ...instance, variables: { name: 'a', token: 'old-secret-qqqq' } });
    const rotated = await run({ ...instance, variables: { name: 'a', token: 'new-secret-vvvv' } });
    const everything = await shown(rotated);
    expect(everything).not.toMatch(/qqqq|vvvv/);
    expect((await planOf(rotated)).outputs).toMatchObject([
      { name: 'url', before: { sensitive: true }, after: { sensitive: true }, sensitive: true },
    ]);
    await run({ ...instance, variables: { name: 'a', token: 'newest-secret-kkkk' } });
    const destroyed = await run({ ...instance, operation: 'destroy', variables: { name: 'a', token: 'other' } });
    expect(await shown(destroyed)).not.toMatch(/qqqq|vvvv|kkkk/);
  }, 120_000);

  it('are not in keys of removed resources, even if one secret begins with another', async () => {
    const token = 'always-the-same';
    const instance = { instance: 'keyed' };
    await run({ ...instance, variables: { name: 'a', token, users: ['beta', 'beta-secret', 'gamma-secret'] } });
    const changed = await run({ ...instance, variables: { name: 'a', token, users: ['beta'] } });
    const everything = await shown(changed);
    expect(everything).not.toMatch(/beta|gamma|-secret|\[redacted\][\w-]/);
    const addresses = (await planOf(changed)).changes.map(({ address }: { address: string }) => address);
    expect(new Set(addresses).size).toBe(2);
  }, 120_000);

  it('are shown neither by an undo of the rotation nor by comparisons of the states', async () => {
    const instance = { instance: 'undone' };
    const first = await run({ ...instance, variables: { name: 'a', token: 'first"secret-qqqq' } });
    const second = await run({ ...instance, variables: { name: 'a', token: 'second"secret-vvvv' } });
    const key = { 'idempotency-key': randomUUID() };
    const { body } = await caller.post(`/runs/${second.id}/selective-undo/check`, undefined, key);
    const states = ['ready', 'blocked', 'failed', 'conflicted', 'promotable'];
    const read = async () => (await caller.get(`/selective-undo/${body.id}`)).body;
    await expect.poll(async () => states.includes((await read()).state), { timeout: 120_000 }).toBe(true);
    const attempt = await caller.get(`/selective-undo/${body.id}`);
    expect(attempt.text).not.toMatch(/qqqq|vvvv/);
    for (const id of [attempt.body.baseline_run_id, attempt.body.check?.run_id].filter(Boolean))
      expect(await shown({ id })).not.toMatch(/qqqq|vvvv/);
    const undone = await run({ ...instance, variables: { name: 'a', token: 'first"secret-qqqq' } });
    expect(await shown(undone)).not.toMatch(/qqqq|vvvv/);
    const compared = await caller.get(
      `/instances/${first.instance_id}/state-comparison?from=${first.state_serial_after}&to=${second.state_serial_after}`,
    );
    expect(compared.status, compared.text).toBe(200);
    expect(compared.text).not.toMatch(/qqqq|vvvv/);
    const change = compared.body.changes.find(({ address }: { address: string }) => address.endsWith('.t'));
    expect(change.attributes).toMatchObject([
      { label: 'input.value', before: { sensitive: true }, after: { sensitive: true }, sensitive: true },
      expect.objectContaining({ label: 'output.value', sensitive: true }),
    ]);
  }, 180_000);

  it('are in no drift finding and no destroy after a partial run', async () => {
    const instance = { instance: 'partial' };
    const first = await run({ ...instance, variables: { name: 'a', token: 'one-token-qqqq', users: ['u-one-qqqq'] } });
    const variables = { name: 'a', token: 'two-token-vvvv', users: ['u-two-vvvv'] };
    await run({ ...instance, variables, options: { target: ['terraform_data.t', 'terraform_data.u'] } });
    const monitor = await make('/drift-monitors', {
      instance_id: first.instance_id,
      schedule: { every: 'PT6H' },
    });
    await caller.post(`/drift-monitors/${monitor}/scan`);
    const isScanned = async () => (await caller.get(`/drift-monitors/${monitor}`)).body.last_success_at !== null;
    await expect.poll(isScanned, { timeout: 60_000, interval: 200 }).toBe(true);
    const findings = await caller.get(`/drift-findings?monitor_id=${monitor}`);
    expect(findings.body.drift_findings.length).toBeGreaterThan(0);
    expect(findings.text).not.toMatch(/qqqq|vvvv/);
    for (const { id } of findings.body.drift_findings)
      expect((await caller.get(`/drift-findings/${id}`)).text).not.toMatch(/qqqq|vvvv/);
    const started = await caller.post('/runs', {
      template_id: secretly,
      ...place,
      ...instance,
      operation: 'destroy',
    });
    const destroyed = await caller.awaitRun(started.body.id, ended);
    expect(await shown({ id: destroyed.id })).not.toMatch(/qqqq|vvvv/);
  }, 180_000);

  it('are all found, or nothing may be shown if too many runs have applied since the deployment', async () => {
    const token = 'bounded-secret-qqqq';
    const deployed = await run({ instance: 'bounded', variables: { name: 'a', token } });
    const orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 1 });
    const rows = (sql: string, values: unknown[] = []) => orm.em.getConnection().execute(sql, values);
    const find = () => findStateSecrets(orm.em.fork(), new KeyRing(system.config.secretKeys), deployed.instance_id);
    expect(await find()).toEqual({ values: [token, `u:${token}`], areTooMany: false });
    await copyRun({ rows } as unknown as TestApi, deployed.id, maxWriters + 1, { sealed_inputs: `''::bytea` });
    await rows(
      `insert into run_attempts (id, run_id, phase, worker_id, log_base, line_base, started_at)
        select gen_random_uuid(), r.id, 'applying', a.worker_id, 0, 0, now() from runs r, run_attempts a
        where r.instance_id = ? and r.id <> ? and a.run_id = ? and a.phase = 'applying'`,
      [deployed.instance_id, deployed.id, deployed.id],
    );
    expect(await find()).toEqual({ values: [], areTooMany: true });
    await rows('update runs set instance_position = 100000 where id = ?', [deployed.id]);
    expect(await find()).toEqual({ values: [token, `u:${token}`], areTooMany: false });
    await orm.close();
  }, 120_000);
});
