import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let owner: Visitor;
let viewer: Visitor;
let template: string;

/** The declarations of a schema's variables and of outputs, after a line that the page must not show as markup. */
const mainOf = (properties: object) =>
  [
    '# <hello>',
    ...Object.keys(properties).map((name) => `variable "${name}" {}`),
    'output "address" { value = 1 }',
    'output "key" { value = 1 }\n',
  ].join('\n');

const spec = (properties: object, required: string[] = []) => ({
  variables: { type: 'object', properties, required },
  outputs: { address: { description: 'Where it is' }, key: { sensitive: true } },
  approval: { required: 2, when: 'destroys' },
  timeouts: { plan: '5m' },
  executor: { kind: 'opentofu', files: { 'main.tf': mainOf(properties), 'modules/a/b.tf': '# there\n' } },
});

const readme =
  '# Top\n\n<script>alert(1)</script> [bad](javascript:alert(1)) [good](https://example.com/a?b=1&c=2)\n\n![picture](https://example.com/a.png)\n\n| a | b |\n|---|---|\n| 1 | <b> |\n\n```\nx < y\n```\n';

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { id } = await tenant.owner.make('/registry/templates', {
    name: 'VPC <network>',
    team_id: tenant.team,
    description: 'Addresses\nand routes',
    tags: ['aws', 'network'],
    readme,
  });
  template = id;
  const versions = `/registry/templates/${id}/versions`;
  await tenant.owner.make(versions, { version: '1.0.0', spec: spec({ cidr: { type: 'string' }, old: {} }) });
  const later = spec({ cidr: { type: 'string', minLength: 9 }, fresh: { type: 'boolean', writeOnly: true } }, ['cidr']);
  await tenant.owner.make(versions, { version: '1.1.0', spec: later, changelog: 'Adds **fresh**' });
  owner = await signInVisitor(api, tenant.owner);
  const reader = await api.addUser('requester');
  await join(tenant, reader, 'member', 'viewer');
  viewer = await signInVisitor(api, reader);
});
afterAll(() => api?.close());

async function read(visitor: Visitor, path: string): Promise<string> {
  const { status, text } = await visitor.get(path);
  expect(status, text.slice(0, 500)).toBe(200);
  return text;
}

describe('the catalog', () => {
  test('shows what a template does, its owner, version and tags, as text', async () => {
    const text = await read(owner, '/catalog');
    for (const part of ['VPC &lt;network&gt;', 'Addresses', 'Core · Tenant', '1.1.0', 'OpenTofu', 'No runs yet', 'aws'])
      expect(text).toContain(part);
    expect(text).not.toContain('<network>');
  });

  test('finds templates by text and by tags, and says if there is none', async () => {
    expect(await read(owner, '/catalog?q=ROUTES&tag=aws')).toContain('VPC &lt;network&gt;');
    const none = await read(owner, '/catalog?tag=aws&tag=other');
    expect(none).toContain('No matching templates');
    expect(none).toContain('href="/catalog?tag=other"');
  });

  test('is limited to the scope of its address, and shows archived templates only if asked', async () => {
    expect(await read(owner, `/catalog?team_id=${tenant.team}`)).toContain('VPC &lt;network&gt;');
    expect(await read(owner, `/catalog?organization_id=${tenant.organization}`)).toContain('VPC &lt;network&gt;');
    expect(await read(owner, '/catalog?archived=true')).toContain('No archived templates');
    expect(
      (await (await signInVisitor(api, await api.addUser('requester'))).get(`/catalog?team_id=${tenant.team}`)).status,
    ).toBe(404);
  });

  test('explains an empty catalog, and offers the first step only to visitors who may take it', async () => {
    const empty = await read(await signInVisitor(api, await api.addUser('requester')), '/catalog');
    expect(empty).toContain('No templates yet');
    expect(empty).not.toContain('href="/catalog/new"');
    expect(empty).toMatch(/aria-disabled="true"[^>]*>.*?New template/s);
  });
});

