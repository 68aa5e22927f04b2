import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Installation, openInstallation } from '#test/faults/harness/installation.ts';
import { Caller } from '#test/support/api/caller.ts';
import { manifestOf, PluginAdministrator, type PluginAnswer, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { openPluginReader } from '#test/support/plugins/reader.ts';
import { readUntil } from '#test/support/read-until.ts';

let installation: Installation;
let root: PluginAdministrator;
let place: { organization: string; team: string; plugin: string };
/** The test holds locks with this connection. */
let holder: pg.Client;

beforeAll(async () => {
  installation = await openInstallation({
    settings: async (databaseUrl) => ({
      COORDINATOR_PLUGIN_SCHEMAS: 'dns',
      COORDINATOR_PLUGIN_DATABASE_URL: await addTables(databaseUrl),
    }),
    cache: join(inject('scratchDirectory'), 'cache'),
  });
  holder = new pg.Client({ connectionString: installation.environment['DATABASE_URL'] });
  await holder.connect();
  const caller = await Caller.signIn(installation.urls[0]!, 'root@example.com', 'correct horse battery');
  root = new PluginAdministrator(caller);
  const { body: organization } = await caller.post('/organizations', { name: 'Acme' });
  const { body: team } = await caller.post(`/organizations/${organization.id}/teams`, { name: 'Platform' });
  const ownership = { organization_id: organization.id, team_id: team.id, team_revision: team.revision };
  const plugin: string = await root.install({ team_id: team.id }, ownership);
  const zones = { schema: 'dns', table: 'zones', key: 'id' };
  await root.stage(plugin, manifestOf('1.0.0', { resources: [{ type: 'zone', roots: [zones] }] }));
  await root.activate(plugin, '1.0.0');
  place = { organization: organization.id, team: team.id, plugin };
}, 120_000);
afterAll(async () => {
  await holder?.end().catch(() => undefined);
  await installation?.close(false);
});

/** Adds the tables of the plugin, and a role that may read them. */
async function addTables(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('create schema dns; create table dns.zones (id text primary key)');
  await client.end();
  return openPluginReader(databaseUrl, ['dns']);
}

/** A deleted resource whose row is there. */
async function deleteResource(): Promise<string> {
  const { expected_ownership } = await root.stateOf(`/plugin-installations/${place.plugin}`);
  const key = randomUUID();
  await holder.query('insert into dns.zones values ($1)', [key]);
  const id = await root.createResource(place.plugin, { team_id: place.team }, expected_ownership, key);
  await root.deleteResource(id);
  return id;
}

/** Waits until a statement of the service waits for a lock. */
async function awaitBlocked(): Promise<void> {
  await expect
    .poll(async () => {
      // A transaction sees the connections that there were when it looked first.
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rows.length;
    })
    .toBeGreaterThan(0);
}

const killWorkers = () => Promise.all(installation.workers.map((worker) => worker.kill()));
const startWorkers = () => Promise.all(installation.workers.map((worker) => worker.start()));

/** Each moment at which the workers are killed: what holds the restoration there, and how one sees that it is there. */
const moments: Readonly<
  Record<string, { hold?: (id: string) => [string, unknown[]]; arrive: (key: string) => Promise<void> }>
> = {
  'before anything is checked': { arrive: async () => undefined },
  'while its row is looked for': {
    hold: () => ['lock table dns.zones in access exclusive mode', []],
    arrive: awaitBlocked,
  },
  'while it is committed': {
    hold: (id) => ['select 1 from plugin_resources where id = $1 for update', [id]],
    arrive: awaitBlocked,
  },
  'after it was committed': {
    arrive: async (key) => {
      const status = async () =>
        (await holder.query('select status from plugin_restorations where id = $1', [key])).rows[0]?.status;
      await expect.poll(status, { interval: 2 }).toBe('restored');
    },
  },
};

/** All moments by `npm run test:proofs`, the hardest one by `npm test`. */
const tried = Object.entries(moments).filter(
  ([name]) => process.env['PROOFS'] === 'all' || name === 'while it is committed',
);

/** Repeats a request under its key until its end is known. */
async function repeat(ask: () => Promise<PluginAnswer>): Promise<PluginAnswer> {
  const isKnown = (answer?: PluginAnswer) => answer && (answer.status < 500 || answer.body?.outcome !== 'unknown');
  const answer = await readUntil(
    () => ask().catch(() => undefined),
    (read) => Boolean(isKnown(read)),
    90_000,
  );
  if (answer && isKnown(answer)) return answer;
  throw new Error(`no end is known: ${answer?.text}`);
}

async function expectEndedOnce(id: string, key: string, answer: PluginAnswer): Promise<void> {
  expect([answer.status, answer.body]).toEqual([
    200,
    { id, revision: 3, eligibility_generation: 3, audit_record_id: expect.any(String) },
  ]);
  expect(await root.read(`/plugin-resources/${id}`)).toMatchObject({ deleted_at: null, revision: 3 });
  const records = await installation.query<{ id: string }>(
    `select id from audit_records where action = 'plugin_resource.restored' and resource_id = $1 and outcome = 'committed'`,
    [id],
  );
  expect(records).toEqual([{ id: answer.body.audit_record_id }]);
  const describeWorkflow = () =>
    installation.askEngine((engine) => engine.workflow.getHandle(key).describe()).then(({ status }) => status.name);
  await expect.poll(describeWorkflow, { timeout: 60_000 }).toBe('COMPLETED');
}

describe('a restoration', () => {
  it.each(tried)(
    'a restoration whose workers are killed %s ends once',
    { timeout: 180_000 },
    async (name, { hold, arrive }) => {
      const [id, key] = [await deleteResource(), randomUUID()];
      const state = await root.stateOf(`/plugin-resources/${id}`);
      const ask = () => sendCommand(root.client, ['POST', `/plugin-resources/${id}/restore`], state, key);
      if (name === 'before anything is checked') await killWorkers();
      await holder.query('begin');
      if (hold) await holder.query(...hold(id));
      if (!hold) await holder.query('commit');
      const asked = repeat(ask);
      await arrive(key);
      await killWorkers();
      if (hold) await holder.query('commit');
      await startWorkers();
      await expectEndedOnce(id, key, await asked);
    },
  );

  it('continues when the process that got the request is killed, and another process returns its receipt', {
    timeout: 180_000,
  }, async () => {
    const [id, key] = [await deleteResource(), randomUUID()];
    const state = await root.stateOf(`/plugin-resources/${id}`);
    const path = `/plugin-resources/${id}/restore`;
    await holder.query('begin');
    await holder.query('select 1 from plugin_resources where id = $1 for update', [id]);
    const lost = sendCommand(root.client, ['POST', path], state, key).catch((error: unknown) => error);
    await awaitBlocked();
    await installation.apis[0]!.kill();
    await holder.query('commit');
    expect(await lost).toBeInstanceOf(Error);
    const other = await Caller.signIn(installation.urls[1]!, 'root@example.com', 'correct horse battery');
    const answer = await repeat(() => sendCommand(other, ['POST', path], state, key));
    await installation.apis[0]!.start();
    await expectEndedOnce(id, key, answer);
  });
});
