import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addTemplate } from '#test/support/assemblies/assemblies.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let root: ApiUser;
let visitor: Visitor;
let set: string;
let channel: string;

/** Three teams, of which two have the same name in two organizations. Each has a project "Network" with an environment "prod". */
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin');
  const acme = await root.make('/organizations', { name: 'Acme', slug: 'acme' });
  const globex = await root.make('/organizations', { name: 'Globex', slug: 'globex' });
  for (const [organization, name] of [
    [acme.id, 'Core'],
    [acme.id, 'Edge'],
    [globex.id, 'Core'],
  ] as const)
    await addPlace(organization, name);
  set = (await root.make('/variable-sets', { name: 'Common', organization_id: acme.id })).id;
  channel = (
    await root.make('/admin/notification-channels', {
      name: 'Chat',
      kind: 'email',
      config: { recipients: ['a@example.com'] },
      organization_id: acme.id,
      subscriptions: [{ events: ['*'] }],
    })
  ).id;
  visitor = await signInVisitor(api, root);
});
afterAll(() => api?.close());

async function addPlace(organization: string, name: string): Promise<void> {
  const { id: team } = await root.make(`/organizations/${organization}/teams`, { name, slug: name.toLowerCase() });
  const { id: project } = await root.make('/projects', { name: 'Network', team_id: team });
  const { id: environment } = await root.make('/environments', {
    name: 'prod',
    kind: 'production',
    project_id: project,
  });
  const { id: template } = await addTemplate(root, { team });
  await root.make('/instances', { name: 'main', template_id: template, environment_id: environment });
}

/** Returns the labels of the choices of a menu, without the empty choice. */
async function readMenu(page: string, name: string): Promise<string[]> {
  const [, menu = ''] =
    new RegExp(`<select[^>]* name="${name}"[^>]*>(.*?)</select>`, 's').exec(await visitor.page(page)) ?? [];
  return [...menu.matchAll(/<option value="[^"]+"[^>]*>(?:<bdi>)?([^<]*)/g)].map(([, label = '']) => label);
}

const environments = ['Acme / Core / Network / prod', 'Edge / Network / prod', 'Globex / Core / Network / prod'];
const projects = ['Acme / Core / Network', 'Edge / Network', 'Globex / Core / Network'];

it.each([
  ['/schedules/new', 'work.run.environment_id', environments],
  ['/drift/monitors/new', 'environment_id', environments],
  ['/drift/monitors/new', 'instance_id', environments.map((each) => `main in ${each}`)],
  ['/workloads/instances/new', 'environment_id', environments],
  ['/environments/new', 'project_id', projects],
  ['/admin/webhooks/new', 'owner', projects.map((each) => `Project ${each}`)],
  ['/admin/notification-channels/new', 'owner', projects.map((each) => `Project ${each}`)],
  ['/variable-sets/new', 'owner', projects.map((each) => `Project ${each}`)],
  ['/admin/quotas/new', 'owner', environments.map((each) => `Environment ${each}`)],
])('the menu of %s for %s adds the team to places with equal names', async (page, name, expected) => {
  const labels = await readMenu(page, name);
  expect(labels).toEqual(expect.arrayContaining(expected));
  expect(new Set(labels).size).toBe(labels.length);
});

it('the form that attaches a variable set adds the team to places with equal names', async () => {
  const page = await visitor.page(`/variable-sets/${set}/attachments`);
  for (const team of ['Core', 'Edge'])
    for (const place of ['Network: all its environments', 'Network / prod'])
      expect(page).toContain(`${team} / ${place}`);
});

it('the form that adds a subscription adds the team to places with equal names', async () => {
  const labels = await readMenu(`/admin/notification-channels/${channel}/subscriptions/new`, 'place');
  expect(labels).toEqual(
    expect.arrayContaining(['Environment Core / Network / prod', 'Environment Edge / Network / prod']),
  );
});
