import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
let endpoint: Endpoint;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  endpoint.heard.splice(0);
  endpoint.answers = { status: 204 };
});

const settings = (name: string) => ({ name, url: endpoint.url, events: 'project.*', enabled: 'yes' });
const secretOf = (page: string) => /value="(whsec_[^"]+)"/.exec(page)?.[1] ?? '';
const revisionOf = async (path: string) => String((await tenant.owner.get(path)).body.revision);

/** Creates a webhook with the form. Returns the path of its page, and its secret. */
async function makeWebhook(
  name = 'Chat',
  owner = tenant.team,
  by = visitor,
): Promise<{ path: string; secret: string }> {
  const made = await by.submit('/admin/webhooks/new', { owner, ...settings(name) });
  expect(made.status, made.text).toBe(201);
  const path = /href="(\/admin\/webhooks\/[0-9a-f-]{36})"/.exec(made.text)?.[1] ?? '';
  return { path, secret: secretOf(made.text) };
}

async function hearRename(): Promise<void> {
  await tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${randomUUID()}` });
  await sending.work();
}

describe('the pages of webhooks', () => {
  it('create a webhook of each kind of owner, and show its secret only in the response to the form', async () => {
    const owners = [
      [tenant.organization, 'organization_id'],
      [tenant.team, 'team_id'],
      [tenant.project, 'project_id'],
    ] as const;
    for (const [owner, field] of owners) {
      const { path, secret } = await makeWebhook('Chat <b>', owner);
      expect((await tenant.owner.get(path)).body).toMatchObject({ [field]: owner, events: ['project.*'] });
      const page = await visitor.get(path);
      expect(page.text).toContain('<h1>Chat &lt;b&gt;</h1>');
      expect(secret).toMatch(/^whsec_/);
      expect(page.text).not.toContain('whsec_');
    }
    expect((await visitor.get('/admin/webhooks')).text.match(/>Chat &lt;b&gt;</g)).toHaveLength(3);
  });

  it('offer the installation as owner only to administrators', async () => {
    const admin = await signInVisitor(api, await api.addUser('admin'));
    const choice = 'value="installation"';
    expect((await admin.get('/admin/webhooks/new')).text).toContain(choice);
    expect(await visitor.page('/admin/webhooks/new')).not.toContain(choice);
    const { path } = await makeWebhook('Everything', 'installation', admin);
    expect((await admin.get(path)).text).toContain('Owned by the installation');
    expect((await visitor.get(path)).status).toBe(404);
    const tried = await visitor.submit('/admin/webhooks/new', { owner: 'installation', ...settings('Mine') });
    expect(tried.status).toBe(403);
  });

  it('show what is wrong with a form at its fields, and keep what was typed', async () => {
    const form = { owner: tenant.team, ...settings('Typed') };
    const wrong = [
      [{ ...form, events: 'project.*\nbanana.*' }, 'events'],
      [{ ...form, events: '' }, 'events'],
      [{ ...form, name: '' }, 'name'],
      [{ ...form, owner: '' }, 'owner'],
    ] as const;
    for (const [fields, field] of wrong) {
      const { status, text } = await visitor.submit('/admin/webhooks/new', fields);
      expect([status, text.includes(`id="field-${field}-problem"`)], field).toEqual([400, true]);
    }
    const unknown = await visitor.submit('/admin/webhooks/new', { ...form, events: 'banana.*' });
    expect(unknown.text).toContain('There is no event &quot;banana.*&quot;: this page lists all events.');
    expect(unknown.text).not.toContain('/api/v1/');
    expect(unknown.text).toMatch(/<summary>All \d+ events/);
    const refused = await visitor.submit('/admin/webhooks/new', { ...form, url: 'https://10.0.0.1/' });
    expect([refused.status, refused.text.includes('is not on the public network')]).toEqual([422, true]);
    expect(refused.text).toContain('value="Typed"');
  });

  it('say together what is wrong with owner, name, address and events', async () => {
    const { status, text } = await visitor.submit('/admin/webhooks/new', { owner: '', name: '', url: '', events: '?' });
    const named = [...text.matchAll(/<li><a href="#field[^"]+">(\w+)<\/a>: /g)].map(([, label]) => label);
    expect([status, named.toSorted()]).toEqual([400, ['Events', 'Name', 'Owner', 'URL']]);
  });

  it('change, disable and delete a webhook, and refuse a form that is out of date', async () => {
    const { path } = await makeWebhook();
    const revision = await revisionOf(path);
    const change = { ...settings('New name'), events: 'run.*, environment.locked', enabled: '' };
    const sent = await visitor.submit(`${path}/edit`, { ...change, expected_revision: revision });
    expect(sent.location, sent.text).toBe(`${path}?done=saved`);
    const changed = { name: 'New name', enabled: false, events: ['run.*', 'environment.locked'] };
    expect((await tenant.owner.get(path)).body).toMatchObject(changed);
    expect((await visitor.get(path)).text).toContain(
      'gets no events. Deliveries that waited before are sent once it is enabled',
    );
    const late = await visitor.submit(`${path}/edit`, { ...change, expected_revision: revision });
    expect([late.status, late.text.includes('Another person changed this')]).toEqual([409, true]);
    expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/admin/webhooks?done=deleted');
    expect((await visitor.get(path)).status).toBe(404);
  });

  it('rotate the secret, after which both sign, and show the new one once', async () => {
    const { path, secret } = await makeWebhook();
    const form = { expected_revision: await revisionOf(path), key: randomUUID() };
    const rotated = await visitor.submit(`${path}/rotate`, form);
    expect(rotated.status, rotated.text).toBe(201);
    const twice = await visitor.submit(`${path}/rotate`, form);
    expect([twice.status, twice.text.includes('whsec_')]).toEqual([409, false]);
    await hearRename();
    const [heard] = endpoint.heard;
    const secrets = [secret, secretOf(rotated.text)];
    expect(new Set(secrets).size).toBe(2);
    expect(secrets.map((each) => isSignedBy(each, heard!))).toEqual([true, true]);
    const page = await visitor.get(path);
    expect(page.text).toContain('also valid until');
    expect(page.text).not.toContain('whsec_');
  });

  it("send a test, and show the endpoint's response as text", async () => {
    const { path } = await makeWebhook();
    const taken = await visitor.submit(`${path}/test`, {});
    expect(taken.text).toContain('The endpoint accepted the message: 204 after');
    endpoint.answers = { status: 500, text: '<script>alert(1)</script>' };
    const refused = await visitor.submit(`${path}/test`, {});
    expect(refused.text).toContain('The endpoint did not accept the message: 500 after');
    expect(refused.text).toContain('&lt;script&gt;alert(1)');
    expect(endpoint.heard.map(({ body }) => JSON.parse(body).type)).toEqual(['webhook.test', 'webhook.test']);
  });

  it('list deliveries by status, and show the tries of one with the last response', async () => {
    const { path } = await makeWebhook();
    endpoint.answers = { status: 503, text: 'back <soon>' };
    await hearRename();
    const page = await visitor.get(path);
    expect(page.text).toContain('Nothing could be delivered');
    const delivery = /href="(\/admin\/webhooks\/[^"]+\/deliveries\/[0-9a-f-]{36})"/.exec(page.text)?.[1] ?? '';
    const shown = (await visitor.get(delivery)).text;
    for (const part of [
      '<dt>Attempts</dt><dd>1</dd>',
      '503 after',
      'back &lt;soon&gt;',
      '<dt>Next attempt</dt>',
      '<h2>Attempts</h2>',
      'The endpoint answered 503; only 2xx is a delivery.',
      '&quot;type&quot;: &quot;project.updated&quot;',
    ])
      expect(shown).toContain(part);
    expect((await visitor.get(`${path}?status=delivered`)).text).toContain('No matching deliveries');
    expect((await visitor.get(`${path}?status=retrying`)).text).toContain(delivery);
    expect((await visitor.get(`${path}/deliveries/${tenant.team}`)).status).toBe(404);
  });

  it('follow their deliveries, and show newer ones only when the visitor asks for them', async () => {
    const { path } = await makeWebhook();
    await hearRename();
    const opened = (await visitor.get(path)).text;
    const update = /hx-get="([^"]+)"/.exec(opened)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(update).toContain(`${path}?until=`);
    expect(opened).toContain('every 5s');
    const linked = (text: string) => [...text.matchAll(/href="([^"]+\/deliveries\/[^"]+)"/g)].map(([, to]) => to);
    await hearRename();
    const updated = (await visitor.get(update)).text;
    expect(linked(updated)).toEqual(linked(opened));
    expect(updated).toContain('1 new – show');
    expect(linked((await visitor.get(path)).text)).toHaveLength(2);
  });

  it('send the message of a delivery again with the same id, unless the webhook is disabled', async () => {
    const { path } = await makeWebhook();
    await hearRename();
    const delivery = /href="(\/admin\/webhooks\/[^"]+\/deliveries\/[0-9a-f-]{36})"/.exec(
      (await visitor.get(path)).text,
    );
    const again = await visitor.submit(`${delivery?.[1]}/redeliver`, {});
    expect(again.location, again.text).toMatch(/\/deliveries\/[0-9a-f-]{36}\?done=repeated$/);
    await sending.work();
    expect(new Set(endpoint.heard.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(endpoint.heard).toHaveLength(2);
    await tenant.owner.patch(path, { enabled: false });
    expect((await visitor.get(`${delivery?.[1]}/redeliver`)).text).toContain(
      'The webhook is disabled: enable it first',
    );
  });

  it('disable changes for a reader, with the reason, and answer 404 to a stranger', async () => {
    const { path } = await makeWebhook();
    const reader = await api.addUser('maintainer');
    await join(tenant, reader, 'member', 'viewer');
    const reading = await signInVisitor(api, reader);
    const page = await reading.get(path);
    expect([page.status, page.text.match(/aria-disabled="true"/g)?.length]).toEqual([200, 4]);
    for (const form of ['edit', 'test', 'rotate', 'delete'])
      expect((await reading.get(`${path}/${form}`)).text, form).toContain('notice-problem');
    expect((await reading.submit(`${path}/test`, {})).status).toBe(403);
    const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
    expect((await stranger.get(path)).status).toBe(404);
    expect(await stranger.page('/admin/webhooks')).not.toContain(path);
    expect(endpoint.heard).toHaveLength(0);
  });

  it('answer 403 with the reason and are not in the navigation while webhooks are turned off', async () => {
    const admin = await api.addUser('admin');
    const turn = (webhooks: object) => admin.patch('/admin/settings', { features: { webhooks } });
    expect((await turn({ enabled: false, reason: 'Under review' })).status).toBe(200);
    const page = await visitor.get('/admin/webhooks');
    expect([page.status, page.text.includes('Under review')]).toEqual([403, true]);
    expect(await visitor.page('/')).not.toContain('href="/admin/webhooks"');
    expect((await turn({ enabled: true })).status).toBe(200);
    expect((await visitor.get('/')).text).toContain('href="/admin/webhooks"');
  });
});
