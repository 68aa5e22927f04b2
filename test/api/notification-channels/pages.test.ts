import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
let endpoint: Endpoint;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(() => api.rows('delete from notification_channels'));

const settings = { owner: '', name: 'On call <b>', enabled: 'yes' };
const revisionOf = async (path: string) => String((await tenant.owner.get(path)).body.revision);

/** Creates a channel with the form. Returns the path of its page. */
async function make(kind: string, fields: object): Promise<string> {
  const { status, text, location } = await visitor.submit(`/admin/notification-channels/new?of=${kind}`, {
    ...settings,
    owner: tenant.organization,
    ...fields,
  });
  expect(status, text).toBeLessThan(400);
  return location?.split('?')[0] ?? /href="(\/admin\/notification-channels\/[0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
}

const mailed = () => make('email', { 'config.recipients': 'a@example.com\nb@example.com' });
const chat = () => make('slack', { 'config.url': endpoint.url });

describe('the pages of notification channels', () => {
  it('create a channel of each kind, and show once the secret of a webhook', async () => {
    const path = await mailed();
    const page = await visitor.get(path);
    expect(page.text).toContain('<h1>On call &lt;b&gt;</h1>');
    expect(page.text).toContain('a@example.com, b@example.com');
    expect(page.text).not.toContain('Rotate the secret');
    const signed = await visitor.submit('/admin/notification-channels/new?of=webhook', {
      ...settings,
      owner: tenant.team,
      'config.url': endpoint.url,
    });
    expect(signed.text).toMatch(/value="whsec_[^"]+"/);
    expect((await visitor.get('/admin/notification-channels')).text.match(/>On call &lt;b&gt;</g)).toHaveLength(2);
  });

  it('ask only for what the selected kind needs, and require it', async () => {
    const fieldsOf = async (query: string) => {
      const { text } = await visitor.get(`/admin/notification-channels/new${query}`);
      const [, current] = /<legend>Type<\/legend>.*?aria-current="true">([^<]+)<\/button>/s.exec(text) ?? [];
      return [
        current,
        [...text.matchAll(/<(?:input|textarea)[^>]*name="(config[^"]+)"[^>]*\brequired\b/g)].map(([, name]) => name),
      ];
    };
    // No mail server is set, so e-mail is not what is chosen at first.
    expect(await fieldsOf('')).toEqual(['Signed webhook', ['config.url']]);
    expect(await fieldsOf('?of=email')).toEqual(['E-mail', ['config.recipients']]);
    expect(await fieldsOf('?of=webhook')).toEqual(['Signed webhook', ['config.url']]);
    expect(await fieldsOf('?of=slack')).toEqual(['Chat (Slack)', ['config.url']]);
    expect((await visitor.get('/admin/notification-channels/new?of=fax')).status).toBe(400);
  });

  it('say on which line a recipient is wrong, once for each line', async () => {
    const typed = {
      ...settings,
      owner: tenant.team,
      'config.recipients': 'a@example.com\r\n\r\nbad one@\r\nb@example.com',
    };
    const { status, text } = await visitor.submit('/admin/notification-channels/new?of=email', typed);
    expect(status).toBe(400);
    expect(text).toContain('Recipients</a>: Line 3: Enter an e-mail address such as ana@example.com.<');
    expect(text.match(/Line 3/g)).toHaveLength(2);
    expect(text).not.toContain('recipients[');
  });

  it('keep what was typed when another kind is selected, except the URL', async () => {
    const form = { ...settings, owner: tenant.team, 'config.recipients': 'a@example.com', other_kind: 'yes' };
    const { status, text } = await visitor.submit('/admin/notification-channels/new?of=slack', form);
    expect(status, text).toBe(200);
    expect(text).toContain('value="On call &lt;b&gt;"');
    expect(text).toContain('name="config.url"');
    expect(text).not.toContain('a@example.com');
    const typed = { ...settings, 'config.url': 'https://chat.example.com/secret-of-address', other_kind: 'yes' };
    const again = await visitor.submit('/admin/notification-channels/new?of=webhook', typed);
    expect([again.status, again.text.includes('secret-of-address')]).toEqual([200, false]);
    expect((await tenant.owner.get('/admin/notification-channels')).body.notification_channels).toEqual([]);
  });

  it('say what is wrong with a URL in terms of the page', async () => {
    const form = { ...settings, owner: tenant.organization, 'config.url': '' };
    const { status, text } = await visitor.submit('/admin/notification-channels/new?of=webhook', form);
    expect([status, text.includes('Enter the URL.')]).toEqual([400, true]);
    expect(text).not.toMatch(/config\.url: /i);
  });

  it('say together what is wrong with owner, name and URL', async () => {
    for (const [kind, field] of [
      ['slack', 'URL'],
      ['email', 'Recipients'],
    ]) {
      const { status, text } = await visitor.submit(`/admin/notification-channels/new?of=${kind}`, { name: '' });
      const named = [...text.matchAll(/<li><a href="#field[^"]+">(\w+)<\/a>: /g)].map(([, label]) => label);
      expect([status, named.toSorted()]).toEqual([400, [field, 'Name', 'Owner'].toSorted()]);
    }
  });

  it('say from the start that a channel cannot send e-mail if no mail server is configured', async () => {
    const path = await mailed();
    const problem = 'this installation sends no e-mail: an operator can set COORDINATOR_SMTP_URL';
    expect((await tenant.owner.get(path)).body).toMatchObject({ enabled: true, problem });
    expect((await tenant.owner.get('/admin/notification-channels')).body.notification_channels).toMatchObject([
      { problem },
    ]);
    expect((await visitor.get(path)).text).toContain('Messages do not arrive: This installation sends no e-mail');
    expect((await tenant.owner.get(await chat())).body.problem).toBeNull();
  });

  it('keep the URL unless another one is typed, and never show it', async () => {
    const path = await chat();
    const typed = { name: 'Days', enabled: 'yes', expected_revision: await revisionOf(path) };
    expect((await visitor.submit(`${path}/edit`, { ...typed, 'config.url': '' })).status).toBe(303);
    const edit = await visitor.get(`${path}/edit`);
    expect(edit.text).not.toContain(endpoint.url);
    expect((await tenant.owner.get(path)).body).toMatchObject({ name: 'Days', revision: 2 });
    const refused = { ...typed, expected_revision: '2', 'config.url': 'https://169.254.169.254/secret-path' };
    const answer = await visitor.submit(`${path}/edit`, refused);
    expect([answer.status, answer.text.includes('secret-path')]).toEqual([422, false]);
  });

  it('add subscriptions to an environment and a team, and remove one', async () => {
    const path = await mailed();
    const add = async (fields: object) =>
      visitor.submit(`${path}/subscriptions/new`, { expected_revision: await revisionOf(path), ...fields });
    expect((await add({ place: tenant.environment, 'run-finished': 'yes' })).status).toBe(303);
    expect((await add({ place: tenant.team, 'drift_monitor-drifted': 'yes' })).status).toBe(303);
    expect((await add({ place: tenant.team })).text).toContain('elect at least one event');
    expect((await tenant.owner.get(path)).body.subscriptions).toMatchObject([
      { events: ['*'] },
      { environment_id: tenant.environment, events: ['run.finished'] },
      { team_id: tenant.team, events: ['drift_monitor.drifted'] },
    ]);
    expect((await visitor.get(path)).text).toContain('Network / Development');
    const still = 'its subscription to everything that its owner owns brings these events as well.';
    expect((await visitor.get(`${path}/subscriptions/1/remove`)).text).toContain(still);
    const lead = 'The channel stops sending messages about everything that its owner owns. It still sends what';
    expect((await visitor.get(`${path}/subscriptions/0/remove`)).text).toContain(lead);
    const removed = await visitor.submit(`${path}/subscriptions/0/remove`, {
      expected_revision: await revisionOf(path),
    });
    expect(removed.status).toBe(303);
    expect((await tenant.owner.get(path)).body.subscriptions).toHaveLength(2);
    expect((await visitor.get(`${path}/subscriptions/2/remove`)).status).toBe(404);
  });

  it('say that a wider subscription covers the one that is added, until the wider one is removed', async () => {
    const path = await mailed();
    const typed = async () => ({ expected_revision: await revisionOf(path), place: tenant.environment });
    const added = await visitor.submit(`${path}/subscriptions/new`, { ...(await typed()), 'run-finished': 'yes' });
    expect((await visitor.get(added.location ?? '')).text).toContain('so this one changes nothing until you remove');
    const note = 'Changes nothing: the subscription to everything that its owner owns brings the same events.';
    expect((await visitor.get(path)).text.split(note)).toHaveLength(2);
    await visitor.submit(`${path}/subscriptions/0/remove`, { expected_revision: await revisionOf(path) });
    expect((await visitor.get(path)).text).not.toContain(note);
    const other = await visitor.submit(`${path}/subscriptions/new`, {
      ...(await typed()),
      'drift_monitor-drifted': 'yes',
    });
    expect(other.location).toContain('done=subscribed');
    expect((await visitor.get(other.location ?? '')).text).not.toContain('changes nothing');
  });

  it('a subscription without a place and an event is refused with both', async () => {
    const path = await mailed();
    const sent = await visitor.submit(`${path}/subscriptions/new`, { expected_revision: await revisionOf(path) });
    expect(sent.status).toBe(400);
    for (const problem of ['Select at least one event below.', 'Choose one.']) expect(sent.text).toContain(problem);
    expect(sent.text).not.toContain('subscriptions[');
  });

  it('refuse to remove a subscription that somebody else has changed meanwhile', async () => {
    const path = await mailed();
    const revision = await revisionOf(path);
    await tenant.owner.patch(path, { subscriptions: [{ team_id: tenant.team, events: ['*'] }] });
    const stale = await visitor.submit(`${path}/subscriptions/0/remove`, { expected_revision: revision });
    expect(stale.status).toBe(409);
    expect((await tenant.owner.get(path)).body.subscriptions).toHaveLength(1);
  });

  it('show the result of a test', async () => {
    const path = await chat();
    expect((await visitor.submit(`${path}/test`, {})).text).toContain('Every recipient accepted the test.');
    endpoint.answers = { status: 500 };
    expect((await visitor.submit(`${path}/test`, {})).text).toContain('The address answered 500.');
    endpoint.answers = { status: 204 };
  });

  it('delete a channel', async () => {
    const path = await chat();
    expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/admin/notification-channels?done=deleted');
    expect((await visitor.get(path)).status).toBe(404);
  });
});
