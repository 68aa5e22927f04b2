import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { requirePace } from '#api/edge/limits/steady-body.ts';
import { UploadLimit } from '#api/edge/limits/upload-limit.ts';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** Requests that occupy one of the few places for large bodies, and for how long. */
let api: TestApi;
let tenant: Tenant;
let instance: string;
let port: number;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const template = await tenant.owner.make('/registry/templates', { name: 'Net', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const place = { environment_id: tenant.environment, template_id: template.id };
  instance = (await tenant.owner.make('/instances', { ...place, name: 'adopted' })).id;
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => api?.close());

/** Announces a large body, and sends the first byte of it. */
function begin(user: ApiUser, id = instance) {
  const socket = connect(port, '127.0.0.1');
  const head = { host: `127.0.0.1:${port}`, ...user.credential, 'content-type': 'application/json' };
  const lines = Object.entries({ ...head, 'content-length': '1000000' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`POST /api/v1/instances/${id}/state HTTP/1.1\r\n${lines.join('')}\r\n{`);
  let text = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    text += data;
  });
  socket.on('error', () => {});
  return {
    status: () => Number(text.split(' ')[1] ?? 0),
    text: () => text,
    end: () => socket.destroy(),
    isClosed: () => socket.closed,
  };
}

const isTaken = async (user: ApiUser) => (await user.post(`/instances/${instance}/state`, {})).status === 429;

describe('the places for imports', () => {
  it.each([
    ['an instance of others', () => instance, 404],
    ['an instance that does not exist', () => crypto.randomUUID(), 404],
    ['no instance', () => 'nothing', 400],
  ])(
    "are not occupied by a stranger's request for %s, which is answered before the body arrives",
    async (_, id, status) => {
      const stranger = (await makeTenant(api)).owner;
      const uploads = [begin(stranger, id()), begin(stranger, id())];
      for (const upload of uploads) await expect.poll(upload.status).toBe(status);
      for (const upload of uploads) upload.end();
    },
  );

  it('are not occupied by a member who may not import', async () => {
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    const upload = begin(viewer);
    await expect.poll(upload.status).toBe(403);
    upload.end();
  });

  it('are counted for the responsible person of all credentials', async () => {
    const { body } = await tenant.owner.post('/profile/api-keys', { name: 'second' });
    const second = new ApiUser(api, { 'x-api-key': body.key }, tenant.owner);
    const account = await tenant.owner.make('/service-accounts', {
      name: 'importer',
      role: 'maintainer',
      owner: { user_id: tenant.owner.id },
    });
    for (const members of [`/organizations/${tenant.organization}/members`, `${tenant.teamPath}/members`])
      expect(
        (await tenant.owner.put(`${members}/${account.id}`, { role: members.includes('teams') ? 'admin' : 'member' }))
          .status,
      ).toBe(200);
    const issued = await tenant.owner.post(`/service-accounts/${account.id}/api-keys`, { name: 'ci' });
    const robot = new ApiUser(api, { 'x-api-key': issued.body.key }, { id: account.id, email: '' });
    const begun = vi.spyOn(UploadLimit.prototype, 'begin');
    const upload = begin(tenant.owner);
    // Asking before the upload has its place would take it.
    await expect.poll(() => begun.mock.calls.length).toBe(1);
    for (const same of [tenant.owner, second, robot]) expect(await isTaken(same)).toBe(true);
    const other = await api.addUser('maintainer');
    await join(tenant, other, 'member', 'admin');
    expect(await isTaken(other)).toBe(false);
    upload.end();
    await expect.poll(() => isTaken(tenant.owner)).toBe(false);
  });

  it('are free again after a body that stops arriving was answered with 408', async () => {
    const upload = begin(tenant.owner);
    await expect.poll(upload.status).toBe(408);
    expect(upload.text()).toContain('the body arrives too slowly');
    await expect.poll(upload.isClosed).toBe(true);
    expect(await isTaken(tenant.owner)).toBe(false);
  });
});

describe('a body with a minimum rate', () => {
  const pace = { bytes: 10, periodMs: 50, wholeMs: 200 };
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());
  const readAll = async (body: PassThrough) => {
    const parts = await requirePace(body, pace).toArray();
    return Buffer.concat(parts).toString();
  };

  it('is passed on completely if it keeps the rate', async () => {
    const body = new PassThrough();
    body.write('x'.repeat(30));
    const read = readAll(body);
    await vi.advanceTimersByTimeAsync(70);
    body.end('end');
    expect(await read).toBe(`${'x'.repeat(30)}end`);
  });

  it.each([
    ['falls behind', 1],
    ['takes too long altogether', 1000],
  ])('ends with 408 if it %s', async (_, bytes) => {
    const body = new PassThrough();
    const timer = setInterval(() => body.write('x'.repeat(bytes)), 20);
    const refused = expect(readAll(body)).rejects.toMatchObject({ statusCode: 408 });
    await vi.advanceTimersByTimeAsync(pace.wholeMs);
    await refused;
    clearInterval(timer);
  });

  it('fails if its sender disconnects', async () => {
    const body = new PassThrough();
    body.write('x');
    const read = readAll(body);
    body.destroy();
    await expect(read).rejects.toThrow();
  });
});
