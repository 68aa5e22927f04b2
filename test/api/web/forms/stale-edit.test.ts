import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api.close());

const summaryOf = (text: string) =>
  /<div class="notice notice-problem" role="alert"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';

describe('an edit form that was opened before somebody else changed the thing', () => {
  test.each(['project', 'organization'] as const)(
    'an edit form of a %s that somebody else has changed meanwhile says what changed, keeps what was typed, and can be saved again',
    async (kind) => {
      const { owner } = tenant;
      const path = `/${kind}s/${tenant[kind]}`;
      const { revision } = (await owner.get(path)).body;
      await owner.patch(path, { name: 'Changed <b> meanwhile' });
      const visitor = await signInVisitor(api, owner);
      const change = { name: 'Mine', slug: '', ...(kind === 'project' && { description: '' }) };
      const stale = await visitor.submit(`${path}/edit`, { ...change, expected_revision: String(revision) });
      expect(stale.status).toBe(409);
      const summary = summaryOf(stale.text);
      expect(summary).toContain(
        'Another person changed this after you opened the form, or you did in another tab. Nothing was saved.',
      );
      expect(summary).toContain('Changed &lt;b&gt; meanwhile');
      expect(summary).toContain('value="Mine"');
      expect(summary).not.toContain('#field-expected_revision');
      expect(summary).toContain(`name="expected_revision" value="${revision + 1}"`);
      expect((await owner.get(path)).body.name).toBe('Changed <b> meanwhile');
      const again = await visitor.submit(`${path}/edit`, { ...change, expected_revision: String(revision + 1) });
      expect(again.status, again.text).toBe(303);
      expect((await owner.get(path)).body.name).toBe('Mine');
    },
  );

  test('does not list a field that has the same value in both', async () => {
    const { owner, project } = tenant;
    const path = `/projects/${project}`;
    const { revision, name } = (await owner.get(path)).body;
    await owner.patch(path, { description: 'Theirs' });
    const change = { name, slug: '', description: 'Mine', expected_revision: String(revision) };
    const { text } = await (await signInVisitor(api, owner)).submit(`${path}/edit`, change);
    const named = [...summaryOf(text).matchAll(/<li><a href="#field-([^"]+)">/g)].map(([, field]) => field);
    expect(named).toContain('description');
    expect(named).not.toContain('name');
  });
});

test('an edit form that is out of date gets the present values of fields that the visitor did not change', async () => {
  const { owner, project } = tenant;
  const path = `/projects/${project}`;
  await owner.patch(path, { description: 'Before' });
  const visitor = await signInVisitor(api, owner);
  const opened = untouched((await visitor.get(`${path}/edit`)).text);
  await owner.patch(path, { description: 'Theirs' });
  const stale = await visitor.submit(`${path}/edit`, { ...opened, name: 'Only the name', description: 'Before' });
  expect(stale.status).toBe(409);
  expect(stale.text).toMatch(/<textarea[^>]*name="description"[^>]*>\s*Theirs</);
  expect(stale.text).toContain('value="Only the name"');
  const shown = { ...untouched(stale.text), description: 'Theirs' };
  expect((await visitor.submit(`${path}/edit`, shown)).status).toBe(303);
  expect((await owner.get(path)).body).toMatchObject({ name: 'Only the name', description: 'Theirs' });
});

test("an edit form that is out of date keeps the visitor's value of a field that another person changed too", async () => {
  const { owner, project } = tenant;
  const path = `/projects/${project}`;
  const visitor = await signInVisitor(api, owner);
  const opened = untouched((await visitor.get(`${path}/edit`)).text);
  await owner.patch(path, { description: 'Theirs again' });
  const typed = { ...opened, description: 'Mine' };
  for (const opened_with of [opened['opened_with'] ?? '', 'nonsense', 'null', '[1]']) {
    const stale = await visitor.submit(`${path}/edit`, { ...typed, opened_with });
    expect(stale.status).toBe(409);
    expect(stale.text).toMatch(/<textarea[^>]*name="description"[^>]*>\s*Mine</);
    expect(summaryOf(stale.text)).toContain('Theirs');
  }
});

test.each(['organization', 'team'] as const)(
  'the settings form of a %s that is out of date gets the present values of fields that the visitor did not change',
  async (kind) => {
    const { owner } = tenant;
    const path = kind === 'team' ? tenant.teamPath : `/organizations/${tenant.organization}`;
    const visitor = await signInVisitor(api, owner);
    const opened = untouched((await visitor.get(`${path}/edit`)).text);
    expect((await owner.patch(path, { slug: `theirs-${kind}` })).status).toBe(200);
    const stale = await visitor.submit(`${path}/edit`, { ...opened, name: 'Only the name' });
    expect(stale.status, stale.text).toBe(409);
    expect(stale.text).toMatch(new RegExp(`name="slug"[^>]* value="theirs-${kind}"`));
    expect((await visitor.submit(`${path}/edit`, untouched(stale.text))).status).toBe(303);
    expect((await owner.get(path)).body).toMatchObject({ name: 'Only the name', slug: `theirs-${kind}` });
  },
);

