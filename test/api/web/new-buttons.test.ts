import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api.close());

/** The reason why the button is disabled, or `allowed` if it is a link. */
async function readButton(visitor: Visitor, path: string, label: string): Promise<string> {
  const { status, text } = await visitor.get(path);
  expect(status, text).toBe(200);
  if (new RegExp(`<a class="button[^>]*>(<svg.*?</svg>)?${label}</a>`, 's').test(text)) return 'allowed';
  const tip = new RegExp(
    `<button[^>]*aria-disabled="true"[^>]*>(<svg.*?</svg>)?${label}</button><span[^>]*>([^<]*)`,
    's',
  );
  return tip.exec(text)?.[2] ?? 'absent';
}

const buttons = [
  ['/projects', 'New project'],
  ['/environments', 'New environment'],
  ['/catalog', 'New template'],
  ['/assemblies', 'New assembly'],
  ['/drift', 'New monitor'],
  ['/schedules', 'New schedule'],
] as const;

describe('the button that makes something new', () => {
  test.each(buttons)(
    'the button that makes something new on %s is disabled, with the reason, for a visitor without the permission',
    async (path, label) => {
      const visitor = await signInVisitor(api, await api.addUser('requester'));
      expect(await readButton(visitor, path, label)).toMatch(
        /^Permission denied: this needs the platform role maintainer\.$/,
      );
    },
  );

  test.each(buttons)(
    "the button that makes something new on %s depends on the visitor's role in the team of the scope",
    async (path, label) => {
      const viewer = await api.addUser('maintainer');
      await join(tenant, viewer, 'member', 'viewer');
      const scoped = `${path}?team_id=${tenant.team}`;
      const denied = await readButton(await signInVisitor(api, viewer), scoped, label);
      expect(denied).toMatch(/^Permission denied: this needs the team role admin in the team/);
      expect(await readButton(await signInVisitor(api, tenant.owner), scoped, label)).toBe('allowed');
    },
  );

  test.each(buttons)(
    'the button that makes something new on %s is a link if the visitor may use it in one of several teams',
    async (path, label) => {
      const other = await makeTenant(api);
      const user = await api.addUser('maintainer');
      await join(tenant, user, 'member', 'viewer');
      await join(other, user, 'member', 'admin');
      const visitor = await signInVisitor(api, user);
      expect(await readButton(visitor, path, label)).toBe('allowed');
      expect(await readButton(visitor, `${path}?organization_id=${tenant.organization}`, label)).not.toBe('allowed');
    },
  );

  test('is enabled for an environment only if the visitor may create one in the project', async () => {
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    const path = `/environments?project_id=${tenant.project}`;
    expect(await readButton(await signInVisitor(api, viewer), path, 'New environment')).toContain(
      'the team role admin',
    );
    await tenant.owner.post(`/projects/${tenant.project}/archive`);
    const owner = await signInVisitor(api, tenant.owner);
    expect(await readButton(owner, path, 'New environment')).toMatch(/archived/);
    await tenant.owner.post(`/projects/${tenant.project}/unarchive`);
  });

  test('is disabled for a pool unless the visitor is an administrator', async () => {
    const admin = await api.addUser('admin');
    const maintainer = await api.addUser('maintainer');
    const read = async (user: ApiUser) => readButton(await signInVisitor(api, user), '/workloads/workers', 'New pool');
    expect(await read(admin)).toBe('allowed');
    expect(await read(maintainer)).toBe('Permission denied: this needs the platform role admin.');
  });

  test('leads to a form that offers only owners for which the visitor may create templates', async () => {
    const user = await api.addUser('maintainer');
    const other = await makeTenant(api);
    await join(tenant, user, 'member', 'viewer');
    await join(other, user, 'member', 'admin');
    const { text } = await (await signInVisitor(api, user)).get('/catalog/new');
    expect(text).toContain(`value="${other.team}"`);
    expect(text).not.toContain(`value="${tenant.team}"`);
    expect(text).not.toContain('The whole installation');
  });

  test('leads to a form without a selected owner if there are several, which then names the missing choice', async () => {
    const user = await api.addUser('maintainer');
    for (const each of [tenant, await makeTenant(api)]) await join(each, user, 'member', 'admin');
    const visitor = await signInVisitor(api, user);
    expect((await visitor.get('/catalog/new')).text).toMatch(/<option value="" selected>Choose…<\/option>/);
    const unchosen = await visitor.submit('/catalog/new', { name: '', team_id: '' });
    expect([unchosen.status, unchosen.text.includes('Choose who owns the template')]).toEqual([400, true]);
    expect(unchosen.text).toContain('id="field-name-problem"');
  });
});

describe('the navigation', () => {
  test('has only pages that the visitor may open', async () => {
    const entries = async (user: ApiUser) => {
      const { text } = await (await signInVisitor(api, user)).get('/projects');
      return [...text.matchAll(/class="navigation-link"[^>]*>(?:<svg.*?<\/svg>)?([^<]+)</gs)].map(([, label]) => label);
    };
    const requester = await entries(await api.addUser('requester'));
    expect(requester).toEqual(expect.arrayContaining(['Home', 'Runs', 'Projects', 'Audit']));
    for (const hidden of ['Approvals', 'Workers', 'Service accounts', 'Users']) expect(requester).not.toContain(hidden);
    expect(await entries(await api.addUser('admin'))).toEqual(
      expect.arrayContaining(['Approvals', 'Workers', 'Service accounts', 'Users', 'Audit']),
    );
  });

  test('the navigation of an error page is the same as that of other pages', async () => {
    const { status, text } = await (await signInVisitor(api, await api.addUser('requester'))).get(
      `/projects/${randomUUID()}`,
    );
    expect([status, text.includes('</svg>Runs</a>'), text.includes('</svg>Users</a>')]).toEqual([404, true, false]);
  });
});
