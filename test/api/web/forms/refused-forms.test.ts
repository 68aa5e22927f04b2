import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillPath } from '#api/pipeline/answers/location.ts';
import { type PagePattern, pages } from '#api/web/paths.ts';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let viewer: Visitor;
let administrator: Visitor;
/** The parameters of addresses, by the beginning of the path. Other paths get a random id. */
let things: readonly (readonly [prefix: string, params: Record<string, string>])[];

beforeAll(async () => {
  api = await startApi();
  const tenant = await makeTenant(api);
  const { owner, organization, team, project, environment } = tenant;
  const user = await api.addUser('requester');
  await join(tenant, user, 'member', 'viewer');
  viewer = await signInVisitor(api, user);
  administrator = await signInVisitor(api, await api.addUser('admin'));
  const { id: template } = await owner.make('/registry/templates', { name: 'Greeter', team_id: team });
  await owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec: sayHello });
  const { body: run } = await owner.post('/runs', { template_id: template, environment_id: environment });
  await owner.put(`/environments/${environment}/variables/region`, { value: 'eu', category: 'template' });
  const account = await owner.make('/service-accounts', { name: 'ci', role: 'requester', owner: { team_id: team } });
  things = [
    ['/catalog', { id: template, version: '1.0.0' }],
    ['/workloads/runs', { id: run.id }],
    ['/workloads/instances', { id: run.instance_id, serial: '1' }],
    ['/workloads/pools', { name: 'default' }],
    ['/environments', { id: environment, name: 'region' }],
    ['/projects', { id: project }],
    ['/organizations', { orgID: organization, id: team, userID: owner.id }],
    ['/service-accounts', { id: account.id, keyID: randomUUID() }],
    ['/users', { id: owner.id }],
  ];
});
afterAll(() => api?.close());

/** Everybody may open the first ones; the form of a review stands on the page of its run. */
const others: readonly PagePattern[] = [pages.login, pages.passwordReset, pages.acceptInvitation, pages.reviewRun];
/** The pages that have a form which is sent to their own address. */
const formPages = (): PagePattern[] =>
  Object.values(pages).filter(
    (url) =>
      !others.includes(url) && ['GET', 'POST'].every((method) => api.app.hasRoute({ method: method as 'GET', url })),
  );

function addressOf(pattern: PagePattern): string {
  const [, params] = things.find(([prefix]) => pattern.startsWith(prefix)) ?? ['', { id: randomUUID() }];
  return fillPath(pattern, { id: randomUUID(), ...params });
}

/** The bodies of the forms that a page sends to its own address. */
function ownForms(text: string, path: string): string[] {
  const forms = [...text.matchAll(/<form[^>]*method="post"[^>]*action="([^"?]*)[^"]*"[^>]*>([\s\S]*?)<\/form>/g)];
  return forms.flatMap(([, action, body = '']) => (action === path ? [body] : []));
}

/** What a browser sends if nothing is typed. */
function fieldsOf(form: string): Record<string, string> {
  const inputs = [...form.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]+)"[^>]*>/g)];
  return Object.fromEntries(
    inputs
      .filter(([tag]) => !/type="(?:checkbox|radio|file)"/.test(tag))
      .map(([tag, name = '']) => [name, / value="([^"]*)"/.exec(tag)?.[1] ?? '']),
  );
}

test("the pages of a team's viewer have no form that the viewer may not send", async () => {
  const patterns = formPages();
  expect(patterns.length).toBeGreaterThan(50);
  const refused: string[] = [];
  let reasons = 0;
  for (const pattern of patterns) {
    const path = addressOf(pattern);
    const { status, text } = await viewer.get(path);
    if (status !== 200) {
      expect([403, 404], pattern).toContain(status);
      continue;
    }
    const forms = ownForms(text, path);
    if (forms.length === 0) reasons += 1;
    for (const form of forms) {
      if (text.includes('enctype="multipart/form-data"')) refused.push(`${pattern} offers files`);
      else if ((await viewer.submit(path, fieldsOf(form))).status === 403) refused.push(pattern);
    }
  }
  expect(refused).toEqual([]);
  expect(reasons).toBeGreaterThan(20);
});

describe('a form about something that does not exist', () => {
  test('answers 404', async () => {
    const id = randomUUID();
    const none = { id, orgID: id, userID: id, keyID: id, invitationID: id, name: 'zzz', version: '9.9.9', serial: '9' };
    const shown: unknown[] = [];
    for (const pattern of formPages().filter((each) => each.includes(':'))) {
      // Also where only the last parameter names nothing.
      const last = /:(\w+)(?!.*:)/.exec(pattern)?.[1] ?? '';
      const known = things.find(([prefix]) => pattern.startsWith(prefix))?.[1] ?? {};
      const paths = [fillPath(pattern, none), fillPath(pattern, { ...none, ...known, [last]: none[last as 'id'] })];
      for (const path of paths) {
        const { status } = await administrator.get(path);
        // A named user is refused whether or not there is one.
        if (status !== (path.startsWith('/users') ? 403 : 404)) shown.push([path, status]);
      }
    }
    expect(shown).toEqual([]);
  });
});

describe('a form that the visitor may not send', () => {
  test('is replaced by an explanation', async () => {
    const reasons = [];
    for (const pattern of [
      pages.newProject,
      pages.cancelRun,
      pages.deleteRun,
      pages.yankVersion,
      pages.freezeWindows,
    ]) {
      const path = addressOf(pattern);
      const { status, text } = await viewer.get(path);
      reasons.push([status, ownForms(text, path).length, /Permission denied: this needs/.test(text)]);
    }
    expect(reasons).toEqual(reasons.map(() => [200, 0, true]));
  });
});
