import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { hostileHosts } from '#test/support/outbound/hostile-hosts.ts';

/** The operator of this service allows only public addresses. */
let api: TestApi;
let tenant: Tenant;
let template: string;
/** A server on this machine that must not be reached. */
let inside: Server;
let reached = 0;

beforeAll(async () => {
  inside = createServer((socket) => {
    reached += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(inside, 'listening');
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '' });
  tenant = await makeTenant(api);
  template = (await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team })).id;
});
afterAll(async () => {
  await api?.close();
  inside?.close();
});
beforeEach(() => {
  reached = 0;
});

const port = () => (inside.address() as AddressInfo).port;

/** The response refuses the address, and nothing else. */
function expectRefused({ status, body, text }: ApiAnswer): void {
  expect([400, 422], text).toContain(status);
  expect(body.error).toMatch(
    /not on the public network|could not be resolved|not encrypted|for development|expected (a|the|where).* (URL|begin)|must (be written|not carry)/,
  );
}

/** The settings of each kind of connection that has an address, for a host. */
const settings = {
  kubernetes: (host: string) => ({ config: { server: `https://${host}` }, credentials: { token: 'secret' } }),
  git: (host: string) => ({
    config: { url: `https://${host}/acme/` },
    credentials: { username: 'bot', token: 'secret' },
  }),
} as const;
type Kind = keyof typeof settings;

const save = (kind: Kind, host: string) =>
  tenant.owner.post('/admin/connections', {
    name: `Tried ${newId()}`,
    kind,
    ...settings[kind](host),
    team_id: tenant.team,
  });

/** A connection that was saved with a public address, and leads to another one now. */
async function redirected(kind: Kind, host: string): Promise<string> {
  const saved = await save(kind, '1.1.1.1');
  expect(saved.status, saved.text).toBe(201);
  const { config } = settings[kind](host);
  await api.rows('update connections set config = ? where id = ?', [JSON.stringify(config), saved.body.id]);
  return saved.body.id;
}

describe.each(Object.keys(settings) as Kind[])('a connection of the kind %s', (kind) => {
  it.each(hostileHosts)('is not saved with the host %s', async (host) => {
    expectRefused(await save(kind, host));
  });

  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0177.0.0.1'])(
    'a connection whose name resolves to %s when it is tested is not connected, and the test says why',
    async (host) => {
      const id = await redirected(kind, `${host}:${port()}`);
      const body = kind === 'git' ? { repository: `https://${host}:${port()}/acme/network.git` } : {};
      const tried = await tenant.owner.post(`/admin/connections/${id}/test`, body);
      expect(tried, tried.text).toMatchObject({
        status: 200,
        body: { ok: false, problem: expect.stringContaining('is not on the public network') },
      });
      expect(reached).toBe(0);
    },
  );
});

describe('a version of a template', () => {
  let published = 0;
  const publish = (url: string) => {
    const spec = { executor: { kind: 'opentofu', git: { url, ref: 'main' } } };
    return tenant.owner.post(`/registry/templates/${template}/versions`, { version: `1.0.${++published}`, spec });
  };

  it.each(hostileHosts)('is not published from the host %s', async (host) => {
    for (const scheme of ['https', 'ssh'])
      expectRefused(await publish(`${scheme}://${host}:${port()}/acme/network.git`));
    expect(reached).toBe(0);
  });

  it.each([
    'http://1.1.1.1/acme/network.git',
    'git://1.1.1.1/acme/network.git',
    'ext::sh -c id',
    'git@127.0.0.1:acme/network.git',
    'file:///etc',
    '/etc',
    '--upload-pack=id',
    'https://user:word@1.1.1.1/acme/network.git',
  ])('is not published from %s', async (url) => {
    expectRefused(await publish(url));
  });
});