describe('the page of a template', () => {
  test('shows its readme without markup of its own', async () => {
    const text = await read(owner, `/catalog/${template}`);
    expect(text).toContain('<h2>Top</h2>');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toContain('href="javascript:');
    expect(text).toContain(
      '<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow ugc">good</a>',
    );
    expect(text).not.toContain('<img');
    expect(text).toContain('>picture</a>');
    expect(text).toContain('<td>&lt;b&gt;</td>');
    expect(text).toContain('<code>x &lt; y\n</code>');
  });

  test('shows variables, versions and actions, with a reason for each disabled action', async () => {
    const text = await read(owner, `/catalog/${template}`);
    for (const part of [
      'Variables of 1.1.0',
      'At least 9 characters',
      'Secret',
      'Required',
      'Latest',
      `/catalog/${template}/run"`,
    ])
      expect(text).toContain(part);
    const reading = await read(viewer, `/catalog/${template}`);
    expect(reading).toContain('Permission denied: this needs the platform role maintainer.');
    expect(reading).not.toContain(`href="/catalog/${template}/edit"`);
  });

  test("the page of another tenant's template and that of a missing one look the same", async () => {
    const stranger = await signInVisitor(api, await api.addUser('maintainer'));
    for (const path of [template, '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11']) {
      const answer = await stranger.get(`/catalog/${path}`);
      expect([answer.status, answer.text.includes("It doesn't exist, or you may not have access to it.")]).toEqual([
        404,
        true,
      ]);
    }
  });
});

describe('the page of a version', () => {
  test('shows its spec in words, its files and what has changed', async () => {
    const text = await read(owner, `/catalog/${template}/versions/latest?file=main.tf`);
    for (const part of [
      '<strong>fresh</strong>',
      '2, when something is destroyed',
      'plan 5m',
      'Where it is',
      'Masked',
      'Changes since 1.0.0',
      '# &lt;hello&gt;',
      'modules/a/b.tf',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/change-added">Added<\/span> <code class="foreign">fresh/);
    expect(text).toMatch(/change-removed">Removed<\/span> <code class="foreign">old/);
    expect(text).toMatch(
      /value-path foreign">minLength<\/span>[^/]*set to <\/span><ins class="value-text foreign">9<\/ins>/,
    );
    expect((await owner.get(`/catalog/${template}/versions/1.1.0?file=nothing`)).status).toBe(404);
  });

  test('is yanked with a reason, which all readers then see', async () => {
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Yanked', team_id: tenant.team });
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: spec({}) });
    const path = `/catalog/${id}/versions/1.0.0`;
    expect(await read(owner, `${path}/yank`)).toContain('You cannot undo this');
    const answer = await owner.submit(`${path}/yank`, { reason: 'It leaks <ports>' });
    expect([answer.status, answer.location]).toEqual([303, `${path}?done=yanked`]);
    expect(await read(viewer, path)).toContain('It leaks &lt;ports&gt;');
    expect((await viewer.submit(`${path}/yank`, {})).status).toBe(403);
  });
});

describe('archiving and deleting a template', () => {
  test('archiving and deleting a template ask for confirmation and name obstacles, and archiving can be undone', async () => {
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Ends', team_id: tenant.team });
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: spec({}) });
    const run = await tenant.owner.post('/runs', { template_id: id, environment_id: tenant.environment });
    expect(await read(owner, `/catalog/${id}/delete`)).toContain('runs that have not ended');
    expect((await owner.submit(`/catalog/${id}/delete`, {})).status).toBe(409);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    expect((await owner.submit(`/catalog/${id}/archive`, {})).location).toBe(`/catalog/${id}?done=archived`);
    expect(await read(owner, `/catalog/${id}?done=archived`)).toContain('Unarchive');
    expect((await owner.submit(`/catalog/${id}/unarchive`, {})).location).toBe(`/catalog/${id}?done=unarchived`);
    expect((await owner.submit(`/catalog/${id}/delete`, {})).location).toBe('/catalog?done=deleted');
    expect((await owner.get(`/catalog/${id}`)).status).toBe(404);
  });
});