describe('an edit form of values that may be secret', () => {
  test('an edit form of a variable that may be secret shows the value that somebody else has stored', async () => {
    const { owner, environment } = tenant;
    const path = `/environments/${environment}/variables/COLOUR`;
    await owner.put(path, { value: 'red', category: 'env' });
    const visitor = await signInVisitor(api, owner);
    const opened = untouched((await visitor.get(path)).text);
    await owner.put(path, { value: 'alpha', category: 'env' });
    const stale = await visitor.submit(path, { ...opened, plan: 'yes', apply: 'yes', value: 'beta' });
    expect(stale.status, stale.text).toBe(409);
    expect(summaryOf(stale.text)).toContain('alpha');
    expect(stale.text).not.toContain('The current values are the same as yours');
  });

  test('an edit form of a channel says that its address may be another one now', async () => {
    const { owner, team } = tenant;
    const config = { url: 'https://1.1.1.1/first' };
    const channel = { kind: 'slack', config, team_id: team, name: 'Chat' };
    const { id } = (await owner.post('/admin/notification-channels', channel)).body;
    const path = `/admin/notification-channels/${id}`;
    const visitor = await signInVisitor(api, owner);
    const opened = untouched((await visitor.get(`${path}/edit`)).text);
    await owner.patch(path, { config: { url: 'https://1.1.1.1/theirs' } });
    const stale = await visitor.submit(`${path}/edit`, { ...opened, 'config.url': 'https://1.1.1.1/mine' });
    expect(stale.status, stale.text).toBe(409);
    expect(stale.text).not.toContain('The current values are the same as yours');
  });
});

/** What a browser sends from the form of a page that nobody has typed into. */
function untouched(text: string): Record<string, string> {
  const form = /<form class="form"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
  const inputs = [...form.matchAll(/<input[^>]* name="([^"]+)"[^>]*>/g)].filter(
    ([tag]) => !/type="(?:checkbox|radio)"/.test(tag),
  );
  const chosen = [...form.matchAll(/<input type="radio" name="([^"]+)" value="([^"]*)"[^>]* checked/g)];
  const selected = [...form.matchAll(/<select[^>]* name="([^"]+)"[\s\S]*?<option value="([^"]*)" selected/g)];
  return Object.fromEntries([
    ...inputs.map(([tag, name]) => [name, (/ value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&quot;', '"')]),
    ...[...chosen, ...selected].map(([, name, value]) => [name, value]),
  ]);
}

test.each([
  ['an environment', (): string => `/environments/${tenant.environment}`, '/edit', '', { name: 'Theirs' }, 'Theirs'],
  ['a pool', (): string => '/workloads/pools/stale', '', '/worker-pools/stale', { isolation: 'sandbox' }, 'sandbox'],
] as const)(
  'a form of %s that is out of date says what changed, and can be saved again',
  async (_kind, page, edit, route, change, shown) => {
    const admin = await api.addUser('admin');
    if (route) await admin.make('/worker-pools', { name: 'stale' });
    const visitor = await signInVisitor(api, admin);
    const opened = untouched((await visitor.get(page() + edit)).text);
    expect((await admin.patch(route || page(), change)).status).toBe(200);
    const stale = await visitor.submit(page() + edit, opened);
    expect(stale.status, stale.text).toBe(409);
    expect(summaryOf(stale.text)).toContain(
      'Another person changed this after you opened the form, or you did in another tab.',
    );
    expect(summaryOf(stale.text)).toContain(shown);
    const revision = /name="expected_revision" value="(\d+)"/.exec(summaryOf(stale.text))?.[1] ?? '';
    const { key: _used, ...typed } = opened;
    const key = /name="key" value="([^"]+)"/.exec(summaryOf(stale.text))?.[1] ?? '';
    const again = await visitor.submit(page() + edit, { ...typed, key, expected_revision: revision });
    expect(again.status, again.text).toBe(303);
  },
);

test('a problem of a hidden field is shown without a link to the field', async () => {
  const { owner, project } = tenant;
  const visitor = await signInVisitor(api, owner);
  const change = { name: 'Mine', slug: '', description: '', expected_revision: 'none' };
  const refused = await visitor.submit(`/projects/${project}/edit`, change);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('This form is out of date. Open the page again.');
  expect(refused.text).not.toContain('href="#field-expected_revision"');
});

test('an edit form without its revision is refused', async () => {
  const { owner, project } = tenant;
  const visitor = await signInVisitor(api, owner);
  const refused = await visitor.submit(`/projects/${project}/edit`, { name: 'Unseen', slug: '', description: '' });
  expect(refused.status).toBe(400);
  expect((await owner.get(`/projects/${project}`)).body.name).not.toBe('Unseen');
});
