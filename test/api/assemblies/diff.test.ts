import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, publishTemplate, saveDraft } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let path: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
  const publish = async (version: string, spec: object) => {
    await saveDraft(tenant.owner, path, spec);
    expect((await tenant.owner.post(`${path}/publish`, { version })).status).toBe(201);
  };
  path = await addAssembly(tenant);
  await publish('1.0.0', { nodes: { old: { template: slug }, kept: { template: slug, variables: { name: 'one' } } } });
  await publish('1.1.0', {
    concurrency: 3,
    nodes: {
      kept: { template: slug, variables: { name: 'two' } },
      added: { template: slug, depends_on: ['kept'] },
    },
  });
  await saveDraft(tenant.owner, path, { nodes: { kept: '<script>alert(1)</script>' } });
});
afterAll(() => api?.close());

const compare = (from: string, to: string, headers: Record<string, string> = {}) =>
  tenant.owner.get(`${path}/diff?from=${from}&to=${to}`, headers);

describe('a comparison', () => {
  it('names added, removed and changed nodes, fields and edges, with values', async () => {
    const { status, body, text } = await compare('1.0.0', 'latest');
    expect(status, text).toBe(200);
    expect(body).toMatchObject({
      from: '1.0.0',
      to: '1.1.0',
      edges: { added: [{ from: 'kept', to: 'added' }], removed: [] },
    });
    const changes = body.nodes.map(({ key, change }: { key: string; change: string }) => [key, change]).sort();
    expect(changes).toEqual([
      ['added', 'added'],
      ['kept', 'changed'],
      ['old', 'removed'],
    ]);
    const kept = body.nodes.find(({ key }: { key: string }) => key === 'kept');
    expect(kept.fields).toEqual([{ path: '/variables/name', before: 'one', after: 'two' }]);
    expect(body.fields).toEqual([{ path: '/concurrency', after: 3 }]);
  });

  it('a version compared with itself shows no difference', async () => {
    expect((await compare('1.0.0', '1.0.0')).body).toEqual({
      from: '1.0.0',
      to: '1.0.0',
      nodes: [],
      fields: [],
      edges: { added: [], removed: [] },
    });
  });

  it('an invalid draft can be compared', async () => {
    const { status, body, text } = await compare('1.1.0', 'draft');
    expect(status, text).toBe(200);
    expect(body.to).toBe('draft');
  });

  it('names both template versions if a range now resolves to a newer one', async () => {
    const { id, slug } = await addTemplate(tenant.owner, { team: tenant.team });
    const moving = await addAssembly(tenant, {
      nodes: { a: { template: slug }, b: { template: slug, version: '1.0.0' } },
    });
    const differences = async (to: string) => (await tenant.owner.get(`${moving}/diff?from=1.0.0&to=${to}`)).body.nodes;
    const changed = [
      { key: 'a', change: 'changed', fields: [{ path: '/template_version', before: '1.0.0', after: '1.1.0' }] },
    ];
    expect((await tenant.owner.post(`${moving}/publish`, { version: '1.0.0' })).status).toBe(201);
    expect(await differences('draft')).toEqual([]);
    await publishTemplate(tenant.owner, id, '1.1.0');
    expect(await differences('draft')).toEqual(changed);
    expect((await tenant.owner.post(`${moving}/publish`, { version: '1.1.0' })).status).toBe(201);
    expect(await differences('1.1.0')).toEqual(changed);
    const drawn = await tenant.owner.get(`${moving}/diff?from=1.0.0&to=1.1.0`, { accept: 'image/svg+xml' });
    expect(drawn.text).toContain('graph-node changed');
  });

  it('a comparison with a version that does not exist answers 404 and names the existing versions', async () => {
    expect(await compare('1.0.0', '9.0.0')).toMatchObject({
      status: 404,
      body: { error: 'the assembly has no version 9.0.0; available: 1.1.0, 1.0.0' },
    });
    expect((await compare('nonsense', '1.0.0')).status).toBe(404);
    expect((await tenant.owner.get(`${path}/diff?from=1.0.0`)).status).toBe(400);
  });

  it('is drawn for clients that prefer SVG, without scripts', async () => {
    const drawn = await compare('1.0.0', '1.1.0', { accept: 'image/svg+xml' });
    expect([drawn.status, drawn.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(drawn.text).toMatch(/^<svg xmlns/);
    for (const word of ['added', 'removed', 'changed']) expect(drawn.text).toContain(`graph-node ${word}`);
    expect(drawn.text).toContain('What changed from 1.0.0 to 1.1.0');
    expect(drawn.text).not.toMatch(/<script|style=|on\w+=/);
    expect((await compare('1.0.0', '1.1.0', { accept: 'text/html' })).status).toBe(406);
  });
});

describe('the drawing of a draft', () => {
  const draw = (spec: unknown) => tenant.owner.send('POST', `${path}/validate`, { spec }, { accept: 'image/svg+xml' });

  it('shows the readable nodes, and which of them have problems', async () => {
    const { status, text } = await draw({
      nodes: { a: { template: 'missing' }, b: { template: 'x"><script>', depends_on: ['a'] }, c: 1 },
    });
    expect(status, text).toBe(200);
    expect(text).toContain('id="graph-node-a"');
    expect(text).toMatch(/1 problem/);
    expect(text).not.toContain('<script');
  });

  it('the drawing of a draft that cannot be read is empty', async () => {
    expect(await draw('nodes: [\n')).toMatchObject({ status: 200, text: expect.stringMatching(/^<svg/) });
  });

  it('the drawing of a large draft shows a part, and says so', { timeout: 60_000 }, async () => {
    const nodes = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`n${index}`, { template: 'missing' }]));
    expect(await draw({ nodes })).toMatchObject({ status: 200, text: expect.stringContaining('200 of 400 nodes') });
  });
});
