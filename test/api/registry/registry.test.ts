import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf } from '#api/document/errors.ts';
import { check as checkOperation } from '#api/registry/version-operations.ts';
import { Template, TemplateVersion } from '#domain/registry/entity.ts';
import type { PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import type { Answer } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { makeGitRoot, Repository } from '#test/support/programs/git.ts';

const git = makeGitRoot();
type Client = (method: string, path: string, body?: unknown) => Promise<Answer>;

let api: TestApi;
let administrator: Client;
let requester: Client;
let made = 0;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: `file://${git.path}` });
  administrator = await addClient('admin');
  requester = await addClient('requester');
});

afterAll(async () => {
  await api?.close();
  git.remove();
});

/** A user's requests for paths of the registry. They ask for errors as problems, which list each thing that is wrong. */
async function addClient(role: PlatformRole, teams: Record<string, TeamRole> = {}): Promise<Client> {
  const { caller } = await addPerson(api, role, { teams });
  const headers = { accept: 'application/problem+json, application/json;q=0.5' };
  return async (method, path, body) => {
    const answer = await caller.send(method, `/registry${path}`, body, headers);
    const read = answer.text && JSON.parse(answer.text);
    return { ...answer, body: read.detail === undefined ? read : { ...read, error: read.detail } };
  };
}

const main = 'variable "size" {}\nvariable "region" {}\nvariable "token" {}\nresource "terraform_data" "x" {}\n';
const files = { 'main.tf': main };
const variables = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 1, default: 3 },
    region: { enum: ['eu', 'us'] },
    token: { type: 'string', writeOnly: true, minLength: 3 },
  },
  required: ['region'],
};
const spec = { variables, executor: { kind: 'opentofu', files } };

