import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, publishTemplate, saveDraft } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let template: { id: string; slug: string };
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = await addTemplate(tenant.owner, { team: tenant.team });
});
afterAll(() => api?.close());

const oneNode = (more: object = {}) => ({ nodes: { a: { template: template.slug, ...more } } });
const publish = (path: string, version: string, more: object = {}, user: ApiUser = tenant.owner) =>
  user.post(`${path}/publish`, { version, ...more });

describe('a published version', () => {
  it('holds the spec, its text and the template version of each node, and is listed', async () => {
    const path = await addAssembly(tenant, `# why\nnodes:\n  a: {template: ${template.slug}}\n`);
    const published = await publish(path, '1.0.0', { changelog: 'First' });
    expect(published).toMatchObject({
      status: 201,
      body: {
        version: '1.0.0',
        nodes: 1,
        changelog: 'First',
        source: expect.stringContaining('# why'),
        spec: { nodes: { a: { template: template.slug } }, concurrency: 10 },
        templates: { a: { template_id: template.id, version: '1.0.0' } },
        published_by: { id: tenant.owner.id },
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
    });
    expect(published.headers['location']).toBe(`/api/v1${path}/versions/1.0.0`);
    for (const version of ['1.0.0', 'latest', '^1'])
      expect((await tenant.owner.get(`${path}/versions/${encodeURIComponent(version)}`)).body).toEqual(published.body);
    const { spec: _spec, source: _source, templates: _templates, ...summary } = published.body;
    expect((await tenant.owner.get(`${path}/versions`)).body).toEqual({ versions: [summary], next_cursor: null });
    expect((await tenant.owner.get(path)).body.latest_version).toBe('1.0.0');
  });

  it('does not change with the draft, with templates or by another publication', async () => {
    const own = await addTemplate(tenant.owner, { team: tenant.team });
    const path = await addAssembly(tenant, { nodes: { a: { template: own.id, variables: { name: 'one' } } } });
    const first = await publish(path, '1.0.0');
    await saveDraft(tenant.owner, path, { nodes: { a: { template: own.id, variables: { name: 'two' } } } });
    await publishTemplate(tenant.owner, own.id, '1.1.0');
    expect(await publish(path, '1.0.0')).toMatchObject({
      status: 409,
      headers: { 'x-error-code': 'version_published' },
    });
    expect((await publish(path, '1.0.1')).status).toBe(201);
    await tenant.owner.post(`/registry/templates/${own.id}/archive`);
    await tenant.owner.patch(path, { name: 'Other' });
    expect((await tenant.owner.get(`${path}/versions/1.0.0`)).body).toEqual(first.body);
  });

  it('is returned to 50 simultaneous publications of the same content', async () => {
    const path = await addAssembly(tenant, oneNode());
    const answers = await sendAtOnce(50, () => publish(path, '1.0.0'));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(49).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const sql = `select data from domain_events where subject_id = ? and type = 'assembly.published'`;
    const events = await api.rows(sql, [path.split('/').at(-1)]);
    expect(events).toEqual([{ data: { by: expect.any(String), version: '1.0.0' } }]);
  });

  it('has a strict semantic version', async () => {
    const path = await addAssembly(tenant, oneNode());
    for (const version of ['1', 'v1.0.0', '1.0.0+a', 'latest', 'draft'])
      expect((await publish(path, version)).status).toBe(400);
  });
});

describe('a publication', () => {
  it('publishing a draft that is not valid answers 422 with everything that is wrong', async () => {
    const path = await addAssembly(tenant, { nodes: { a: { template: 'missing' }, b: { template: 7 } }, more: 1 });
    const answer = await tenant.owner.send(
      'POST',
      `${path}/publish`,
      { version: '1.0.0' },
      { accept: 'application/problem+json' },
    );
    expect([answer.status, answer.headers['x-error-code']]).toEqual([422, 'assembly_invalid']);
    const { errors } = JSON.parse(answer.text);
    expect(errors.map(({ path: at }: { path: string }) => at)).toEqual(
      expect.arrayContaining(['/nodes/b/template', '/more']),
    );
    expect((await tenant.owner.get(`${path}/versions`)).body.versions).toEqual([]);
  });

  it('publishing another revision of the draft than expected answers 409', async () => {
    const path = await addAssembly(tenant, oneNode());
    await saveDraft(tenant.owner, path, oneNode({ variables: { name: 'x' } }));
    expect((await publish(path, '1.0.0', { expected_revision: 1 })).headers['x-error-code']).toBe('stale_revision');
    expect((await publish(path, '1.0.0', { expected_revision: 2 })).status).toBe(201);
  });

  it('publishing without a draft answers 409', async () => {
    const path = await addAssembly(tenant);
    expect(await publish(path, '1.0.0')).toMatchObject({
      status: 409,
      headers: { 'x-error-code': 'draft_missing' },
      body: { error: expect.stringContaining('has no draft') },
    });
  });

  it('a publication that races with a change of the draft publishes what was validated, or answers 409', async () => {
    for (let round = 0; round < 5; round += 1) {
      const path = await addAssembly(tenant, oneNode({ variables: { name: 'before' } }));
      const [published] = await Promise.all([
        publish(path, '1.0.0'),
        saveDraft(tenant.owner, path, oneNode({ variables: { name: 'after' } })),
      ]);
      if (published.status === 409) expect(published.headers['x-error-code']).toBe('concurrent_change');
      else expect(published.body.source).toContain(published.body.spec.nodes.a.variables.name);
    }
  });
});

describe('a version whose nodes require fewer approvals', () => {
  const strict = { required: 2, when: 'always' };
  let teamAdmin: ApiUser;
  beforeAll(async () => {
    teamAdmin = await api.addUser('maintainer');
    await join(tenant, teamAdmin, 'member', 'admin');
  });

  async function published(approval: object | undefined = strict): Promise<string> {
    const path = await addAssembly(tenant, oneNode({ ...(approval && { approval }) }));
    expect((await publish(path, '1.0.0')).status).toBe(201);
    return path;
  }

  it.each([
    ['no approval', {}],
    ['fewer approvals', { approval: { required: 1, when: 'always' } }],
    ['approvals of less', { approval: { required: 5, when: 'destroys' } }],
    ['approvals that may be one’s own', { approval: { ...strict, allow_self: true } }],
  ])('answers 403 to an admin of the team, and is an event if an owner publishes it: %s', async (_what, node) => {
    const path = await published();
    await saveDraft(tenant.owner, path, oneNode(node));
    expect(await publish(path, '1.1.0', {}, teamAdmin)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('nodes demand less approval than before: a (as in 1.0.0)') },
    });
    expect((await publish(path, '1.1.0')).status).toBe(201);
    const events = await api.rows<{ type: string; data: object }>(
      `select type, data from domain_events where subject_id = ? and type = 'assembly.approval_weakened'`,
      [path.split('/').at(-1)],
    );
    expect(events.map(({ data }) => data)).toEqual([{ by: expect.any(String), version: '1.1.0', nodes: ['a'] }]);
  });

  it('answers 403 to an admin of the team even if the node has another key and the same instance', async () => {
    const path = await published();
    await saveDraft(tenant.owner, path, { nodes: { renamed: { template: template.slug, instance: 'a' } } });
    expect((await publish(path, '1.1.0', {}, teamAdmin)).status).toBe(403);
  });

  it.each([
    ['its key', { a: {} }],
    ['its instance under another key', { renamed: { instance: 'a' } }],
    ['its instance under a key that demanded nothing meanwhile', { other: { instance: 'a' } }],
  ])(
    'answers 403 to an admin of the team even if a version between them has no such node: %s',
    async (_what, nodes) => {
      const path = await published();
      const draft = (wanted: Record<string, object>) => ({
        nodes: Object.fromEntries(
          Object.entries(wanted).map(([key, node]) => [key, { template: template.slug, ...node }]),
        ),
      });
      await saveDraft(tenant.owner, path, draft({ other: {} }));
      expect((await publish(path, '1.1.0', {}, teamAdmin)).status).toBe(201);
      await saveDraft(tenant.owner, path, draft(nodes));
      expect(await publish(path, '1.2.0', {}, teamAdmin)).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining('(as in 1.0.0)') },
      });
    },
  );

  it('is published by an admin of the team if the nodes require the same or more approvals, or were removed', async () => {
    const path = await published();
    for (const [version, nodes] of [
      ['1.1.0', { a: { template: template.slug, approval: { required: 3, when: 'always' } } }],
      ['1.2.0', { other: { template: template.slug } }],
    ] as const) {
      await saveDraft(tenant.owner, path, { nodes });
      const answer = await publish(path, version, {}, teamAdmin);
      expect(answer.status, answer.text).toBe(201);
    }
  });

  it('is published by an admin of the team if no node required approval', async () => {
    const path = await published({ required: 0, when: 'never', allow_self: true });
    await saveDraft(tenant.owner, path, oneNode());
    expect((await publish(path, '1.1.0', {}, teamAdmin)).status).toBe(201);
  });
});
