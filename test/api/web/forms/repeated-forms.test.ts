import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let owner: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  owner = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

describe('a form that is sent twice with its key', () => {
  test('makes one thing, and leads to it both times', async () => {
    const form = { key: newId(), team_id: tenant.team, name: 'Twice', slug: '', description: '' };
    const first = await owner.submit('/projects/new', form);
    const second = await owner.submit('/projects/new', form);
    expect([first.status, second.status, second.location]).toEqual([303, 303, first.location]);
    const { body } = await tenant.owner.get(`/projects?team_id=${tenant.team}`);
    expect(body.projects.filter(({ name }: { name: string }) => name === 'Twice')).toHaveLength(1);
  });

  test('with other values is refused, and shown with a new key', async () => {
    const form = { key: newId(), team_id: tenant.team, name: 'First', slug: '', description: '' };
    await owner.submit('/projects/new', form);
    const again = await owner.submit('/projects/new', { ...form, name: 'Other' });
    expect(again.status).toBe(409);
    const [, key] = /name="key" value="([^"]+)"/.exec(again.text) ?? [];
    expect(key).not.toBe(form.key);
    expect((await owner.submit('/projects/new', { ...form, name: 'Other', key: key! })).status).toBe(303);
  });

  test('shows a secret once, and says so when it is sent again', async () => {
    const sent = { key: newId(), name: 'ci', expires_at: '' };
    expect((await owner.submit('/profile/api-keys', sent)).status).toBe(201);
    const again = await owner.submit('/profile/api-keys', sent);
    expect([again.status, again.text.includes('shown only once')]).toEqual([409, true]);
  });
});

test('every form has a key, unless it sends a secret', async () => {
  const forms = async (path: string) => (await owner.get(path)).text.match(/<form class="form"[\s\S]*?<\/form>/g) ?? [];
  for (const path of ['/projects/new', '/environments/new', '/catalog/new', '/workloads/instances/new'])
    for (const form of await forms(path)) expect(form).toContain('name="key"');
});
