import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { codeOf } from '#test/support/plugins/deleted-resource.ts';
import {
  encode,
  manifestOf,
  noOwnership,
  PluginAdministrator,
  sendCommand,
} from '#test/support/plugins/plugin-world.ts';
import { addUser, installPlugin, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const install = () => installPlugin(api);

describe('a manifest', () => {
  it('is stored byte for byte with its digest', async () => {
    const { root, installation, path } = await install();
    const bytes = Buffer.from(`\n  ${JSON.stringify(manifestOf('1.0.0'))}  \n`);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const body = { release: '1.0.0', manifest: bytes.toString('base64'), digest, ...(await root.stateOf(path)) };
    const staged = await sendCommand(root.client, ['POST', `${path}/manifests`], body);
    expect(staged.body).toEqual({
      id: installation,
      revision: 1,
      state: 'staged',
      audit_record_id: expect.any(String),
    });
    const { manifests } = await root.read(`${path}/manifests`);
    expect(manifests).toMatchObject([{ release: '1.0.0', digest, manifest: bytes.toString('base64') }]);
  });

  it.each([
    [
      'other bytes than its digest says',
      (body: object) => ({ ...body, digest: `sha256:${'0'.repeat(64)}` }),
      /have the digest/,
    ],
    ['text that is not JSON', () => encodeText('{'), /JSON/],
    ['another release', () => encodeText(JSON.stringify(manifestOf('9.9.9'))), /declares the release 9.9.9/],
    ['an action twice', () => encodeText(JSON.stringify(twice())), /twice/],
    [
      'a member that nobody knows',
      () => encodeText(JSON.stringify({ ...manifestOf('1.0.0'), code: 'x' })),
      /^unknown field "manifest.code"$/,
    ],
    [
      'a member twice, of which programs could take either',
      () => encodeText(JSON.stringify(manifestOf('1.0.0')).replace('{', '{"release":"1.0.0",')),
      /release is given more than once/,
    ],
    [
      'a selector twice',
      () => encodeText(JSON.stringify(manifestOf('1.0.0', { actions: [action({ selectors: ['team', 'team'] })] }))),
      /names "team" twice/,
    ],
    [
      'an effect twice',
      () => encodeText(JSON.stringify(manifestOf('1.0.0', { actions: [action({ effects: ['x', 'x'] })] }))),
      /names "x" twice/,
    ],
    [
      'a root twice',
      () => rooted('dns', 'dns'),
      /^field "manifest.resources\[0\].roots\[1\]" names a root twice: expected each root once$/,
    ],
    ['a root in pg_catalog', () => rooted('pg_catalog'), /a schema of PostgreSQL itself/],
    [
      'a root in public',
      () => rooted('public'),
      /public, the schema of the service itself.*expected a schema that the plugin has for itself/,
    ],
    ['a root in information_schema', () => rooted('information_schema'), /a schema of PostgreSQL itself/],
    [
      'a name that turns the direction of text',
      () => encodeText(JSON.stringify(manifestOf('1.0.0', { name: 'dns\u202Esnd' }))),
      /field "manifest.name" must not contain the character U\+202E/,
    ],
    [
      'a name with characters that nobody sees',
      () => encodeText(JSON.stringify(manifestOf('1.0.0', { name: 'd\u200Bns' }))),
      /field "manifest.name" must not contain the character U\+200B/,
    ],
    ['a byte order mark', () => encodeText(`\uFEFF${JSON.stringify(manifestOf('1.0.0'))}`), /JSON/],
    ['what is not base64', () => ({ manifest: '????' }), /base64/],
  ] as const)('a manifest with %s is refused', async (_name, change, message) => {
    const { root, path } = await install();
    const body = { release: '1.0.0', ...encode(manifestOf('1.0.0')), ...(await root.stateOf(path)) };
    const answer = await sendCommand(root.client, ['POST', `${path}/manifests`], { ...body, ...change(body) });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)]);
  });

  it('a manifest with several problems is refused with all of them, each with its field and what is accepted', async () => {
    const actions = [{ name: 'Zone Sync', selectors: ['galaxy'], effects: 'none' }, { name: 'zone.read' }];
    const answer = await stageBroken({
      actions,
      resources: [{ type: 'zone', roots: [{ schema: '', table: 'zones' }] }],
    });
    expect([answer.status, answer.body.error.split('; ')]).toEqual([
      400,
      [
        'field "manifest.actions[0].name": expected 1-100 lowercase letters, digits and _ . : -, beginning with a letter, such as "zone.sync"',
        'field "manifest.actions[0].selectors[0]" must be one of resource, project, environment, team, organization, organization_descendants',
        'field "manifest.actions[0].effects" must be an array, not a string',
        'field "manifest.actions[1].selectors" is required',
        'field "manifest.actions[1].effects" is required',
        'field "manifest.resources[0].roots[0].schema" must not be empty',
        'field "manifest.resources[0].roots[0].key" is required',
      ],
    ]);
  });

  it('a manifest that contradicts itself several times is refused with all contradictions', async () => {
    const answer = await stageBroken({
      release: '2.0.0',
      actions: [action({}), action({ effects: ['x', 'x'] })],
      executions: [{ name: 'nightly', action: 'zone.fly' }],
    });
    expect([answer.status, answer.body.error.split('; ')]).toEqual([
      400,
      [
        'field "manifest.actions[1].name" names "zone.sync" twice: expected each name once',
        'field "manifest.executions[0].action" names "zone.fly", which is not declared: expected the name of an action of the manifest',
        'field "manifest.actions[1].effects[1]" names "x" twice: expected each item once',
        'field "manifest.release" declares the release 2.0.0: expected 1.0.0, as the request says',
      ],
    ]);
  });

  it('a manifest with more than 20 problems is refused with the first 20 and the number of the others', async () => {
    const answer = await stageBroken({
      actions: Array.from({ length: 25 }, () => action({ name: '?' })),
      executions: [],
    });
    expect(answer.body.error.match(/field /g)).toHaveLength(20);
    expect(answer.body.error).toMatch(/; and 5 more$/);
  });

  it('a manifest of a release that was staged with other bytes is refused', async () => {
    const { root, installation, path } = await install();
    await root.stage(installation, manifestOf('1.0.0'));
    const other = {
      ...encode(manifestOf('1.0.0', { name: 'other' })),
      release: '1.0.0',
      ...(await root.stateOf(path)),
    };
    const answer = await sendCommand(root.client, ['POST', `${path}/manifests`], other);
    expect(codeOf(answer)).toEqual([409, 'plugin_release_differs']);
  });

  it('a manifest that is staged again is unchanged, and its actions keep their revision', async () => {
    const { root, installation, path } = await install();
    await root.stage(installation, manifestOf('1.0.0'));
    await root.activate(installation, '1.0.0');
    const read = async () => [
      await root.read(`${path}/manifests`),
      await root.read(`/plugin-actions?installation_id=${installation}`),
      await api.rows('select staged_by, staged_at from plugin_releases where installation_id = ?', [installation]),
    ];
    const before = await read();
    const other = new PluginAdministrator((await addUser(api, 'admin')).client);
    await other.stage(installation, manifestOf('1.0.0'));
    expect(await read()).toEqual(before);
  });

  it('a manifest that names SQL roots needs the settings of the installation', async () => {
    const { root, installation, path } = await install();
    const { team_id } = await root.read(path);
    const owner = await addUser(api, 'maintainer', { teams: { [team_id]: 'owner' } });
    const rooted = { resources: [{ type: 'zone', roots: [{ schema: 'dns', table: 'zones', key: 'id' }] }] };
    const body = { release: '1.0.0', ...encode(manifestOf('1.0.0', rooted)), ...(await root.stateOf(path)) };
    expect((await sendCommand(owner.client, ['POST', `${path}/manifests`], body)).status).toBe(403);
    await root.stage(installation, manifestOf('1.0.0', rooted));
  });
});

