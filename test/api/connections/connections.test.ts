import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCredentials } from '#domain/connections/envelope.ts';
import { readSeals } from '#domain/connections/store.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

let api: TestApi;
let tenant: Tenant;
let stranger: Tenant;
let root: ApiUser;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: 'localhost' });
  [tenant, stranger, root] = [await makeTenant(api), await makeTenant(api), await api.addUser('admin')];
});
afterAll(() => api?.close());

const path = '/admin/connections';
const secret = 'secret-of-connection-7f3a';
const generic = { kind: 'generic', credentials: { variables: { TOKEN: secret }, files: { KEY_FILE: `${secret}\n` } } };
let made = 0;
const add = (owner: object, user = tenant.owner, more: object = generic) =>
  user.make(path, { name: `Connection ${++made}`, ...more, ...owner });

/** The credentials that a run or a publication uses. */
async function use(id: string, keyRing = api.services.keyRing) {
  const seals = await readSeals(api.services.orm.em.fork(), id);
  return openCredentials(keyRing, seals!);
}

describe('a connection', () => {
  it('is created, read, renamed, rotated and deleted, and no response or audit record has its credentials', async () => {
    const created = await tenant.owner.post(path, { name: 'Deploy', ...generic, project_id: tenant.project });
    expect(created).toMatchObject({ status: 201, headers: { location: `/api/v1${path}/${created.body.id}` } });
    const owners = { organization_id: null, team_id: tenant.team, project_id: tenant.project };
    expect(created.body).toMatchObject({ ...owners, kind: 'generic', provides: ['KEY_FILE', 'TOKEN'], revision: 1 });
    const at = `${path}/${created.body.id}`;
    expect(await use(created.body.id)).toEqual(generic.credentials);
    const renamed = await tenant.owner.patch(at, { name: 'Deployment', expected_revision: 1 });
    expect(renamed.body).toMatchObject({ name: 'Deployment', revision: 2, credential_revision: 1 });
    const rotated = await tenant.owner.post(`${at}/rotate`, { credentials: { variables: { OTHER: `${secret}2` } } });
    expect(rotated.body).toMatchObject({ provides: ['OTHER'], revision: 3, credential_revision: 2 });
    expect(await use(created.body.id)).toEqual({ variables: { OTHER: `${secret}2` }, files: {} });
    expect(
      (await tenant.owner.post(`${at}/rotate`, { ...generic, kind: undefined, expected_revision: 1 })).status,
    ).toBe(409);
    const read = await tenant.owner.get(at);
    expect((await tenant.owner.delete(at)).status).toBe(204);
    expect((await tenant.owner.get(at)).status).toBe(404);
    const records = await api.rows('select * from audit_records where resource_id = ?', [created.body.id]);
    const events = await api.rows('select * from domain_events');
    expect(JSON.stringify([created, renamed, rotated, read, records, events])).not.toContain(secret);
  });

  it('has a name that is unique for its owner', async () => {
    const body = { name: 'Same', ...generic };
    await tenant.owner.make(path, { ...body, team_id: tenant.team });
    const again = await tenant.owner.post(path, { ...body, team_id: tenant.team });
    expect(again).toMatchObject({ status: 409, headers: { 'x-error-code': 'name_taken' } });
    await tenant.owner.make(path, { ...body, project_id: tenant.project });
    await tenant.owner.make(path, { ...body, organization_id: tenant.organization });
    await root.make(path, body);
    expect((await root.post(path, body)).status).toBe(409);
  });

  it('requires new credentials if a change of its config leads to another address', async () => {
    const config = { url: 'https://localhost/acme/' };
    const { id } = await add({ team_id: tenant.team }, tenant.owner, {
      kind: 'git',
      config,
      credentials: { token: secret },
    });
    const elsewhere = { url: 'https://localhost:8443/' };
    const moved = await tenant.owner.patch(`${path}/${id}`, { config: elsewhere });
    expect(moved).toMatchObject({ status: 400, body: { error: expect.stringContaining('needs the credentials too') } });
    const both = await tenant.owner.patch(`${path}/${id}`, { config: elsewhere, credentials: { token: 'another' } });
    expect(both.body).toMatchObject({ credential_revision: 2, config: elsewhere });
  });

  it.each([
    ['generic', {}, {}, 'expected at least one of variables and files'],
    ['generic', {}, { variables: { PATH: secret } }, 'PATH is reserved'],
    ['generic', {}, { variables: { A: secret }, files: { A: secret } }, 'not of both'],
    ['generic', { host: 'x' }, { variables: { A: secret } }, 'config'],
    [
      'git',
      { url: 'https://localhost/' },
      { private_key: '-----BEGIN PRIVATE KEY-----', known_hosts: 'x' },
      'unknown field "credentials.private_key"',
    ],
    [
      'git',
      { url: `https://git:${secret}@localhost/` },
      { token: secret },
      'config.url": expected where repositories begin',
    ],
    ['git', { url: 'ssh://git@localhost/' }, { token: secret }, 'field "credentials.private_key" is required'],
    [
      'registry',
      { host: 'https://registry.example.com' },
      { token: secret },
      'config.host": expected the name of a host',
    ],
    ['kubernetes', { server: 'http://localhost' }, { token: secret }, 'config.server": expected the https:// URL'],
    ['cloud', { provider: 'aws' }, { access_key_id: secret }, 'field "credentials.secret_access_key" is required'],
    ['cloud', { provider: 'aws' }, { client_secret: secret }, 'unknown field "credentials.client_secret"'],
    ['cloud', { provider: 'aws', region: 'EU West' }, {}, 'config.region": expected a region such as'],
    [
      'cloud',
      { provider: 'other', workload_identity: { audience: 'x' } },
      { client_secret: secret },
      'no credentials are kept',
    ],
    ['cloud', { provider: 'google' }, { service_account_key: `{"secret": "${secret}"}` }, 'credentials'],
    ['registry', { host: 'registry.example.com' }, { token: `${secret}\n` }, 'credentials.token": expected printable'],
  ])(
    'a connection of the kind %s with the config %j and wrong settings is refused without repeating them',
    async (kind, config, credentials, message) => {
      const body = { name: 'Wrong', kind, config, credentials, team_id: tenant.team };
      const { status, text, body: answer } = await tenant.owner.post(path, body);
      expect([status, answer.error]).toEqual([400, expect.stringContaining(message)]);
      expect(text).not.toContain(secret);
    },
  );

  it('is refused if the service would send its credentials to a private address', async () => {
    const config = { server: 'https://169.254.169.254' };
    const body = { name: 'Inside', kind: 'kubernetes', config, credentials: { token: secret }, team_id: tenant.team };
    const answer = await tenant.owner.post(path, body);
    expect(answer).toMatchObject({ status: 422, headers: { 'x-error-code': 'address_refused' } });
  });
});

