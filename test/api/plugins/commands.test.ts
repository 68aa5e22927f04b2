import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '#api/document/document.ts';
import { operations, tags } from '#api/operations.ts';
import { catalogueOf } from '#api/pipeline/catalogue.ts';
import { reviewOf } from '#test/support/access/reviews.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { codeOf } from '#test/support/plugins/deleted-resource.ts';
import { manifestOf, noOwnership, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, installPlugin, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const install = () => installPlugin(api);

describe('a plugin command', () => {
  const members = Object.keys(noOwnership);

  it.each(members)('a plugin command without %s of its ownership answers 400, and so does null', async (member) => {
    const { root, path } = await install();
    const state = await root.stateOf(path);
    for (const value of [undefined, null]) {
      const expected_ownership = { ...state.expected_ownership, [member]: value };
      const body = { release: '1.0.0', ...state, expected_ownership };
      expect((await sendCommand(root.client, ['POST', `${path}/activate`], body)).status).toBe(400);
    }
  });

  it.each(members)('a plugin command with another %s answers 409', async (member) => {
    const { root, installation, path } = await install();
    await root.stage(installation, manifestOf('1.0.0'));
    const state = await root.stateOf(path);
    const other = member.endsWith('_id') ? randomUUID() : 7;
    const body = { release: '1.0.0', ...state, expected_ownership: { ...state.expected_ownership, [member]: other } };
    expect(codeOf(await sendCommand(root.client, ['POST', `${path}/activate`], body))).toEqual([
      409,
      'ownership_changed',
    ]);
  });

  it('returns an uncacheable receipt, returns it again to the same key, and has an outcome', async () => {
    const { root, installation, path } = await install();
    await root.stage(installation, manifestOf('1.0.0'));
    const body = { release: '1.0.0', ...(await root.stateOf(path)) };
    const key = randomUUID();
    const first = await sendCommand(root.client, ['POST', `${path}/activate`], body, key);
    const again = await sendCommand(root.client, ['POST', `${path}/activate`], body, key);
    expect(first.body).toEqual({ id: installation, revision: 2, audit_record_id: expect.any(String) });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((first.headers as Record<string, string>)['cache-control']).toBe('no-store');
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toMatchObject({
      kind: 'committed',
      receipt: { resource_id: installation, revision: 2, audit_record_id: first.body.audit_record_id },
    });
    const other = await sendCommand(root.client, ['POST', `${path}/activate`], { ...body, release: '2.0.0' }, key);
    expect(codeOf(other)).toEqual([409, 'idempotency_key_reused']);
  });

  it.each(['', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '00000000-0000-0000-0000-000000000000'])(
    'a plugin command with the key "%s" answers 400, and so does a check',
    async (key) => {
      const { root, sync, team, installation } = await stagePlugin(api);
      const path = `/plugin-installations/${installation}`;
      const body = { release: '1.0.0', ...(await root.stateOf(path)) };
      expect((await sendCommand(root.client, ['POST', `${path}/activate`], body, key)).status).toBe(400);
      const question = { selector: { type: 'team', id: team } };
      for (const name of ['check', 'grant-review'])
        expect(
          (await sendCommand(root.client, ['POST', `/plugin-actions/${sync}/${name}`], question, key)).status,
        ).toBe(400);
    },
  );

  it('a plugin command without a key answers 400, while a check needs none', async () => {
    const { root, sync, team, installation } = await stagePlugin(api);
    const path = `/plugin-installations/${installation}`;
    const body = { release: '1.0.0', ...(await root.stateOf(path)) };
    expect((await root.client.send('POST', `${path}/activate`, body)).status).toBe(400);
    const question = { selector: { type: 'team', id: team } };
    expect((await root.client.send('POST', `/plugin-actions/${sync}/check`, question)).status).toBe(200);
  });
});

it.each([
  ['a character of no width', 'zo\u200Bne', 'U+200B'],
  ['a mark that turns the direction of text', 'zone\u202Exe', 'U+202E'],
  ['a joiner', 'zo\u2060ne', 'U+2060'],
  ['a filler', 'zone\u3164', 'U+3164'],
  ['a soft hyphen', 'zo\u00ADne', 'U+00AD'],
])('a name or key with %s answers 400 in all operations of plugins', async (_what, text, point) => {
  const { root, installation, team, sync } = await stagePlugin(api);
  const selector = { type: 'team', id: team };
  const { expected_ownership } = await root.assignmentOf(sync, {}, selector);
  const owned = { team_id: team, expected_ownership };
  const zone = { installation_id: installation, type: 'zone', name: 'zone', key: 'zone', ...owned };
  const background = { installation_id: installation, selector, expected_installation_revision: 2, expected_ownership };
  const requests: [string, object][] = [
    ['/plugin-installations', { name: text, ...owned }],
    ['/plugin-background-principals', { name: text, ...background }],
    ['/plugin-resources', { ...zone, name: text }],
    ['/plugin-resources', { ...zone, key: text }],
  ];
  for (const [path, body] of requests) {
    const { status, body: answer } = await sendCommand(root.client, ['POST', path], body);
    expect([path, status, answer.error]).toEqual([
      path,
      400,
      expect.stringContaining(`must not contain the character ${point}`),
    ]);
  }
  const shown = await sendCommand(root.client, ['POST', '/plugin-installations'], {
    ...owned,
    name: 'Ünïcödé ❤\uFE0F 域',
  });
  expect(shown.status).toBe(201);
});

describe('a question about plugins', () => {
  it.each(['check', 'grant-review'])(
    'a question about plugins by %s answers 400 for an unknown place, kind or user',
    async (name) => {
      const { root, sync, team } = await stagePlugin(api);
      const selector = { type: 'team', id: team };
      const ask = async (body: object) =>
        (await root.client.send('POST', `/plugin-actions/${sync}/${name}`, body)).status;
      expect(await ask({ selector })).toBe(200);
      expect(await ask({ selector: { type: 'team', id: randomUUID() } })).toBe(400);
      expect(await ask({ selector: { type: 'galaxy', id: team } })).toBe(400);
      expect(await ask({ selector, subject: { type: 'user', id: randomUUID() } })).toBe(400);
      expect(await ask({})).toBe(400);
    },
  );

  it('a question about an action of another tenant answers 404', async () => {
    const { root, sync } = await stagePlugin(api);
    const other = await stagePlugin(api);
    const selector = { type: 'team', id: other.team };
    expect((await root.client.send('POST', `/plugin-actions/${sync}/check`, { selector })).status).toBe(404);
  });

  it('is not an access review, as can-i refuses plugins and preferences of notifications by name', async () => {
    const { root } = await stagePlugin(api);
    const ask = (resource: string) => root.client.send('POST', '/auth/can-i', reviewOf({ resource, verb: 'list' }));
    expect((await ask('audit_records')).body.status.allowed).toBe(true);
    const plugins = ['plugin_actions', 'plugin_installations', 'plugin_action_grants', 'plugin_resources'];
    for (const resource of [...plugins, 'notification_preferences']) {
      const { status, body } = await ask(resource);
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'malformed_review',
        expect.stringContaining(resource),
      ]);
    }
    const reviewed = catalogueOf(operations).entries.map(({ review }) => review.resource);
    expect(reviewed.filter((resource) => /plugin|preference/.test(resource))).toEqual([]);
  });
});