describe('a release of which only the digest is known', () => {
  it('can be activated, and requires its original manifest before anything of it is approved', async () => {
    const { root, installation, path } = await install();
    const { manifest, digest } = encode(manifestOf('1.0.0'));
    const stage = async (body: object) =>
      sendCommand(root.client, ['POST', `${path}/manifests`], {
        release: '1.0.0',
        digest,
        ...body,
        ...(await root.stateOf(path)),
      });
    expect((await stage({})).status).toBe(200);
    await root.activate(installation, '1.0.0');
    expect((await root.read(`${path}/actions`)).actions).toEqual([]);
    const approve = async () =>
      sendCommand(root.client, ['PUT', `${path}/ceiling`], {
        actions: ['zone.sync'],
        executions: [],
        expected_ceiling_revision: 0,
        ...(await root.stateOf(path)),
      });
    expect(codeOf(await approve())).toEqual([409, 'plugin_manifest_missing']);
    const { manifest: others } = encode(manifestOf('1.0.0', { name: 'other' }));
    expect((await stage({ manifest: others })).status).toBe(400);
    expect((await stage({ manifest })).status).toBe(200);
    expect((await approve()).status).toBe(200);
    expect((await root.read(`${path}/actions`)).actions).toHaveLength(2);
  });
});

describe('an activation', () => {
  it('increases the revision, and makes the ceiling stale', async () => {
    const { root, installation } = await stagePlugin(api);
    const ceiling = () => root.read(`/plugin-installations/${installation}/ceiling`);
    expect(await ceiling()).toMatchObject({ current: true, release: '1.0.0', installation_revision: 2, revision: 1 });
    expect(await root.activate(installation, '1.0.0')).toMatchObject({ id: installation, revision: 3 });
    expect(await ceiling()).toMatchObject({ current: false });
  });

  it('activating a release that nobody staged answers 409', async () => {
    const { root, path } = await install();
    const body = { release: '1.0.0', ...(await root.stateOf(path)) };
    expect(codeOf(await sendCommand(root.client, ['POST', `${path}/activate`], body))).toEqual([
      409,
      'plugin_release_unknown',
    ]);
  });
});

