import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the settings form keeps a notice of several lines as typed, and shows in a stale form only what others changed', async () => {
  const admin = await api.addUser('admin');
  const visitor = await signInVisitor(api, admin);
  const { revision } = (await admin.get('/admin/settings')).body;
  // A browser sends each line break of a text area as CR LF.
  const typed = { sign_in_notice: 'one\r\ntwo', expected_revision: String(revision) };
  const saved = await visitor.submit('/admin/settings/sign-in', typed);
  expect(saved.status, saved.text).toBe(303);
  expect((await admin.get('/admin/settings')).body.sign_in_notice).toBe('one\ntwo');
  const stale = await visitor.submit('/admin/settings/sign-in', typed);
  expect(stale.status).toBe(409);
  const summary = /role="alert"[\s\S]*?<\/div><\/div>/.exec(stale.text)?.[0] ?? '';
  expect(summary).toContain('Another person changed this');
  expect(summary).not.toContain('Notice on the sign-in page');
});

it('the error page of a feature that is turned off links to the settings for users who may turn it on', async () => {
  const admin = await api.addUser('admin');
  const turn = (schedules: object) => admin.patch('/admin/settings', { features: { schedules } });
  expect((await turn({ enabled: false, reason: 'It costs too much.' })).status).toBe(200);
  const link = 'You can turn it on again in the <a href="/admin/settings/features">settings</a>.';
  const theirs = await (await signInVisitor(api, admin)).get('/schedules');
  expect([theirs.status, theirs.text.includes(link)]).toEqual([403, true]);
  const others = await (await signInVisitor(api, await api.addUser('requester'))).get('/schedules');
  expect([others.status, others.text.includes('/admin/settings')]).toEqual([403, false]);
  expect(others.text).toContain('An administrator of the installation can turn it on again.');
  expect((await turn({ enabled: true })).status).toBe(200);
});

it.each(['terrafrom *', '__proto__ *'])(
  'entering "%s" as an allowed tool is refused with the names of the tools',
  async (line) => {
    const visitor = await signInVisitor(api, await api.addUser('admin'));
    const { status, text } = await visitor.submit('/admin/settings/tools', { allowed_tools: line });
    expect(status).toBe(400);
    const [name] = line.split(' ');
    expect(text).toContain(`There is no tool &quot;${name}&quot;: name opentofu, terraform or command.`);
    expect(text).not.toContain('allowed_tools.');
  },
);

it('a section of the settings keeps its address when its form is refused, and changes nothing of other sections', async () => {
  const admin = await api.addUser('admin');
  const visitor = await signInVisitor(api, admin);
  await admin.patch('/admin/settings', { sign_in_notice: 'Kept' });
  const refused = await visitor.submit('/admin/settings/retention', { 'retention.audit': 'soon' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('action="/admin/settings/retention"');
  expect(refused.text).toContain('href="/admin/settings/retention" data-key="3" aria-current="page"');
  const saved = await visitor.submit('/admin/settings/retention', { 'retention.audit': '400' });
  expect(saved.location).toBe('/admin/settings/retention?done=saved');
  const { body } = await admin.get('/admin/settings');
  expect([body.retention.audit, body.sign_in_notice]).toEqual([400, 'Kept']);
  expect((await visitor.get('/admin/settings/nothing')).status).toBe(404);
});

it('a feature is turned off by its switch with a reason, and on again by the switch alone', async () => {
  const admin = await api.addUser('admin');
  const visitor = await signInVisitor(api, admin);
  const read = async () => (await admin.get('/admin/settings')).body.features;
  const names = Object.keys(await read());
  const on = Object.fromEntries(names.map((name) => [`features.${name}.enabled`, 'yes']));
  const submit = (typed: Record<string, string>) => visitor.submit('/admin/settings/features', { ...on, ...typed });
  const page = await visitor.get('/admin/settings/features');
  expect(page.text.match(/role="switch"[^>]*checked/g)).toHaveLength(names.length);

  const refused = await submit({ 'features.drift.enabled': '' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('Say why Drift detection is off.');
  expect((await read()).drift.enabled).toBe(true);

  const off = { 'features.drift.enabled': '', 'features.drift.reason': 'We move at noon.' };
  expect((await submit(off)).status).toBe(303);
  expect((await read()).drift).toMatchObject({ enabled: false, reason: 'We move at noon.' });
  expect((await visitor.get('/admin/settings/features')).text).toContain('value="We move at noon."');
  expect((await submit({ ...off, 'features.drift.reason': 'We moved.' })).status).toBe(303);
  expect((await read()).drift.reason).toBe('We moved.');

  expect((await submit({ 'features.drift.reason': 'We moved.' })).status).toBe(303);
  expect((await read()).drift).toMatchObject({ enabled: true, reason: null });
});
