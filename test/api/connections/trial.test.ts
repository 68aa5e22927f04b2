import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findConnection, readSeals } from '#domain/connections/store.ts';
import { tryConnection } from '#domain/connections/trial/trial.ts';
import { newId } from '#domain/shared/ids.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { makeGitRoot } from '#test/support/programs/git.ts';

let api: TestApi;
let tenant: Tenant;
let cluster: Server;
let ca: string;
let base: string;
const root = makeGitRoot();
const token = 'secret-of-cluster-9e2b';
/** A token that the cluster accepts, but that has no rights. */
const powerless = 'secret-without-rights';

beforeAll(async () => {
  const { key, cert } = makeCertificate(root.path);
  ca = readFileSync(cert, 'utf8');
  // A cluster's API as far as the test goes: it knows one token.
  cluster = createServer({ key: readFileSync(key), cert: ca }, ({ url, headers }, response) => {
    const isKnown = headers.authorization === `Bearer ${token}`;
    const isForbidden = headers.authorization === `Bearer ${powerless}`;
    const status = isForbidden || url?.startsWith('/gateway/') ? 403 : isKnown && url === '/api' ? 200 : 401;
    const text = url?.startsWith('/gateway/') ? '<html>Forbidden</html>' : '{"kind":"APIVersions"}';
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => cluster.listen(0, '127.0.0.1', resolve));
  base = `https://127.0.0.1:${(cluster.address() as AddressInfo).port}`;
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  tenant = await makeTenant(api);
});
afterAll(async () => {
  cluster?.close();
  await api?.close();
  root.remove();
});

async function add(kind: string, config: object, credentials: object): Promise<string> {
  const body = { name: `Tried ${newId()}`, kind, config, credentials, team_id: tenant.team };
  return (await tenant.owner.make('/admin/connections', body)).id;
}

const addCluster = (credential = token) => add('kubernetes', { server: base, ca }, { token: credential });
const test = (id: string, user = tenant.owner) => user.post(`/admin/connections/${id}/test`, {});

describe('the test of a connection', () => {
  it('sends the saved token to a cluster, whose own certificate authority it trusts', async () => {
    const worked = await test(await addCluster());
    expect(worked, worked.text).toMatchObject({ status: 200, body: { ok: true, problem: null } });
  });

  it('succeeds with a 403 of the cluster, which knows the token, and fails with a 403 of a gateway before it', async () => {
    expect((await test(await addCluster(powerless))).body).toMatchObject({ ok: true });
    const behind = await add('kubernetes', { server: `${base}/gateway`, ca }, { token });
    expect((await test(behind)).body).toMatchObject({ ok: false, problem: 'it refused the token (403)' });
  });

  it('says that the system refused the token, without showing the token', async () => {
    const { body, text } = await test(await addCluster('mistyped'));
    expect(body).toMatchObject({ ok: false, problem: 'it refused the token (401)' });
    expect(text).not.toContain('mistyped');
    const records = await api.rows(`select after from audit_records where action = 'connection.tested'`);
    expect(JSON.stringify(records)).toContain('it refused the token (401)');
    expect(JSON.stringify(records)).not.toMatch(/mistyped|secret-of-cluster/);
  });

  it('says that a host cannot be reached', async () => {
    const id = await add('kubernetes', { server: 'https://127.0.0.1:1', ca }, { token });
    expect((await test(id)).body).toMatchObject({ ok: false, problem: expect.any(String) });
  });

  it('fails if the credentials cannot be decrypted', async () => {
    const id = await addCluster();
    await api.rows(`update connections set sealed_credentials = '\\x00' where id = ?`, [id]);
    const { body } = await test(id);
    expect(body).toMatchObject({ ok: false, problem: expect.stringContaining('cannot be opened') });
  });

  it('says what it cannot try', async () => {
    const generic = await test(await add('generic', {}, { variables: { TOKEN: 'x' } }));
    expect(generic.body).toMatchObject({ ok: true, tried: expect.stringContaining('tried nothing else') });
    const aws = { access_key_id: 'AKIAEXAMPLE00000000', secret_access_key: 'x'.repeat(40) };
    const cloud = await test(await add('cloud', { provider: 'aws' }, aws));
    expect(cloud.body).toMatchObject({ ok: true, tried: expect.stringContaining('only a run can try') });
    const role = { role_arn: 'arn:aws:iam::123456789012:role/deploy' };
    const stage = await add('cloud', { provider: 'aws' }, aws);
    await api.rows(`update connections set config = ? where id = ?`, [
      JSON.stringify({ provider: 'aws', workload_identity: { ...role, audience: 'sts.amazonaws.com' } }),
      stage,
    ]);
    expect((await test(stage)).body).toMatchObject({
      ok: false,
      problem: expect.stringContaining('COORDINATOR_ISSUER'),
    });
  });

  it('requires the right to test connections and to read the owner', async () => {
    const id = await addCluster();
    const requester = await api.addUser('requester');
    await join(tenant, requester, 'member', 'admin');
    expect((await test(id, requester)).status).toBe(403);
    expect((await test(id, (await makeTenant(api)).owner)).status).toBe(404);
  });

  it('requests only the services of a registry, with the token', async () => {
    const sent: unknown[] = [];
    const em = api.services.orm.em.fork();
    const id = await addCluster();
    await api.rows(
      `update connections set kind = 'registry', config = '{"host": "registry.example.com"}' where id = ?`,
      [id],
    );
    const [target, seals] = [await findConnection(em, id), await readSeals(em, id)];
    const answer = (status: number, text: string) => ({ status, headers: {}, body: Buffer.from(text), isCut: false });
    const http = (given: ReturnType<typeof answer>) => ({
      send: async (request: unknown) => {
        sent.push(request);
        return given;
      },
    });
    const { keyRing, config } = api.services;
    const deps = { keyRing, policy: config.outbound, issuer: null };
    const connection = { ...target!.connection, ...seals! };
    const tried = (status: number, text: string) =>
      tryConnection({ ...deps, http: http(answer(status, text)) }, connection);
    expect(await tried(200, '{"modules.v1": "/v1/modules/"}')).toMatchObject({ ok: true });
    expect(await tried(200, '<html>')).toMatchObject({ ok: false, problem: expect.stringContaining('200') });
    expect(await tried(500, '{}')).toMatchObject({ ok: false, problem: expect.stringContaining('500') });
    expect(await tried(403, '{}')).toMatchObject({ ok: false, problem: 'it refused the token (403)' });
    expect(sent[0]).toMatchObject({
      url: 'https://registry.example.com/.well-known/terraform.json',
      headers: { authorization: `Bearer ${token}` },
    });
    const other = new KeyRing([{ id: 'other', key: Buffer.alloc(32, 9) }]);
    const locked = await tryConnection({ ...deps, keyRing: other, http: http(answer(200, '{}')) }, connection);
    expect(locked).toMatchObject({ ok: false, tried: 'the credentials were to be opened' });
  });

  it('refuses a repository for a connection that is not one with git', async () => {
    const tenant = await makeTenant(api);
    const credentials = { variables: { TOKEN: 'secret' } };
    const wanted = { name: 'Any', kind: 'generic', credentials, team_id: tenant.team };
    const { id } = await tenant.owner.make('/admin/connections', wanted);
    const answer = await tenant.owner.post(`/admin/connections/${id}/test`, {
      repository: 'https://git.example.com/a',
    });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^repository: .*generic/) } });
  });

  it('is refused to viewers of the team', async () => {
    const tenant = await makeTenant(api);
    const credentials = { variables: { TOKEN: 'secret' } };
    const wanted = { name: 'Any', kind: 'generic', credentials, team_id: tenant.team };
    const { id } = await tenant.owner.make('/admin/connections', wanted);
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await viewer.get(`/admin/connections/${id}`)).status).toBe(200);
    expect((await viewer.post(`/admin/connections/${id}/test`)).status).toBe(403);
    expect((await tenant.owner.post(`/admin/connections/${id}/test`)).status).toBe(200);
  });
});
