import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { type GitServer, makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';

let api: TestApi;
let tenant: Tenant;
let stranger: Tenant;
let server: GitServer;
let other: GitServer;
let template: string;
let base: string;
const root = makeGitRoot();
const trusted = process.env['GIT_SSL_CAINFO'];
const token = 'secret-of-git-5d1e';
const expected = `Basic ${Buffer.from(`bot:${token}`).toString('base64')}`;

beforeAll(async () => {
  new Repository(join(root.path, 'acme/network.git')).commit({ 'main.tf': 'output "a" { value = 1 }\n' });
  const files = makeCertificate(root.path);
  server = await serveGit(
    root.path,
    ({ headers, url }, response) => {
      if (url?.startsWith('/acme/portal')) {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
        return true;
      }
      if (headers.authorization === expected) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return true;
    },
    files,
  );
  other = await serveGit(root.path, () => false, files);
  process.env['GIT_SSL_CAINFO'] = files.cert;
  base = `https://127.0.0.1:${server.port}`;
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  [tenant, stranger] = [await makeTenant(api), await makeTenant(api)];
  template = (await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team })).id;
});
afterAll(async () => {
  if (trusted === undefined) delete process.env['GIT_SSL_CAINFO'];
  else process.env['GIT_SSL_CAINFO'] = trusted;
  await Promise.all([api?.close(), server?.close(), other?.close()]);
  root.remove();
});

const add = (name: string, owner: object, { by = tenant.owner, credential = token, url = `${base}/acme/` } = {}) =>
  by.make('/admin/connections', {
    name,
    kind: 'git',
    config: { url },
    credentials: { username: 'bot', token: credential },
    ...owner,
  });

let published = 0;
function publish(connection: string | undefined, url = `${base}/acme/network.git/.git`) {
  const spec = { executor: { kind: 'opentofu', git: { url, ref: 'main', connection } } };
  return tenant.owner.post(`/registry/templates/${template}/versions`, { version: `1.0.${++published}`, spec });
}

it('a private repository over HTTPS is published with the token of a connection, which is never shown', async () => {
  expect(await publish(undefined)).toMatchObject({
    status: 422,
    headers: { 'x-error-code': 'source_credential_unfit' },
  });
  await add('host', { organization_id: tenant.organization });
  const answer = await publish('host');
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body.commit).toMatch(/^[0-9a-f]{40}$/);
  const kept = [
    await api.rows('select * from template_versions'),
    await api.rows('select * from audit_records'),
    await api.rows('select * from domain_events'),
  ];
  expect(JSON.stringify([answer, kept])).not.toContain(token);
});

it('a publication uses the connection of the team rather than that of its organization', async () => {
  await add('own', { organization_id: tenant.organization }, { credential: 'wrong' });
  expect(await publish('own')).toMatchObject({ status: 422, headers: { 'x-error-code': 'source_credential_unfit' } });
  await add('own', { team_id: tenant.team });
  expect((await publish('own')).status).toBe(201);
});

it('a publication refuses connections of another tenant, of a project or of another kind as unknown', async () => {
  await add('foreign', { team_id: stranger.team }, { by: stranger.owner });
  await add('foreign', { organization_id: stranger.organization }, { by: stranger.owner });
  await add('project', { project_id: tenant.project });
  const generic = { kind: 'generic', credentials: { variables: { TOKEN: token } } };
  await tenant.owner.make('/admin/connections', { name: 'generic', ...generic, team_id: tenant.team });
  for (const name of ['foreign', 'project', 'generic', 'missing'])
    expect(await publish(name), name).toMatchObject({ status: 422, headers: { 'x-error-code': 'connection_unknown' } });
});

it('a template cannot have the credentials sent to another host', async () => {
  await add('host2', { team_id: tenant.team });
  const elsewhere = `https://127.0.0.1:${other.port}/acme/network.git/.git`;
  expect(await publish('host2', elsewhere)).toMatchObject({
    status: 422,
    headers: { 'x-error-code': 'source_credential_unfit' },
  });
  expect(other.requests).toHaveLength(0);
});

it('no template is published with a connection while connections are turned off', async () => {
  const root = await api.addUser('admin');
  const turn = (connections: object) => root.patch('/admin/settings', { features: { connections } });
  await add('gated', { team_id: tenant.team });
  try {
    expect((await turn({ enabled: false, reason: 'We replace all keys.' })).status).toBe(200);
    const answer = await publish('gated');
    expect(answer).toMatchObject({ status: 403, headers: { 'x-error-code': 'feature_disabled' } });
    expect(answer.text).toContain('We replace all keys.');
    expect((await tenant.owner.get('/admin/connections')).status).toBe(403);
  } finally {
    await turn({ enabled: true });
  }
});

it('credentials that cannot be decrypted make the publication fail with a message', async () => {
  const { id } = await add('broken', { team_id: tenant.team });
  await api.rows(`update connections set sealed_key = '\\x00' where id = ? returning id`, [id]);
  expect(await publish('broken')).toMatchObject({
    status: 409,
    headers: { 'x-error-code': 'credentials_unavailable' },
  });
});

it('the test of a connection reads the refs of a repository with the saved token', async () => {
  const repository = `${base}/acme/network.git/.git`;
  const { id } = await add('tried', { team_id: tenant.team });
  const test = (body: object, of = id) => tenant.owner.post(`/admin/connections/${of}/test`, body);
  const worked = await test({ repository });
  expect(worked, worked.text).toMatchObject({ status: 200, body: { ok: true, problem: null } });
  expect(worked.body.tried).toMatch(/found [1-9]/);
  const wrong = await add('mistyped', { team_id: tenant.team }, { credential: 'not-the-token' });
  const failed = await test({ repository }, wrong.id);
  expect(failed.body).toMatchObject({ ok: false, problem: expect.any(String) });
  expect(failed.text).not.toContain('not-the-token');
  for (const body of [{}, { repository: `${base}/others/network.git` }])
    expect(await test(body)).toMatchObject({ status: 400, body: { error: expect.stringContaining(`${base}/acme/`) } });
});

it('the test of a connection fails for a server without git, and for a repository without branches and tags', async () => {
  new Repository(join(root.path, 'acme/empty.git'));
  const { id } = await add('empty-handed', { team_id: tenant.team });
  const visitor = await signInVisitor(api, tenant.owner);
  for (const name of ['portal', 'empty.git/.git']) {
    const repository = `${base}/acme/${name}`;
    const { body, text } = await tenant.owner.post(`/admin/connections/${id}/test`, { repository });
    expect(body, text).toMatchObject({ ok: false, problem: expect.stringContaining('lists no branch or tag') });
    const page = await visitor.submit(`/admin/connections/${id}/test`, { repository });
    expect(page.text).toContain('Does not work');
    expect(page.text).toContain('The server answered, but lists no branch or tag');
  }
});
