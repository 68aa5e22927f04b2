import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestRestoration } from '#domain/plugins/restorations/request.ts';
import { verifyRoots } from '#domain/plugins/restorations/roots-store.ts';
import type { RestorationDeps } from '#domain/plugins/restorations/steps.ts';
import { findRestoration } from '#domain/plugins/restorations/store.ts';
import { codeBlocks } from '#test/docs/markdown.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { check, manifestOf, type PluginAnswer, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { openPluginReader } from '#test/support/plugins/reader.ts';
import { carryOut, carryOutRestorations } from '#test/support/plugins/restoring.ts';
import { addUser, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
let deps: RestorationDeps;
let engine: { stop(): Promise<void> };

beforeAll(async () => {
  api = await startApi();
  const { orm, transactions, installation } = api.services;
  await api.rows('create schema dns');
  await api.rows('create table dns.zones (id uuid primary key, secret text)');
  await api.rows('create schema "Odd ""names"""');
  await api.rows('create table "Odd ""names"""."a table; --" ("the ""key""" text)');
  await api.rows('create schema hidden');
  await api.rows('create table hidden.zones (id text)');
  await api.rows(`create view dns.trap as select pg_sleep(60)::text as id`);
  const schemas = ['dns', 'Odd "names"'];
  const databaseUrl = await openPluginReader(api.services.config.databaseUrl, schemas);
  deps = { orm, transactions, bindingKey: installation.bindingKey, pluginRoots: { schemas, databaseUrl } };
  engine = carryOutRestorations(deps);
});
afterAll(async () => {
  await engine?.stop();
  await api?.close();
});

const zones = { schema: 'dns', table: 'zones', key: 'id' };

/** A resource with a root, which was deleted after an action had been assigned for it. */
async function deleteResource({ root: table = zones, key = randomUUID() as string, isThere = true } = {}) {
  const stage = await stagePlugin(api);
  const { root, installation, team, organization, environment, project } = stage;
  await root.stage(installation, manifestOf('2.0.0', { resources: [{ type: 'zone', roots: [table] }] }));
  await root.activate(installation, '2.0.0');
  await root.approve(installation, ['zone.sync']);
  if (isThere && table === zones) await api.rows('insert into dns.zones values (?)', [key]);
  const { expected_ownership } = await root.assignmentOf(stage.sync, {}, { type: 'environment', id: environment });
  const resource = await root.createResource(installation, { environment_id: environment }, expected_ownership, key);
  const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
  await root.assign(stage.sync, { type: 'user', id: member.id }, { type: 'resource', id: resource });
  await root.deleteResource(resource);
  return { ...stage, resource, member, key, organization, project };
}

const code = ({ headers, status }: PluginAnswer) => [status, (headers as Record<string, string>)['x-error-code']];

describe('restoring a resource', () => {
  it('gives it back under its id, with the next revision and generation, and revives no assignment', async () => {
    const { root, resource, sync, member } = await deleteResource();
    const before = await root.read(`/plugin-resources/${resource}`);
    const key = randomUUID();
    const answer = await root.restore(resource, key);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id: resource,
        revision: before.revision + 1,
        eligibility_generation: before.eligibility_generation + 1,
        audit_record_id: expect.any(String),
      },
    ]);
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({ deleted_at: null, name: before.name });
    const selector = { type: 'resource', id: resource };
    expect(await check(member.client, sync, selector)).toMatchObject({
      allowed: false,
      reason: { code: 'scope_changed' },
    });
    const state = { expected_revision: before.revision, expected_ownership: before.ownership };
    const path = `/plugin-resources/${resource}/restore`;
    expect((await sendCommand(root.client, ['POST', path], state, key)).body).toEqual(answer.body);
    expect(code(await root.restore(resource))).toEqual([409, 'plugin_resource_not_deleted']);
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toMatchObject({
      kind: 'committed',
      receipt: { audit_record_id: answer.body.audit_record_id },
    });
  });

  it('answers 409 while its row is missing, and the same answer again to the same key', async () => {
    const { root, resource, key: row } = await deleteResource({ isThere: false });
    const key = randomUUID();
    const refused = await root.restore(resource, key);
    expect(code(refused)).toEqual([409, 'plugin_root_missing']);
    await api.rows('insert into dns.zones values (?)', [row]);
    expect((await root.restore(resource, key)).text).toBe(refused.text);
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('finds rows by quoted names, whatever characters they have', async () => {
    const root = { schema: 'Odd "names"', table: 'a table; --', key: 'the "key"' };
    const key = `it's "quoted"; drop table runs`;
    const stage = await deleteResource({ root, key });
    expect(code(await stage.root.restore(stage.resource))).toEqual([409, 'plugin_root_missing']);
    await api.rows(`insert into "Odd ""names"""."a table; --" values (?)`, [key]);
    expect((await stage.root.restore(stage.resource)).status).toBe(200);
  });

  it.each([
    ['a schema that no operator allows', { schema: 'hidden', table: 'zones', key: 'id' }, [503, 'unavailable']],
    ['a schema of the service itself', { schema: 'public', table: 'runs', key: 'id' }, [503, 'unavailable']],
    ['a view, which could run functions', { schema: 'dns', table: 'trap', key: 'id' }, [409, 'plugin_root_missing']],
    ['a table that does not exist', { schema: 'dns', table: 'nothing', key: 'id' }, [409, 'plugin_root_missing']],
    ['a column that does not exist', { schema: 'dns', table: 'zones', key: 'name' }, [409, 'plugin_root_missing']],
  ] as const)('whose root is in %s is refused', async (_name, root, expected) => {
    const stage = await deleteResource({ root });
    const answer = await stage.root.restore(stage.resource);
    expect(code(answer)).toEqual(expected);
    expect(answer.body.outcome).toBeUndefined();
  });

  it('never takes another key for its own where the column is too short for it', async () => {
    await api.rows('create table dns.short (id varchar(3))');
    await api.rows(`insert into dns.short values ('abc')`);
    const stage = await deleteResource({ root: { schema: 'dns', table: 'short', key: 'id' }, key: 'abcdef' });
    expect(code(await stage.root.restore(stage.resource))).toEqual([409, 'plugin_root_missing']);
  });

  it('is refused while the role that reads the tables may do more than that', async () => {
    const { databaseUrl } = api.services.config;
    const url = deps.pluginRoots.databaseUrl!;
    const role = new URL(url).username;
    const { root, resource } = await deleteResource();
    const refusal = async (databaseUrl: string | null) => {
      await engine.stop();
      engine = carryOutRestorations({ ...deps, pluginRoots: { ...deps.pluginRoots, databaseUrl } });
      const { status, body } = await root.restore(resource);
      return [status, body.error];
    };
    const powerful = [503, expect.stringContaining('may do more than read the schemas of plugins')];
    expect(await refusal(databaseUrl)).toEqual(powerful);
    for (const [grant, revoke] of [
      [`grant select on runs to ${role}`, `revoke select on runs from ${role}`],
      [`grant pg_execute_server_program to ${role}`, `revoke pg_execute_server_program from ${role}`],
      [`alter role ${role} createrole`, `alter role ${role} nocreaterole`],
    ]) {
      await api.rows(grant!);
      expect(await refusal(url)).toEqual(powerful);
      await api.rows(revoke!);
    }
    expect(await refusal(null)).toEqual([503, expect.stringContaining('COORDINATOR_PLUGIN_DATABASE_URL is not set')]);
    const wrong = url.replace(/:[0-9a-f]+@/, ':wrong@');
    expect(await refusal(wrong)).toEqual([503, expect.stringContaining('refuses the role')]);
    await engine.stop();
    engine = carryOutRestorations(deps);
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('reads by the role that docs/plugins.md has operators make', async () => {
    const url = new URL(api.services.config.databaseUrl);
    url.username = `${url.pathname.slice(1)}_reader`;
    url.password = 'secret';
    const [sql = ''] = codeBlocks('docs/plugins.md').flatMap(({ info, text }) => (info === 'sql' ? [text] : []));
    for (const statement of sql.replaceAll('plugin_reader', url.username).replace('…', url.password).split(';\n'))
      if (statement !== '') await api.rows(statement);
    const roots = { roots: [zones], key: randomUUID() };
    expect(await verifyRoots({ schemas: ['dns'], databaseUrl: url.href }, roots)).toMatchObject({ kind: 'missing' });
    await api.rows(`drop owned by ${url.username}`);
    await api.rows(`drop role ${url.username}`);
  });

  it('refuses a key that stands for another command at once, and leaves nothing behind', async () => {
    const { root, resource, team } = await deleteResource();
    const key = randomUUID();
    const project = await sendCommand(root.client, ['POST', '/projects'], { team_id: team, name: 'Taken' }, key);
    const deletion = await sendCommand(root.client, ['DELETE', `/projects/${project.body.id}`], undefined, key);
    expect(deletion.status, deletion.text).toBe(204);
    const begun = Date.now();
    expect(code(await root.restore(resource, key))).toEqual([409, 'idempotency_key_reused']);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(await api.rows('select from plugin_restorations where id = ?', [key])).toEqual([]);
    expect(await api.rows('select from outbox where target = ?', [key])).toEqual([]);
  });

  it('keeps its key from every other command, even if it was refused', async () => {
    const { root, resource, project } = await deleteResource({ isThere: false });
    const key = randomUUID();
    expect((await root.restore(resource, key)).status).toBe(409);
    const deletion = await sendCommand(root.client, ['DELETE', `/projects/${project}`], undefined, key);
    expect(code(deletion)).toEqual([409, 'idempotency_key_reused']);
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toEqual({ kind: 'not_observed' });
  });

  /** Functions of a plugin's tables would run with the rights of the role that reads them. Each of these leaves a trace if it does. */
  const traps: Readonly<Record<string, string>> = {
    'a type with a check of its own': `create domain dns.trapped as text check (dns.spring(value)); create table dns.trap1 (id dns.trapped)`,
    'row security': `create table dns.trap2 (id text); alter table dns.trap2 enable row level security, force row level security;
      create policy p on dns.trap2 using (dns.spring(id))`,
    'an index with a condition': `create table dns.trap3 (id text); create index on dns.trap3 (id) where dns.spring('x')`,
    'an index on an expression': `create table dns.trap4 (id text); create index on dns.trap4 (dns.spring(id))`,
    'statistics of an expression': `create table dns.trap6 (id text); create statistics on (dns.spring(id)), id from dns.trap6`,
    'a partition key with an expression': `create table dns.trap7 (id text) partition by list ((dns.spring(id)));
      create table dns.trap7_part partition of dns.trap7 for values in (true)`,
    'an own check as a partition': `create table dns.trap8_all (id text) partition by list (id);
      create table dns.trap8 partition of dns.trap8_all (check (dns.spring('x'))) for values in ('x')`,
    'children by inheritance': `create table dns.trap5 (id text); create table dns.trap5_child (check (dns.spring('x'))) inherits (dns.trap5)`,
  };

  it.each(Object.entries(traps))(
    'whose root has %s runs no function of the plugin and answers 503',
    async (name, definition) => {
      await api.rows(`create sequence if not exists dns.sprung`);
      await api.rows(`create or replace function dns.spring(text) returns boolean language plpgsql immutable as
      $$ begin perform nextval('dns.sprung'); return true; end $$`);
      await api.rows(definition);
      const before = await api.rows('select last_value, is_called from dns.sprung');
      const table = /trap\d/.exec(traps[name] ?? '')?.[0] ?? '';
      const stage = await deleteResource({ root: { schema: 'dns', table, key: 'id' }, key: 'x' });
      const answer = await stage.root.restore(stage.resource);
      expect(code(answer), answer.text).toEqual([503, 'unavailable']);
      expect(await api.rows('select last_value, is_called from dns.sprung')).toEqual(before);
    },
  );

  it('whose key is no value of the column finds no row', async () => {
    const { root, resource } = await deleteResource({ key: 'not a uuid', isThere: false });
    expect(code(await root.restore(resource))).toEqual([409, 'plugin_root_missing']);
  });

  it('answers 503 when the table does not answer in time', async () => {
    const { root, resource } = await deleteResource();
    const em = api.services.orm.em.fork();
    await em.begin();
    await em.execute('lock table dns.zones in access exclusive mode');
    const answer = await root.restore(resource);
    await em.rollback();
    expect([answer.status, answer.body.error]).toEqual([503, expect.stringMatching(/took longer than 2 s/)]);
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('under a release that declares other roots answers 409', async () => {
    const { root, resource, installation } = await deleteResource();
    await root.stage(installation, manifestOf('3.0.0'));
    await root.activate(installation, '3.0.0');
    expect(code(await root.restore(resource))).toEqual([409, 'plugin_declaration_changed']);
    await root.activate(installation, '2.0.0');
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('of a project that another team got meanwhile answers 409', async () => {
    const { root, resource, project, organization, team } = await deleteResource();
    const other = (
      await root.client.send('POST', `/organizations/${organization}/teams`, { name: 'Other', slug: 'other' })
    ).body.id;
    const { revision } = await root.read(`/projects/${project}`);
    const move = { team_id: other, expected_revision: revision };
    const moved = await sendCommand(root.client, ['POST', `/projects/${project}/transfer`], move);
    expect([moved.status, team === other]).toEqual([200, false]);
    expect(code(await root.restore(resource))).toEqual([409, 'plugin_parent_changed']);
  });

  it('of an environment that was deleted meanwhile answers 409', async () => {
    const { root, resource, environment } = await deleteResource();
    const { status, text } = await root.command(['DELETE', `/environments/${environment}`]);
    expect(status, text).toBe(204);
    expect(code(await root.restore(resource))).toEqual([409, 'plugin_parent_changed']);
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({ deleted_at: expect.any(String) });
  });

  it('whose key was taken by another resource answers 409', async () => {
    const stage = await deleteResource();
    const { root, resource, installation, environment, key, sync } = stage;
    const { expected_ownership } = await root.assignmentOf(sync, {}, { type: 'environment', id: environment });
    await root.createResource(installation, { environment_id: environment }, expected_ownership, key);
    expect(code(await root.restore(resource))).toEqual([409, 'name_taken']);
  });

  it('needs the administration of memberships, which counts when it is committed', async () => {
    const { root, resource, team, member } = await deleteResource();
    const state = await root.stateOf(`/plugin-resources/${resource}`);
    const path = `/plugin-resources/${resource}/restore`;
    expect((await sendCommand(member.client, ['POST', path], state)).status).toBe(403);
    const stranger = await addUser(api, 'maintainer', {});
    expect((await sendCommand(stranger.client, ['POST', path], state)).status).toBe(404);
    const admin = await addUser(api, 'maintainer', { teams: { [team]: 'admin' } });
    expect((await sendCommand(admin.client, ['POST', path], state)).status).toBe(200);
  });

  it('answers 503 with an unknown outcome while nobody carries it out, and goes on under the same key', async () => {
    const { root, resource } = await deleteResource();
    await engine.stop();
    const key = randomUUID();
    const asked = root.restore(resource, key);
    await expect.poll(() => findRestoration(api.services.orm.em.fork(), key)).toMatchObject({ status: 'running' });
    const { request } = (await findRestoration(api.services.orm.em.fork(), key))!;
    const { caller, expected, answer, ...command } = request;
    const again = requestRestoration(
      api.services,
      { command: { ...command, key, caller: caller as never }, resourceId: resource, expected, answer },
      100,
    );
    await expect(again).rejects.toMatchObject({ kind: 'unavailable', details: { outcome: 'unknown' } });
    engine = carryOutRestorations(deps);
    expect((await asked).status).toBe(200);
  });

  it('has no effect without its audit record, and takes effect once records can be written', async () => {
    const { root, resource } = await deleteResource();
    await engine.stop();
    const key = randomUUID();
    const asked = root.restore(resource, key);
    await expect.poll(() => findRestoration(api.services.orm.em.fork(), key)).toMatchObject({ status: 'running' });
    await api.rows(
      `alter table audit_records add constraint broken check (action not like 'plugin_resource%') not valid`,
    );
    await expect(carryOut(deps, key)).rejects.toThrow(/broken/);
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({ deleted_at: expect.any(String) });
    await api.rows('alter table audit_records drop constraint broken');
    await carryOut(deps, key);
    engine = carryOutRestorations(deps);
    expect((await asked).status).toBe(200);
  });

  it('binds its key to its request', async () => {
    const one = await deleteResource({ isThere: false });
    const other = await deleteResource();
    const key = randomUUID();
    expect(code(await one.root.restore(one.resource, key))).toEqual([409, 'plugin_root_missing']);
    expect(code(await other.root.restore(other.resource, key))).toEqual([409, 'idempotency_key_reused']);
  });
});