async function makeTemplate(client = administrator, more: object = {}): Promise<{ id: string; path: string }> {
  const { status, body } = await client('POST', '/templates', { name: `Network ${made++}`, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: body.id, path: `/templates/${body.id}` };
}

async function publish(path: string, version: string, more: object = {}, client = administrator) {
  return client('POST', `${path}/versions`, { version, spec: { ...spec, ...more } });
}

describe('a template', () => {
  it('is created with a slug of its name, read, changed, archived and unarchived', async () => {
    const created = await administrator('POST', '/templates', { name: 'Core Netzwerk Übersee', tags: ['aws'] });
    expect(created).toMatchObject({
      status: 201,
      body: { slug: 'core-netzwerk-ubersee', team_id: null, tags: ['aws'], revision: 1, latest_version: null },
    });
    const path = `/templates/${created.body.id}`;
    expect(created.headers.get('location')).toBe(`/api/v1/registry${path}`);
    expect((await administrator('GET', path)).body).toEqual(created.body);

    const changed = await administrator('PATCH', path, { description: 'All of it', expected_revision: 1 });
    expect(changed).toMatchObject({ status: 200, body: { description: 'All of it', revision: 2, tags: ['aws'] } });
    expect((await administrator('PATCH', path, { description: 'All of it' })).body.revision).toBe(2);
    const stale = await administrator('PATCH', path, { description: 'x', expected_revision: 1 });
    expect(stale).toMatchObject({ status: 409, body: { error: expect.stringMatching(/expected_revision/) } });

    const archived = await administrator('POST', `${path}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { revision: 3, archived_at: expect.any(String) } });
    expect((await administrator('POST', `${path}/archive`)).body).toEqual(archived.body);
    expect((await administrator('PATCH', path, { description: 'x' })).status).toBe(409);
    expect((await publish(path, '1.0.0')).body.error).toMatch(/archived/);
    expect((await administrator('POST', `${path}/unarchive`)).body).toMatchObject({ archived_at: null, revision: 4 });
    expect((await publish(path, '1.0.0')).status).toBe(201);
  });

  it('has a unique slug, which one of two concurrent requests gets while the other answers 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => administrator('POST', '/templates', { name: 'Race', slug: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.error).toMatch(/the slug "race" is another template's/);
    const { teamId } = await addTeam(api.orm);
    const member = await addClient('maintainer', { [teamId]: 'admin' });
    expect((await member('POST', '/templates', { name: 'Race', slug: 'race', team_id: teamId })).status).toBe(201);
    const other = await makeTemplate();
    expect((await administrator('PATCH', other.path, { slug: 'race' })).status).toBe(409);
    expect((await administrator('POST', '/templates', { name: '日本' })).body.error).toMatch(/^slug: none can be made/);
  });

  it('is listed to its readers, page by page and by filter', async () => {
    const { teamId } = await addTeam(api.orm);
    const admin = await addClient('maintainer', { [teamId]: 'admin' });
    const viewer = await addClient('requester', { [teamId]: 'viewer' });
    const paths = [];
    for (const tag of ['a', 'b', 'a'])
      paths.push(await makeTemplate(admin, { team_id: teamId, tags: [tag, 'listed'] }));
    const list = async (client: Client, query: string) => {
      const { status, body } = await client('GET', `/templates?team_id=${teamId}&${query}`);
      expect(status).toBe(200);
      return { ids: body.templates.map(({ id }: { id: string }) => id), cursor: body.next_cursor };
    };
    const newest = paths.map(({ id }) => id).reverse();
    expect((await list(viewer, '')).ids).toEqual(newest);
    expect((await requester('GET', `/templates?team_id=${teamId}`)).status).toBe(404);
    expect((await list(viewer, 'tag=a')).ids).toEqual([newest[0], newest[2]]);
    const first = await list(viewer, 'limit=2');
    expect(first.ids).toEqual(newest.slice(0, 2));
    expect(await list(viewer, `limit=2&cursor=${first.cursor}`)).toEqual({ ids: newest.slice(2), cursor: null });
    await admin('POST', `${paths[0]?.path}/archive`);
    expect((await list(viewer, '')).ids).toHaveLength(2);
    expect((await list(viewer, 'archived=true')).ids).toEqual([paths[0]?.id]);
    expect((await list(viewer, `q=${encodeURIComponent("x%' or 1=1")}`)).ids).toEqual([]);
    expect((await viewer('GET', '/templates?owner=me')).status).toBe(400);
  });

  it('is visible only to the members of its team, and only admins of the team may change it', async () => {
    const { teamId, organizationId } = await addTeam(api.orm);
    const maintainer = await addClient('maintainer');
    const admin = await addClient('maintainer', { [teamId]: 'admin' });
    const viewer = await addClient('maintainer', { [teamId]: 'viewer' });
    const { path } = await makeTemplate(admin, { team_id: teamId });
    expect((await viewer('GET', path)).status).toBe(200);
    expect((await viewer('PATCH', path, { description: 'x' })).status).toBe(403);
    expect((await publish(path, '1.0.0', {}, viewer)).status).toBe(403);
    for (const stranger of [maintainer, requester]) expect((await stranger('GET', path)).status).toBe(404);
    expect((await maintainer('PATCH', path, { description: 'x' })).status).toBe(404);
    expect((await publish(path, '1.0.0', {}, maintainer)).status).toBe(404);
    expect((await maintainer('POST', '/templates', { name: 'X', team_id: teamId })).status).toBe(404);
    expect((await requester('POST', '/templates', { name: 'X' })).status).toBe(403);
    expect((await maintainer('GET', `/templates/${organizationId}`)).status).toBe(404);

    const em = api.orm.em.fork();
    await em.execute(`update teams set archived_at = now() where id = ?`, [teamId]);
    const refused = await publish(path, '1.0.0', {}, admin);
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringMatching(/the team is archived/) } });
    expect((await admin('POST', '/templates', { name: 'X', team_id: teamId })).status).toBe(409);
  });

  it('accepts no change and stays archived while its team or organization is archived', async () => {
    const { teamId, organizationId } = await addTeam(api.orm);
    const member = await addClient('maintainer', { [teamId]: 'admin' });
    const made = await member('POST', '/templates', { name: 'Kept', team_id: teamId });
    const path = `/templates/${made.body.id}`;
    expect((await member('POST', `${path}/archive`)).status).toBe(200);
    const em = api.orm.em.fork();
    for (const [level, id] of [
      ['team', teamId],
      ['organization', organizationId],
    ] as const) {
      await em.execute(`update ${level}s set archived_at = now() where id = ?`, [id]);
      for (const answer of [await member('PATCH', path, { name: 'New' }), await member('POST', `${path}/unarchive`)])
        expect(answer).toMatchObject({ status: 409, body: { error: `the ${level} is archived: unarchive it first` } });
    }
    await em.execute(`update teams set archived_at = null where id = ?`, [teamId]);
    await em.execute(`update organizations set archived_at = null where id = ?`, [organizationId]);
    const own = await member('PATCH', path, { name: 'New' });
    expect(own).toMatchObject({ status: 409, body: { error: 'the template is archived: unarchive it first' } });
    expect((await member('POST', `${path}/unarchive`)).status).toBe(200);
    expect((await member('PATCH', path, { name: 'New' })).status).toBe(200);
  });
});

describe('a version', () => {
  it('is published with its spec and read by exact name, range and latest', async () => {
    const { id, path } = await makeTemplate();
    const published = await administrator('POST', `${path}/versions`, { version: '1.2.0', spec, changelog: 'First.' });
    expect(published).toMatchObject({
      status: 201,
      body: {
        template_id: id,
        version: '1.2.0',
        executor: 'opentofu',
        changelog: 'First.',
        commit: null,
        files: ['main.tf'],
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        spec: { ...spec, outputs: {}, retry_safe: false },
        yanked_at: null,
      },
    });
    expect(published.headers.get('location')).toBe(`/api/v1/registry${path}/versions/1.2.0`);
    await publish(path, '1.10.0');
    await publish(path, '2.0.0-rc.1');
    for (const [wanted, version] of [
      ['1.2.0', '1.2.0'],
      ['^1.2', '1.10.0'],
      ['latest', '1.10.0'],
      ['>=1 <1.10', '1.2.0'],
      ['2.0.0-rc.1', '2.0.0-rc.1'],
    ] as const) {
      const { body } = await requester('GET', `${path}/versions/${encodeURIComponent(wanted)}`);
      expect(body.version, wanted).toBe(version);
    }
    expect((await requester('GET', path)).body.latest_version).toBe('1.10.0');
    const { body } = await requester('GET', `${path}/versions?limit=2`);
    expect(body.versions.map(({ version }: { version: string }) => version)).toEqual(['2.0.0-rc.1', '1.10.0']);
    expect(body.versions[0].spec).toBeUndefined();
    expect(body.next_cursor).toEqual(expect.any(String));
  });

  it('answers 404 with the available versions if it does not exist', async () => {
    const { path } = await makeTemplate();
    expect(await requester('GET', `${path}/versions/latest`)).toMatchObject({
      status: 404,
      body: { error: 'the template has no published version' },
    });
    await publish(path, '1.0.0');
    expect((await requester('GET', `${path}/versions/9.0.0`)).body.error).toMatch(
      /no version 9\.0\.0; available: 1\.0\.0/,
    );
    expect((await requester('GET', `${path}/versions/%5E9`)).status).toBe(404);
    expect((await requester('GET', `${path}/versions/nonsense`)).status).toBe(404);
    expect((await administrator('POST', `${path}/versions/9.0.0/yank`)).status).toBe(404);
  });

  it('never changes, as the same content again answers 200 and other content 409', async () => {
    const { path } = await makeTemplate();
    const first = await publish(path, '1.0.0');
    const again = await publish(path, '1.0.0');
    expect(again).toMatchObject({ status: 200, body: first.body });
    const reordered = { executor: { files, kind: 'opentofu' }, variables: { ...variables, type: 'object' } };
    expect((await administrator('POST', `${path}/versions`, { spec: reordered, version: '1.0.0' })).status).toBe(200);
    const other = await publish(path, '1.0.0', { pool: 'gpu' });
    expect(other).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/never changes: publish a higher version/) },
    });
    // A requester may do less with it.
    const { actions: _actions, ...content } = first.body;
    expect((await requester('GET', `${path}/versions/1.0.0`)).body).toMatchObject(content);
  });

  it('is created by one of several concurrent requests', async () => {
    const { id, path } = await makeTemplate();
    const same = await Promise.all(Array.from({ length: 6 }, () => publish(path, '1.0.0')));
    expect(same.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    const different = await Promise.all(
      Array.from({ length: 6 }, (_, index) => publish(path, '2.0.0', { pool: `pool-${index}` })),
    );
    expect(different.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const em = api.orm.em.fork();
    expect(await em.count(TemplateVersion, { templateId: id })).toBe(2);
  });

  it('is never published into a template that is archived concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, path } = await makeTemplate();
      const [published, archived] = await Promise.all([
        publish(path, '1.0.0'),
        administrator('POST', `${path}/archive`),
      ]);
      expect(archived.status).toBe(200);
      expect([201, 409]).toContain(published.status);
      const em = api.orm.em.fork();
      const template = await em.findOneOrFail(Template, { id });
      const version = await em.findOne(TemplateVersion, { templateId: id });
      expect(version !== null).toBe(published.status === 201);
      if (version) expect(version.createdAt.getTime()).toBeLessThanOrEqual(template.archivedAt?.getTime() ?? 0);
    }
  });

  it('is found only by its exact name after a yank', async () => {
    const { path } = await makeTemplate();
    await publish(path, '1.0.0');
    await publish(path, '1.1.0');
    const yanked = await administrator('POST', `${path}/versions/1.1.0/yank`);
    expect(yanked).toMatchObject({ status: 200, body: { version: '1.1.0', yanked_at: expect.any(String) } });
    expect((await administrator('POST', `${path}/versions/1.1.0/yank`)).body).toEqual(yanked.body);
    expect((await requester('GET', `${path}/versions/latest`)).body.version).toBe('1.0.0');
    expect((await requester('GET', path)).body.latest_version).toBe('1.0.0');
    expect((await requester('GET', `${path}/versions/1.1.0`)).body.yanked_at).toEqual(expect.any(String));
    expect((await requester('POST', `${path}/versions/1.1.0/yank`)).status).toBe(403);
    expect((await publish(path, '1.1.0')).status).toBe(200);
    expect((await requester('GET', `${path}/versions/1.1.0`)).body.yanked_at).toEqual(expect.any(String));
  });

  it('is refused with every problem of its spec and its path', async () => {
    const { path } = await makeTemplate();
    const { status, body } = await administrator('POST', `${path}/versions`, {
      version: 'v1',
      spec: {
        executor: { kind: 'command', apply: [{ name: 'a', run: [] }], files: { '../x': '' } },
        unknown: 1,
      },
    });
    expect(status).toBe(400);
    const found = body.errors.map(({ path: at }: { path: string }) => at);
    expect(new Set(found)).toEqual(
      new Set(['version', 'spec.executor.apply[0].run', 'spec.executor.files["../x"]', 'spec.unknown']),
    );
  });

  it('is refused with every problem of its schema of variables', async () => {
    const { path } = await makeTemplate();
    const { status, body } = await publish(path, '1.0.0', {
      variables: { type: 'object', properties: { token: { type: 'string', pattern: '(?=x)' }, size: { type: 'int' } } },
    });
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_request');
    expect(body.errors.map(({ path: at }: { path: string }) => at)).toContain('spec.variables.properties.size.type');
    const { body: second } = await publish(path, '1.0.0', {
      variables: { type: 'object', properties: { token: { type: 'string', pattern: '(?=x)' } } },
    });
    expect(second.errors).toEqual([
      expect.objectContaining({
        in: 'body',
        path: 'spec.variables.properties.token.pattern',
        message: expect.stringMatching(
          /^field "spec\.variables\.properties\.token\.pattern" must be a regular expression/,
        ),
      }),
    ]);
  });

  it('leaves an audit record of each change and of each refusal', async () => {
    const { id, path } = await makeTemplate();
    await publish(path, '1.0.0');
    await publish(path, '1.0.0', {}, requester);
    const em = api.orm.em.fork();
    const rows = await em.execute<{ action: string; outcome: string }[]>(
      `select action, outcome from audit_records
        where resource_id = ? or after ->> 'template_id' = ? or after -> 'path_parameters' ->> 'id' = ? order by id`,
      [id, id, id],
    );
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'template.created committed',
      'template_version.published committed',
      'template_version.published refused',
    ]);
  });
});

describe('a version from git', () => {
  it('keeps the commit and the files of its branch at publication', async () => {
    const repository = new Repository(join(git.path, 'network'));
    const live = `${main}module "m" { source = "../modules/m" }`;
    const commit = repository.commit({
      'live/main.tf': live,
      'modules/m/main.tf': '# m',
      'README.md': '# not part of it',
    });
    const { id, path } = await makeTemplate();
    const source = { url: repository.url, ref: 'main', path: 'live' };
    const executor = { kind: 'opentofu', git: source };
    const published = await publish(path, '1.0.0', { executor });
    expect(published).toMatchObject({
      status: 201,
      body: { commit, files: ['live/main.tf', 'modules/m/main.tf'], spec: { executor } },
    });
    expect((await publish(path, '1.0.0', { executor })).status).toBe(200);
    repository.commit({ 'live/main.tf': '# moved on' });
    const moved = await publish(path, '1.0.0', { executor });
    expect(moved).toMatchObject({ status: 409, body: { error: expect.stringMatching(/other content/) } });
    const em = api.orm.em.fork();
    const row = await em.findOneOrFail(TemplateVersion, { templateId: id }, { populate: ['files'] });
    expect(row.files).toEqual({
      'live/main.tf': live,
      'modules/m/main.tf': '# m',
    });
  });

  it('is refused with the wrong part of its source', async () => {
    const repository = new Repository(join(git.path, 'empty'));
    repository.commit({ 'docs/a.md': '# a' });
    const { path } = await makeTemplate();
    const attempt = async (source: object) => {
      const { status, body } = await publish(path, '1.0.0', { executor: { kind: 'opentofu', git: source } });
      return `${status} ${body.error}`;
    };
    const { url } = repository;
    expect(await attempt({ url, ref: 'nope' })).toBe(
      '422 spec.executor.git.ref: the repository has no branch or tag "nope"',
    );
    expect(await attempt({ url, ref: 'main', path: 'docs' })).toMatch(/^422 spec\.executor\.git\.path: .*"main\.tf"/);
    expect(await attempt({ url: 'https://169.254.169.254/x', ref: 'main' })).toMatch(
      /^422 .*not on the public network/,
    );
    expect(await attempt({ url: 'file:///etc', ref: 'main' })).toMatch(/^422 .*for development/);
    expect(await attempt({ url, ref: 'main', connection: 'github' })).toMatch(/^422 .*there is no connection "github"/);
    expect(await attempt({ url: 'ext::sh', ref: 'main' })).toMatch(/^400 /);
    expect(await attempt({ url, ref: '--upload-pack=x' })).toMatch(/^400 /);
  });

  it('is not fetched for a caller who may not publish', async () => {
    const { path } = await makeTemplate();
    const executor = { kind: 'opentofu', git: { url: 'file:///nowhere', ref: 'main' } };
    expect((await publish(path, '1.0.0', { executor }, requester)).status).toBe(403);
    await administrator('POST', `${path}/archive`);
    expect((await publish(path, '1.0.0', { executor })).status).toBe(409);
  });
});

describe('validating variables', () => {
  let path: string;
  const validate = (given: unknown, version = 'latest', client = requester) =>
    client('POST', `${path}/versions/${version}/validate`, { variables: given });

  beforeAll(async () => {
    path = (await makeTemplate()).path;
    await publish(path, '1.0.0');
  });

  it('returns the variables with defaults filled in and secrets masked', async () => {
    const { status, body } = await validate({ region: 'eu', token: 'hunter2' });
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      errors: [],
      variables: { region: 'eu', token: { sensitive: true }, size: 3 },
    });
  });

  it('returns every error, without secrets', async () => {
    const { status, body } = await validate({ size: 0, token: 12, tokne: 'hunter2' }, '1.0.0');
    expect(status).toBe(200);
    expect(body.valid).toBe(false);
    expect(body.errors).toHaveLength(4);
    expect(body.errors).toEqual(
      expect.arrayContaining([
        { path: '/size', message: 'must be at least 1' },
        { path: '/region', message: 'is required' },
        { path: '/token', message: 'must be a string' },
        { path: '/tokne', message: 'is not a declared variable; did you mean "token"?' },
      ]),
    );
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  it('refuses a body that is not a set of variables', async () => {
    expect((await validate([])).status).toBe(400);
    expect((await validate('x')).status).toBe(400);
    expect((await validate({}, '7.0.0')).status).toBe(404);
    expect((await requester('POST', `${path}/versions/latest/validate`, { vars: {} })).status).toBe(400);
  });
});

describe('running a version', () => {
  it('admits a run of the version in the path, as POST /runs does', async () => {
    const { id, path } = await makeTemplate();
    await publish(path, '1.0.0');
    await publish(path, '1.1.0');
    const admitted = await requester('POST', `${path}/versions/1.0.0/runs`, { variables: { region: 'eu' } });
    expect(admitted, JSON.stringify(admitted.body)).toMatchObject({
      status: 202,
      body: { template_id: id, template_version: '1.0.0', status: 'queued', variables: { region: 'eu', size: 3 } },
    });
    const invalid = await requester('POST', `${path}/versions/%5E1/runs`, { variables: {} });
    expect(invalid).toMatchObject({ status: 422, body: { error: expect.stringMatching(/\/region is required/) } });
    await administrator('POST', `${path}/archive`);
    const refused = await requester('POST', `${path}/versions/1.0.0/runs`, { variables: { region: 'eu' } });
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringMatching(/the template is archived/) } });
  });
});

describe('a check without a publication', () => {
  it('refuses a tool for a command template', async () => {
    const { path } = await makeTemplate();
    const command = { kind: 'command', apply: [{ name: 'say', run: ['true'] }] };
    const refused = await administrator('POST', `${path}/versions/check`, {
      spec: { executor: command, tool: { name: 'terraform' } },
    });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^spec\.tool: is only for/) } });
  });

  it('completes the spec from the files if derive is set, and publication uses their readme', async () => {
    const { path } = await makeTemplate();
    const own = { executor: { kind: 'opentofu', files: { ...files, 'README.md': 'About it' } } };
    const variables = { type: 'object', properties: { size: { type: 'integer' } } };
    const published = await administrator('POST', `${path}/versions`, {
      version: '1.0.0',
      derive: true,
      spec: { ...own, variables },
    });
    expect(published, JSON.stringify(published.body)).toMatchObject({
      status: 201,
      body: {
        spec: { variables: { properties: { size: { type: 'integer' }, region: {}, token: {} } } },
        check: { state: 'not_done' },
      },
    });
    expect((await administrator('GET', path)).body.readme).toBe('About it');
  });

  it('answers 409 for an archived template, as the OpenAPI document declares', async () => {
    const { path } = await makeTemplate();
    expect((await administrator('POST', `${path}/archive`, {})).status).toBe(200);
    expect(await administrator('POST', `${path}/versions/check`, { spec })).toMatchObject({ status: 409 });
    expect(Object.keys(errorsOf(checkOperation))).toContain('409');
  });

  it('returns with a spec proposal the tool for which the files were read, which the request may set', async () => {
    const files = { 'main.tf': 'variable "a" {}\n', 'main.tofu': 'variable "b" {}\n' };
    const preferred = await administrator('POST', '/spec-proposals', { files });
    expect(preferred.body).toMatchObject({ tool: 'opentofu', notes: [{ path: '/tool' }] });
    const named = await administrator('POST', '/spec-proposals', { files, tool: { name: 'terraform' } });
    expect(named.body).toMatchObject({ tool: 'terraform', notes: [] });
    expect(named.body.spec).toMatchObject({ tool: { name: 'terraform' }, variables: { properties: { a: {} } } });
  });

  it('names the field git in the error of a spec proposal', async () => {
    const refused = await administrator('POST', '/spec-proposals', {
      git: { url: `file://${git.path}/none.git`, ref: 'main' },
    });
    expect(refused.body.error).toMatch(/^git[:.]/);
  });
});
