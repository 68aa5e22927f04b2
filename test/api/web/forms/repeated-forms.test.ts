import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '#api/operations.ts';
import { successStatus } from '#api/pipeline/answers/receipt-answer.ts';
import { pages } from '#api/web/paths.ts';
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

/** The fields of the form of a page, as they are shown. */
async function fieldsOf(path: string): Promise<Record<string, string>> {
  const form = /<form class="form"[\s\S]*?<\/form>/.exec((await owner.get(path)).text)?.[0] ?? '';
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)].map(([input]) => input);
  const attributeOf = (input: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1];
  return Object.fromEntries(
    inputs.map((input) => [attributeOf(input, 'name') ?? '', attributeOf(input, 'value') ?? '']),
  );
}

/** Sends the form of a page twice. Returns where each of them led. */
async function sendTwice(path: string, typed: Record<string, string> = {}) {
  const form = { ...(await fieldsOf(path)), ...typed };
  const [first, second] = [await owner.submit(path, form), await owner.submit(path, form)];
  expect(first.status, first.text).toBe(303);
  return { first: first.location, second: second.location };
}

const makeProject = () => tenant.owner.make('/projects', { team_id: tenant.team, name: `P ${newId()}` });
const variable = { name: 'size', value: 'small', category: 'template' };

describe('a form that is sent twice with its key', () => {
  test('leads to the same page after a deletion, although the thing no longer exists', async () => {
    const { id, name } = await makeProject();
    const environment = `/environments/${tenant.environment}`;
    expect((await tenant.owner.put(`${environment}/variables`, { variables: [variable] })).status).toBe(200);
    for (const path of [`/projects/${id}/delete`, `${environment}/variables/size/delete`]) {
      const { first, second } = await sendTwice(path, path.includes('projects') ? { confirmation: String(name) } : {});
      expect([path, second]).toEqual([path, first]);
    }
  });

  test('leads to the same page after a change, archiving and a transfer', async () => {
    const { id, name } = await makeProject();
    const path = `/organizations/${tenant.organization}/teams`;
    const { id: other } = await tenant.owner.make(path, { name: 'Other', slug: `other-${newId().slice(-6)}` });
    const sent = [
      ['edit', { name: 'Renamed' }],
      ['archive', {}],
      ['unarchive', {}],
      ['transfer', { team_id: other, confirmation: 'Renamed' }],
    ] as const;
    expect(name).not.toBe('Renamed');
    for (const [what, typed] of sent) {
      const { first, second } = await sendTwice(`/projects/${id}/${what}`, typed);
      expect([what, second]).toEqual([what, first]);
    }
  });

  test('leads to the same page if it is sent at the same time', async () => {
    const { id } = await makeProject();
    const form = { ...(await fieldsOf(`/projects/${id}/edit`)), name: 'At once' };
    const answers = await Promise.all([1, 2, 3].map(() => owner.submit(`/projects/${id}/edit`, form)));
    expect(new Set(answers.map(({ status, location }) => `${status} ${location}`)).size, answers[1]?.text).toBe(1);
  });

  test('answers 404 to another user who sends the same form', async () => {
    const { id, name } = await makeProject();
    const form = { ...(await fieldsOf(`/projects/${id}/delete`)), confirmation: String(name) };
    const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
    expect((await owner.submit(`/projects/${id}/delete`, form)).status).toBe(303);
    expect((await stranger.submit(`/projects/${id}/delete`, form)).status).toBe(404);
  });

  test('creates one resource, and redirects to it both times', async () => {
    const form = { key: newId(), team_id: tenant.team, name: 'Twice', slug: '', description: '' };
    const first = await owner.submit('/projects/new', form);
    const second = await owner.submit('/projects/new', form);
    expect([first.status, second.status, second.location]).toEqual([303, 303, first.location]);
    const { body } = await tenant.owner.get(`/projects?team_id=${tenant.team}`);
    expect(body.projects.filter(({ name }: { name: string }) => name === 'Twice')).toHaveLength(1);
  });

  test('is refused with other values, and shown again with a new key', async () => {
    const form = { key: newId(), team_id: tenant.team, name: 'First', slug: '', description: '' };
    await owner.submit('/projects/new', form);
    const again = await owner.submit('/projects/new', { ...form, name: 'Other' });
    expect(again.status).toBe(409);
    const [, key] = /name="key" value="([^"]+)"/.exec(again.text) ?? [];
    expect(key).not.toBe(form.key);
    expect((await owner.submit('/projects/new', { ...form, name: 'Other', key: key! })).status).toBe(303);
  });

  test('shows a secret once, and says so the second time', async () => {
    const sent = { key: newId(), name: 'ci', expires_at: '' };
    expect((await owner.submit('/profile/api-keys', sent)).status).toBe(201);
    const again = await owner.submit('/profile/api-keys', sent);
    expect([again.status, again.text.includes('shown only once')]).toEqual([409, true]);
  });
});

test('exactly the commands whose response cannot be read later are declared with showsOnce', () => {
  const commands = operations.filter((each) => each.kind === 'command');
  const showing = commands.filter((command) => {
    // Every repetition is answered the same receipt.
    if (command.answersReceipt) return false;
    const shown = command.responses[successStatus(command)];
    return command.at
      ? successStatus(command) !== 204 && command.at.responses[200] !== shown
      : 201 in command.responses;
  });
  const idsOf = (listed: readonly { readonly id: string }[]) => listed.map(({ id }) => id);
  expect(idsOf(commands.filter(({ showsOnce }) => showsOnce))).toEqual(idsOf(showing));
});

/** The pages that make something, at addresses without parameters. */
const makingPages = Object.values(pages).filter((path) => path.endsWith('/new') && !path.includes(':'));

test.each(makingPages.filter((path) => path !== pages.newUser))(
  'the form of %s has an idempotency key, even if it accepts an address that may be a secret',
  async (path) => {
    const admin = await signInVisitor(api, await api.addUser('admin'));
    const paths = path === pages.newNotificationChannel ? [path, `${path}?of=webhook`] : [path];
    if (path === pages.newSchedule) paths.push(`${path}?starts=assembly_run`);
    for (const each of paths) {
      const form = /<form class="form"[\s\S]*?<\/form>/.exec((await admin.get(each)).text)?.[0];
      expect(form, each).toContain('name="key"');
    }
  },
);

test('the form that sends a password has no idempotency key, so that no receipt depends on the password', async () => {
  const admin = await signInVisitor(api, await api.addUser('admin'));
  expect((await admin.get('/users/new')).text).toMatch(/<form class="form"(?:(?!name="key")[\s\S])*?<\/form>/);
});

test('the form of a webhook that is sent twice creates one webhook, and says so', async () => {
  const form = { ...(await fieldsOf('/admin/webhooks/new')), name: 'Sent twice', url: 'https://1.1.1.1/hooks' };
  const sent = { ...form, owner: tenant.team, events: 'run.*', enabled: 'yes' };
  const [first, second] = [
    await owner.submit('/admin/webhooks/new', sent),
    await owner.submit('/admin/webhooks/new', sent),
  ];
  expect([first.status, second.status, second.text.includes('shown only once')], first.text).toEqual([201, 409, true]);
  const { webhooks } = (await tenant.owner.get('/admin/webhooks')).body;
  expect(webhooks.filter(({ name }: { name: string }) => name === 'Sent twice')).toHaveLength(1);
});
