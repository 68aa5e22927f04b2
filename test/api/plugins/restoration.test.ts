import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestRestoration } from '#domain/plugins/restorations/request.ts';
import type { RestorationDeps } from '#domain/plugins/restorations/steps.ts';
import { findRestoration } from '#domain/plugins/restorations/store.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addPluginTables, codeOf, deleteResource, pluginSchemas } from '#test/support/plugins/deleted-resource.ts';
import { check, manifestOf, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { carryOut, carryOutRestorations } from '#test/support/plugins/restoring.ts';
import { addUser } from '#test/support/plugins/stage.ts';

let api: TestApi;
let deps: RestorationDeps;
let engine: { stop(): Promise<void> };

beforeAll(async () => {
  api = await startApi();
  const { orm, transactions, installation } = api.services;
  const pluginRoots = { schemas: pluginSchemas, databaseUrl: await addPluginTables(api) };
  deps = { orm, transactions, bindingKey: installation.bindingKey, pluginRoots };
  engine = carryOutRestorations(deps);
});
afterAll(async () => {
  await engine?.stop();
  await api?.close();
});

/** The two reads that a response with an unknown outcome names. */
const readBoth = (resource: string) =>
  new RegExp(
    `read GET /api/v1/commands/outcome with .* and GET /api/v1/plugin-resources/${resource}, whose restoration`,
  );

describe('restoring a resource', () => {
  it('restores it with its id and the next revision and generation, and without its assignments', async () => {
    const { root, resource, sync, member } = await deleteResource(api);
    const before = await root.read(`/plugin-resources/${resource}`);
    expect(before.restoration).toBeNull();
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
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({
      deleted_at: null,
      name: before.name,
      restoration: { state: 'restored', problem: null },
    });
    const selector = { type: 'resource', id: resource };
    expect(await check(member.client, sync, selector)).toMatchObject({
      allowed: false,
      reason: { code: 'scope_restored' },
    });
    const state = { expected_revision: before.revision, expected_ownership: before.ownership };
    const path = `/plugin-resources/${resource}/restore`;
    expect((await sendCommand(root.client, ['POST', path], state, key)).body).toEqual(answer.body);
    expect(codeOf(await root.restore(resource))).toEqual([409, 'plugin_resource_not_deleted']);
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toMatchObject({
      kind: 'committed',
      receipt: {
        audit_record_id: answer.body.audit_record_id,
        eligibility_generation: answer.body.eligibility_generation,
      },
    });
  });

  it('answers 409 while its row is missing, and the same to the same key again', async () => {
    const { root, resource, key: row } = await deleteResource(api, { isThere: false });
    const key = randomUUID();
    const refused = await root.restore(resource, key);
    expect(codeOf(refused)).toEqual([409, 'plugin_root_missing']);
    await api.rows('insert into dns.zones values (?)', [row]);
    expect((await root.restore(resource, key)).text).toBe(refused.text);
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('refuses a key of another command at once, and leaves no rows', async () => {
    const { root, resource, team } = await deleteResource(api);
    const key = randomUUID();
    const project = await sendCommand(root.client, ['POST', '/projects'], { team_id: team, name: 'Taken' }, key);
    const deletion = await sendCommand(root.client, ['DELETE', `/projects/${project.body.id}`], undefined, key);
    expect(deletion.status, deletion.text).toBe(204);
    const begun = Date.now();
    expect(codeOf(await root.restore(resource, key))).toEqual([409, 'idempotency_key_reused']);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(await api.rows('select from plugin_restorations where id = ?', [key])).toEqual([]);
    expect(await api.rows('select from outbox where target = ?', [key])).toEqual([]);
  });

  it('reserves its key, even if it was refused', async () => {
    const { root, resource, project } = await deleteResource(api, { isThere: false });
    const key = randomUUID();
    expect((await root.restore(resource, key)).status).toBe(409);
    const deletion = await sendCommand(root.client, ['DELETE', `/projects/${project}`], undefined, key);
    expect(codeOf(deletion)).toEqual([409, 'idempotency_key_reused']);
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toEqual({ kind: 'not_observed' });
    expect((await root.read(`/plugin-resources/${resource}`)).restoration).toEqual({
      state: 'refused',
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      problem: { code: 'plugin_root_missing', message: expect.stringContaining('the root dns.zones is missing') },
    });
  });

  it('restoring a resource under a release that declares other roots answers 409', async () => {
    const { root, resource, installation } = await deleteResource(api);
    await root.stage(installation, manifestOf('3.0.0'));
    await root.activate(installation, '3.0.0');
    expect(codeOf(await root.restore(resource))).toEqual([409, 'plugin_declaration_changed']);
    await root.activate(installation, '2.0.0');
    expect((await root.restore(resource)).status).toBe(200);
  });

  it('restoring a resource of a project that was transferred meanwhile answers 409', async () => {
    const { root, resource, project, organization, team } = await deleteResource(api);
    const other = (
      await root.client.send('POST', `/organizations/${organization}/teams`, { name: 'Other', slug: 'other' })
    ).body.id;
    const { revision } = await root.read(`/projects/${project}`);
    const move = { team_id: other, expected_revision: revision };
    const moved = await sendCommand(root.client, ['POST', `/projects/${project}/transfer`], move);
    expect([moved.status, team === other]).toEqual([200, false]);
    expect(codeOf(await root.restore(resource))).toEqual([409, 'plugin_parent_changed']);
  });

  it('restoring a resource of an environment that was deleted meanwhile answers 409', async () => {
    const { root, resource, environment } = await deleteResource(api);
    const { status, text } = await root.command(['DELETE', `/environments/${environment}`]);
    expect(status, text).toBe(204);
    expect(codeOf(await root.restore(resource))).toEqual([409, 'plugin_parent_changed']);
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({ deleted_at: expect.any(String) });
  });

  it('restoring a resource whose key was taken by another resource answers 409', async () => {
    const stage = await deleteResource(api);
    const { root, resource, installation, environment, key, sync } = stage;
    const { expected_ownership } = await root.assignmentOf(sync, {}, { type: 'environment', id: environment });
    await root.createResource(installation, { environment_id: environment }, expected_ownership, key);
    expect(codeOf(await root.restore(resource))).toEqual([409, 'name_taken']);
  });

  it('many times at once restores it once, and refuses callers with too many running restorations', async () => {
    const { root, resource } = await deleteResource(api);
    const answers = await Promise.all(Array.from({ length: 16 }, () => root.restore(resource)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([200, 409, 429]));
    const codes = answers.filter(({ status }) => status === 409).map((answer) => codeOf(answer)[1]);
    expect(codes.filter((code) => code !== 'plugin_resource_not_deleted' && code !== 'stale_revision')).toEqual([]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^[1-9]/) });
  });

  it('requires the right to manage memberships', async () => {
    const { root, resource, team, member } = await deleteResource(api);
    const state = await root.stateOf(`/plugin-resources/${resource}`);
    const path = `/plugin-resources/${resource}/restore`;
    expect((await sendCommand(member.client, ['POST', path], state)).status).toBe(403);
    const stranger = await addUser(api, 'maintainer', {});
    expect((await sendCommand(stranger.client, ['POST', path], state)).status).toBe(404);
    const admin = await addUser(api, 'maintainer', { teams: { [team]: 'admin' } });
    expect((await sendCommand(admin.client, ['POST', path], state)).status).toBe(200);
  });

  it('depends on the authority of its caller at the commit', async () => {
    const { root, resource, team, organization } = await deleteResource(api);
    const state = await root.stateOf(`/plugin-resources/${resource}`);
    const admin = await addUser(api, 'maintainer', {
      teams: { [team]: 'admin' },
      organizations: { [organization]: 'member' },
    });
    await engine.stop();
    const key = randomUUID();
    const asked = sendCommand(admin.client, ['POST', `/plugin-resources/${resource}/restore`], state, key);
    await expect.poll(() => findRestoration(api.services.orm.em.fork(), key)).toMatchObject({ status: 'running' });
    const left = await root.command(['DELETE', `/organizations/${organization}/teams/${team}/members/${admin.id}`]);
    expect(left.status, left.text).toBeLessThan(300);
    engine = carryOutRestorations(deps);
    expect((await asked).status).toBe(404);
    expect(await root.read(`/plugin-resources/${resource}`)).toMatchObject({ deleted_at: expect.any(String) });
  });

  it('answers 503 with an unknown outcome while no worker runs, and continues under the same key', async () => {
    const { root, resource } = await deleteResource(api);
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
    await expect(again).rejects.toMatchObject({
      kind: 'unavailable',
      details: { outcome: 'unknown' },
      message: expect.stringMatching(readBoth(resource)),
      retryAfter: undefined,
    });
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toEqual({ kind: 'not_observed' });
    const { restoration } = await root.read(`/plugin-resources/${resource}`);
    expect(restoration).toMatchObject({ state: 'running', problem: null });
    engine = carryOutRestorations(deps);
    expect((await asked).status).toBe(200);
  });

  it.each([
    ['waits', 'running'],
    ['was carried out', 'restored'],
  ])('answers an unknown outcome if the database fails once it %s', async (_name, status) => {
    const { root, resource } = await deleteResource(api);
    await engine.stop();
    const key = randomUUID();
    const asked = root.restore(resource, key);
    await expect.poll(() => findRestoration(api.services.orm.em.fork(), key)).toMatchObject({ status: 'running' });
    await api.rows('alter table command_receipts rename to lost_receipts');
    if (status === 'running') await api.rows('alter table plugin_restorations rename to lost_restorations');
    else await api.rows(`update plugin_restorations set status = 'restored', ended_at = now() where id = ?`, [key]);
    const answer = await asked;
    await api.rows('alter table lost_receipts rename to command_receipts');
    if (status === 'running') await api.rows('alter table lost_restorations rename to plugin_restorations');
    await api.rows(`update plugin_restorations set status = 'running', ended_at = null where id = ?`, [key]);
    engine = carryOutRestorations(deps);
    expect([answer.status, answer.body.outcome]).toEqual([503, 'unknown']);
    expect(answer.body.error).toMatch(/read GET \/api\/v1\/commands\/outcome with the Idempotency-Key/);
    expect(answer.body.error).not.toMatch(/repeat|same key/);
    const path = `/plugin-resources/${resource}/restore`;
    const { request } = (await findRestoration(api.services.orm.em.fork(), key))!;
    const { expectedRevision: expected_revision, expectedOwnership: expected_ownership } = request.expected;
    const again = await sendCommand(root.client, ['POST', path], { expected_revision, expected_ownership }, key);
    expect([again.status, again.body]).toMatchObject([200, { id: resource }]);
  });

  it('has no effect without its audit record, and takes effect once records can be written', async () => {
    const { root, resource } = await deleteResource(api);
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
    const one = await deleteResource(api, { isThere: false });
    const other = await deleteResource(api);
    const key = randomUUID();
    expect(codeOf(await one.root.restore(one.resource, key))).toEqual([409, 'plugin_root_missing']);
    expect(codeOf(await other.root.restore(other.resource, key))).toEqual([409, 'idempotency_key_reused']);
  });
});