describe('a connection that is changed twice at once', () => {
  it('gets both a new name and new credentials if no request has a revision', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await add({ team_id: tenant.team });
      const answers = await Promise.all([
        tenant.owner.patch(`${path}/${id}`, { name: `Renamed ${id}` }),
        tenant.owner.post(`${path}/${id}/rotate`, { credentials: generic.credentials }),
        tenant.owner.post(`${path}/${id}/rotate`, { credentials: generic.credentials }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const { body } = await tenant.owner.get(`${path}/${id}`);
      expect(body).toMatchObject({ name: `Renamed ${id}`, revision: 4, credential_revision: 3 });
    }
  });

  it('never combines credentials with a config that they were not sent for', async () => {
    const aws = (region: string, key: string) => ({
      config: { provider: 'aws', region },
      credentials: { access_key_id: 'AKIA', secret_access_key: key },
    });
    for (let round = 0; round < 5; round++) {
      const first = { kind: 'cloud', ...aws('eu-west-1', 'first') };
      const { id } = await add({ team_id: tenant.team, ...first });
      // Both have read the first config before either changes it.
      const em = api.services.orm.em.fork();
      await em.begin();
      await em.execute('select from connections where id = ? for update', [id]);
      const both = Promise.all([
        tenant.owner.patch(`${path}/${id}`, aws('us-east-1', 'second')),
        tenant.owner.post(`${path}/${id}/rotate`, { credentials: aws('', 'rotated').credentials }),
      ]);
      await awaitLockWaits(api.services.orm, 2);
      await em.commit();
      const [moved, rotated] = await both;
      expect(moved.status, moved.text).toBe(200);
      expect([200, 409]).toContain(rotated.status);
      expect(await use(id)).toMatchObject({ secret_access_key: 'second' });
    }
  });
});

describe('reads of connections decrypt nothing', () => {
  const damage: Record<string, (id: string) => Promise<unknown>> = {
    'corrupt credentials': (id) =>
      api.rows(`update connections set sealed_credentials = '\\x00' where id = ? returning id`, [id]),
    'a corrupt key': (id) =>
      api.rows(`update connections set sealed_key = sealed_key || '\\x00' where id = ? returning id`, [id]),
    'seals of another row': async (id) => {
      const other = await add({ team_id: tenant.team });
      await api.rows(
        `update connections c set sealed_key = o.sealed_key, sealed_credentials = o.sealed_credentials from connections o
          where c.id = ? and o.id = ? returning c.id`,
        [id, other.id],
      );
    },
    'a wrong key ring': async () => {
      Object.assign(api.services, { keyRing: new KeyRing([{ id: 'test', key: Buffer.alloc(32, 1) }]) });
    },
    'a key ring without the key': async () => {
      Object.assign(api.services, { keyRing: new KeyRing([{ id: 'other', key: Buffer.alloc(32, 7) }]) });
    },
  };

  it.each(Object.keys(damage))(
    'connections with %s are listed and read, and their use fails with a message',
    async (name) => {
      const { keyRing } = api.services;
      const { id } = await add({ team_id: tenant.team });
      try {
        await damage[name]!(id);
        const { status, body } = await tenant.owner.get(`${path}?team_id=${tenant.team}`);
        expect([status, body.connections.map((each: { id: string }) => each.id)]).toEqual([
          200,
          expect.arrayContaining([id]),
        ]);
        expect((await tenant.owner.get(`${path}/${id}`)).status).toBe(200);
        await expect(use(id)).rejects.toMatchObject({ kind: 'conflict', code: 'credentials_unavailable' });
      } finally {
        Object.assign(api.services, { keyRing });
      }
      const mended = await tenant.owner.post(`${path}/${id}/rotate`, { credentials: generic.credentials });
      expect(mended.status, mended.text).toBe(200);
      expect(await use(id)).toEqual(generic.credentials);
    },
  );
});

describe('the list of connections', () => {
  it('is not paginated, and has the connections that the caller may read of the owners in the filter', async () => {
    const place = await makeTenant(api);
    const { owner, organization, team, project } = place;
    const ids = {
      installation: (await add({}, root)).id,
      organization: (await add({ organization_id: organization }, owner)).id,
      team: (await add({ team_id: team }, owner)).id,
      project: (await add({ project_id: project }, owner)).id,
    };
    const member = await api.addUser('maintainer');
    await join(place, member, 'member');
    const listed = async (user: ApiUser, query = '') => {
      const { status, body } = await user.get(path + query);
      const all = Object.entries(ids).filter(([, id]) =>
        body.connections?.some((each: { id: string }) => each.id === id),
      );
      return [status, ...all.map(([name]) => name)];
    };
    expect(await listed(owner)).toEqual([200, 'installation', 'organization', 'team', 'project']);
    expect(await listed(member)).toEqual([200, 'installation', 'organization']);
    expect(await listed(stranger.owner)).toEqual([200, 'installation']);
    expect(await listed(owner, `?project_id=${project}`)).toEqual([200, 'project']);
    expect(await listed(owner, `?team_id=${team}`)).toEqual([200, 'team', 'project']);
    expect(await listed(owner, `?organization_id=${organization}`)).toEqual([200, 'organization', 'team', 'project']);
    expect(await listed(stranger.owner, `?project_id=${project}`)).toEqual([404]);
    expect((await (await api.addUser('requester')).get(path)).status).toBe(403);
    const emptyProject = await stranger.owner.get(`${path}?project_id=${stranger.project}`);
    expect(emptyProject.body).toEqual({ connections: [] });
  });

  it.each([
    ['a connection cannot be read', 'connections', 'provides'],
    ['the authority of the caller cannot be evaluated', 'teams', 'organization_id'],
  ])(
    'answers 500, without any of the connections and without details of the failure, if %s',
    async (_, table, column) => {
      const { id } = await add({ team_id: tenant.team });
      const list = () => tenant.owner.get(path);
      await api.rows(`alter table ${table} rename column ${column} to elsewhere`);
      const failed = await list();
      await api.rows(`alter table ${table} rename column elsewhere to ${column}`);
      expect(failed).toMatchObject({ status: 500, body: { error: 'internal error' } });
      expect(Object.keys(failed.body)).toEqual(['error']);
      expect((await list()).body.connections.map((each: { id: string }) => each.id)).toContain(id);
    },
  );

  it('answers 500 if one of its connections is of an unknown kind', async () => {
    const { id } = await add({ team_id: tenant.team });
    await api.rows(`update connections set kind = 'vanished' where id = ?`, [id]);
    const failed = await tenant.owner.get(path);
    await api.rows(`update connections set kind = 'generic' where id = ?`, [id]);
    expect(failed.status).toBe(500);
    expect(failed.body).not.toHaveProperty('connections');
  });
});

describe('the authority to change a connection', () => {
  it.each([
    ['a connection of the installation may be changed by its administrators only', () => ({}), () => root, 403],
    [
      'a connection of an organization may be changed by its admins, and is hidden from strangers',
      () => ({ organization_id: tenant.organization }),
      () => tenant.owner,
      404,
    ],
    [
      'a connection of a team may be changed by those who may change the team, and is hidden from strangers',
      () => ({ team_id: tenant.team }),
      () => tenant.owner,
      404,
    ],
  ])('%s', async (_, ownerOf, whoMay, status) => {
    const { id } = await add(ownerOf(), whoMay());
    const tries = [
      stranger.owner.patch(`${path}/${id}`, { name: `Mine ${id}` }),
      stranger.owner.post(`${path}/${id}/rotate`, { credentials: generic.credentials }),
      stranger.owner.delete(`${path}/${id}`),
      stranger.owner.post(path, { name: 'Mine', ...generic, ...ownerOf() }),
    ];
    expect((await Promise.all(tries)).map((answer) => answer.status)).toEqual([status, status, status, status]);
    expect((await whoMay().patch(`${path}/${id}`, { name: `Ours ${id}` })).status).toBe(200);
  });

  it('a plain member of the organization may read its connection, and not change it', async () => {
    const { id } = await add({ organization_id: tenant.organization });
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member');
    expect((await member.get(`${path}/${id}`)).status).toBe(200);
    expect((await member.delete(`${path}/${id}`)).status).toBe(403);
  });
});
