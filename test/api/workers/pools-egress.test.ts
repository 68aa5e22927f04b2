import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

const internet = { policy: 'internet', allow: [] };
const listed = { policy: 'allow', allow: ['registry.opentofu.org', '*.example.org', '10.1.0.0/16', '2001:db8::/32'] };
const create = (egress: unknown) => admin.post('/worker-pools', { name: `pool-${newId()}`, egress });

describe('the egress of a new pool', () => {
  it('is the Internet if the request omits it or sends null', async () => {
    const name = `pool-${newId()}`;
    expect((await admin.post('/worker-pools', { name })).body).toMatchObject({ egress: internet });
    expect((await create(null)).body).toMatchObject({ egress: internet });
  });

  it('is stored as sent, with names in lower case', async () => {
    const { status, body } = await create({ ...listed, allow: ['Registry.OpenTofu.ORG', ...listed.allow.slice(1)] });
    expect([status, body.egress]).toEqual([201, listed]);
  });

  it.each(['0.0.0.0/0', '::/0', '126.0.0.0/7', '10.0.0.0/8', 'localhost.example.org', 'notlocalhost'])(
    'may name %s, which reaches more than loopback',
    async (entry) => {
      expect(await create({ policy: 'allow', allow: [entry] })).toMatchObject({ status: 201 });
    },
  );

  it.each(['localhost', 'LOCALHOST', 'db.localhost', '*.localhost'])('refuses the loopback name %s', async (entry) => {
    const { status, body } = await create({ policy: 'allow', allow: [entry] });
    expect([status, body.error]).toEqual([400, expect.stringContaining("is loopback, the worker's own machine")]);
  });

  it.each(['127.0.0.0/8', '127.0.0.1/32', '127.1.0.0/16', '0.0.0.0/32', '0.0.0.0/8', '::1/128', '::/128'])(
    'refuses the loopback range %s',
    async (entry) => {
      const { status, body } = await create({ policy: 'allow', allow: [entry] });
      expect([status, body.error]).toEqual([400, expect.stringContaining('name the host as other machines reach it')]);
    },
  );

  it.each([
    'https://registry.opentofu.org/',
    'http://10.1.0.0/16',
    'registry.opentofu.org:443',
    'registry.opentofu.org/v1',
    '10.1.2.3:443',
    'example org',
    'a.*.example.org',
    '*example.org',
    '*',
    '',
  ])('refuses %j with what to write instead', async (entry) => {
    const { status, body } = await create({ policy: 'allow', allow: [entry] });
    expect(status).toBe(400);
    expect(body.error).toContain('egress.allow[0]');
    expect(body.error).toContain('write a host name without scheme, port or path, or a CIDR range');
  });

  it.each([
    ['an address without a range', '10.1.2.3', 'CIDR range'],
    ['an address of version 6 without a range', '2001:db8::1', 'CIDR range'],
    ['a number that is an address to some', '0x7f.1', 'CIDR range'],
    ['a range with too many bits', '10.0.0.0/33', 'not a CIDR range'],
    ['a range in a short form', '10.1/16', 'not a CIDR range'],
    ['a range with a zone', 'fe80::%eth0/64', 'not a CIDR range'],
    ['a range that begins in its middle', '10.1.2.3/16', '10.1.0.0/16'],
    ['a range of version 6 that carries one of version 4', '::ffff:10.0.0.0/104', 'IPv4'],
  ])('refuses %s', async (_, entry, message) => {
    const { status, body } = await create({ policy: 'allow', allow: [entry] });
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it.each([
    ['201 entries', { policy: 'allow', allow: Array.from({ length: 201 }, (_, at) => `a${at}.org`) }, 'allow'],
    ['an unknown policy', { policy: 'some' }, 'policy'],
    ['no policy', { allow: ['a.org'] }, 'policy'],
    ['a list beside the policy "none"', { policy: 'none', allow: ['a.org'] }, 'must be empty'],
    ['the policy "allow" without a list', { policy: 'allow' }, 'must name a host or a range'],
    ['another member', { policy: 'none', deny: [] }, 'deny'],
  ])('refuses %s', async (_, egress, message) => {
    const { status, body } = await create(egress);
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('a change of egress', () => {
  const change = async (egress: unknown, before: unknown = listed) => {
    const { body } = await create(before);
    const { status, body: answered } = await admin.patch(`/worker-pools/${body.name}`, { egress });
    const { body: after } = await admin.get(`/worker-pools/${body.name}`);
    return { status, error: answered.error, egress: after.egress, revision: after.revision };
  };

  it('a change of egress that sends only the policy keeps the list', async () => {
    expect(await change({ policy: 'internet' })).toMatchObject({
      egress: { ...listed, policy: 'internet' },
      revision: 2,
    });
    const back = await change({ policy: 'allow' }, { ...listed, policy: 'internet' });
    expect(back).toMatchObject({ status: 200, egress: listed });
  });

  it('a change of egress that sends only the list keeps the policy', async () => {
    expect(await change({ allow: ['a.org'] })).toMatchObject({ egress: { policy: 'allow', allow: ['a.org'] } });
  });

  it('a change of egress to null restores the default', async () => {
    expect(await change(null)).toMatchObject({ status: 200, egress: internet });
  });

  it('a change of egress to its present value changes nothing', async () => {
    for (const same of [{}, listed, { policy: 'allow' }])
      expect(await change(same)).toMatchObject({ status: 200, egress: listed, revision: 1 });
  });

  it.each([
    ['the policy "allow" beside an empty list', { policy: 'allow' }, internet, 'must name a host or a range'],
    ['an empty list beside the policy "allow"', { allow: [] }, listed, 'must name a host or a range'],
    ['the policy "none" beside a list that is kept', { policy: 'none' }, listed, 'must be empty'],
  ])('a change of egress to %s is refused and changes nothing', async (_, egress, before, message) => {
    const refused = await change(egress, before);
    expect(refused).toEqual({ status: 400, error: expect.stringContaining(message), egress: before, revision: 1 });
    expect(refused.error).toContain('egress.allow');
  });

  it('a change of egress to no network must send the empty list', async () => {
    expect(await change({ policy: 'none', allow: [] })).toMatchObject({ egress: { policy: 'none', allow: [] } });
  });
});
