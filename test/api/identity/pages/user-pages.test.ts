import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe('the pages of users', () => {
  test('make a user, change the role, give a password link, disable and delete', async () => {
    const root = await api.addUser('admin');
    const visitor = await signInVisitor(api, root);
    const details = {
      name: 'Nora <i>',
      email: ' nora@example.com ',
      role: 'requester',
      password: 'a long enough phrase',
    };
    const made = await visitor.submit('/users/new', details);
    expect(made.status, made.text).toBe(303);
    const path = made.location?.split('?')[0] ?? '';
    const revision = (await root.get(path)).body.revision;
    const change = {
      name: 'Nora',
      email: 'nora@example.com',
      role: 'operator',
      enabled: 'true',
      expected_revision: String(revision),
    };
    expect((await visitor.submit(`${path}/edit`, change)).status).toBe(303);
    const page = await visitor.get(path);
    expect(page.text).toContain('Operator');
    const { id } = await root.make('/organizations', { name: 'Northwind' });
    const [, join = ''] = /href="([^"]+)#add">Add to Northwind</.exec(await visitor.page(path)) ?? [];
    expect(join).toBe(`/organizations/${id}/members?user_id=${path.replace('/users/', '')}`);
    expect((await visitor.get(join)).text).toContain('value="nora@example.com"');
    const link = await visitor.submit(`${path}/password-reset`, {});
    expect([link.status, link.headers['content-encoding']]).toEqual([201, undefined]);
    const url = /value="(http[^"]*\/password-reset#token=[^"]+)"/.exec(link.text)?.[1] ?? '';
    const token = url.split('#token=')[1] ?? '';
    expect((await new Visitor(api.app).submit('/password-reset', { step: 'link', token })).status).toBe(200);
    expect(await visitor.page(path)).not.toContain('token=');
    const now = String((await root.get(path)).body.revision);
    await visitor.submit(`${path}/edit`, { ...change, enabled: 'false', expected_revision: now });
    expect((await visitor.get('/users?enabled=false&q=NORA')).text).toContain('nora@example.com');
    expect((await visitor.get('/users?q=%25')).text).toContain('No user matches these filters');
    expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/users?done=deleted');
  });

  test('show an error of the password at its field, without the password', async () => {
    const visitor = await signInVisitor(api, await api.addUser('admin'));
    const details = { name: 'Weak', email: 'weak@example.com', role: 'requester', password: 'hunter2' };
    const refused = await visitor.submit('/users/new', details);
    expect([refused.status, refused.text.includes('id="field-password-problem"')]).toEqual([400, true]);
    expect(refused.text).not.toContain('hunter2');
    expect(refused.text).toContain('value="weak@example.com"');
  });

  test('disable what administrators may not do to themselves, and confirm an address that has changed', async () => {
    const root = await api.addUser('admin');
    const visitor = await signInVisitor(api, root);
    const page = await visitor.get(`/users/${root.id}`);
    expect(page.text).toContain('you cannot set your own password here');
    expect(await visitor.page(`/users/${root.id}/edit`)).not.toContain('name="enabled"');
    const other = await api.addUser('requester');
    await root.put(`/users/${other.id}`, { email: 'moved@example.com' });
    const confirmed = await visitor.submit(`/users/${other.id}/email-confirmation`, { email: 'moved@example.com' });
    expect(confirmed.status).toBe(303);
    expect((await root.get(`/users/${other.id}`)).body.email_verified).toBe(true);
  });

  test('are refused to visitors who may not manage users', async () => {
    const user = await api.addUser('operator');
    const visitor = await signInVisitor(api, user);
    const list = await visitor.get('/users');
    expect([list.status, list.text.includes('Only administrators see all users')]).toEqual([403, true]);
    expect(list.text).not.toContain('action="/users"');
    expect((await visitor.get(`/users/${(await api.addUser('admin')).id}`)).status).toBe(403);
    expect(
      (
        await visitor.submit('/users/new', {
          name: 'x',
          email: 'x@example.com',
          role: 'admin',
          password: 'a long enough phrase',
        })
      ).status,
    ).toBe(403);
  });
});