describe('a plugin', () => {
  it('is refused if its team already has 100, even if several are installed at once', async () => {
    const { organizationId, teamId } = await addTeam(api.services.orm);
    const root = new PluginAdministrator((await addUser(api, 'admin')).client);
    const ownership = { organization_id: organizationId, team_id: teamId, team_revision: 1 };
    const first = await root.install({ team_id: teamId }, ownership);
    await api.rows(
      `insert into plugin_installations (id, team_id, name, revision, created_by, created_at)
       select gen_random_uuid(), team_id, 'many ' || n, 1, created_by, now() from plugin_installations, generate_series(1, 97) n where id = ?`,
      [first],
    );
    const names = [1, 2, 3, 4].map((n) => `last ${n}`);
    const body = { team_id: teamId, expected_ownership: { ...noOwnership, ...ownership } };
    const install = (name: string) => sendCommand(root.client, ['POST', '/plugin-installations'], { ...body, name });
    const answers = await Promise.all(names.map(install));
    expect(answers.map(codeOf).sort()).toEqual([
      [201, undefined],
      [201, undefined],
      [409, 'limit_reached'],
      [409, 'limit_reached'],
    ]);
  });
});

/** Stages release 1.0.0 with a manifest of such members. */
async function stageBroken(members: object) {
  const { root, path } = await install();
  const body = { release: '1.0.0', ...encode(manifestOf('1.0.0', members)), ...(await root.stateOf(path)) };
  return sendCommand(root.client, ['POST', `${path}/manifests`], body);
}

/** The one action of a manifest whose executions use it. */
const action = (changes: object) => ({ name: 'zone.sync', selectors: ['team'], effects: [], ...changes });

function rooted(...schemas: string[]) {
  const roots = schemas.map((schema) => ({ schema, table: 'zones', key: 'id' }));
  return encodeText(JSON.stringify(manifestOf('1.0.0', { resources: [{ type: 'zone', roots }] })));
}

function twice() {
  const manifest = manifestOf('1.0.0');
  return { ...manifest, actions: [...manifest.actions, ...manifest.actions] };
}

function encodeText(text: string) {
  const bytes = Buffer.from(text);
  return { manifest: bytes.toString('base64'), digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}