it('the outcome of a command has the state that the command answered', async () => {
  const { root, installation, team, sync } = await stagePlugin(api);
  const id = await root.approveBackground(installation, sync, { type: 'team', id: team });
  const path = `/plugin-background-principals/${id}`;
  const key = randomUUID();
  const { body } = await sendCommand(root.client, ['DELETE', path], await root.stateOf(path), key);
  const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
  expect(outcome.body.receipt).toMatchObject({ state: 'revoked', revision: body.revision });
});

it('an owner that is hidden from the caller is described without its name', async () => {
  const { root, organization, team } = await stagePlugin(api);
  const stranger = await addUser(api, 'maintainer');
  const member = await addUser(api, 'maintainer', { teams: { [team]: 'member' } });
  const owners = { organization_id: organization, team_id: team, team_revision: 1 };
  const body = { name: 'x', team_id: team, expected_ownership: { ...noOwnership, ...owners } };
  const install = async (client: typeof root.client) =>
    (await sendCommand(client, ['POST', '/plugin-installations'], body)).body.error;
  expect(await install(stranger.client)).toBe('what the body names as the owner was not found');
  expect(await install(member.client)).toBe(
    'permission denied: this needs team.membership.manage (the team role admin) in the team that is to own it',
  );
});

it('the OpenAPI document describes keys, owners that exclude each other, and lists of unique entries of plugins', () => {
  const document = describeApi(operations, '1.0.0', tags);
  const described = JSON.stringify(document.components?.schemas);
  expect(JSON.parse(described).InstallPlugin.oneOf).toHaveLength(2);
  expect(JSON.parse(described).CreatePluginResource.oneOf).toHaveLength(3);
  expect(JSON.parse(described).ReplacePluginCeiling.properties.actions.uniqueItems).toBe(true);
  const check = JSON.stringify(document.paths?.['/api/v1/plugin-actions/{id}/check']);
  expect(check).toContain('a key has no effect');
  expect(check).toContain('Cache-Control');
});

it('the reference has one group, "Plugin Permissions", for all operations of plugins', () => {
  const { paths = {} } = describeApi(operations, '1.0.0', tags);
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item ?? {}).map((operation) => [path, Object(operation).tags] as const),
  );
  const ofPlugins = described.filter(([path]) => path.startsWith('/api/v1/plugin-'));
  expect(ofPlugins).toHaveLength(26);
  for (const [path, tags] of ofPlugins) expect([path, tags]).toEqual([path, ['Plugin Permissions']]);
  expect(described.filter(([, tags]) => tags[0] === 'Plugin Permissions')).toHaveLength(ofPlugins.length);
});
