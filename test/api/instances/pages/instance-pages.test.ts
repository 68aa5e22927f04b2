import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { seedInstallation } from '#test/support/pages/realistic-installation.ts';

let api: TestApi;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  const { people } = await seedInstallation(api);
  admin = await signIn(people.admin.email);
});
afterAll(() => api?.close());

async function signIn(email: string): Promise<Visitor> {
  const visitor = new Visitor(api.app);
  expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
  return visitor;
}

/** The instance of the seeded installation with the most state versions. */
async function findInstance(): Promise<{ id: string; name: string }> {
  const [row] = await api.rows<{ id: string; name: string }>(
    `select i.id, i.name from instances i join state_versions s on s.instance_id = i.id group by i.id order by count(*) desc, i.id limit 1`,
  );
  return row!;
}

describe('the pages of instances', () => {
  it('list the instances in pages, and filter them by an environment', async () => {
    const all = await admin.get('/workloads/instances');
    expect(all.status).toBe(200);
    const [environment] = await api.rows<{ id: string; name: string }>(
      'select e.id, e.name from environments e join instances i on i.environment_id = e.id limit 1',
    );
    const narrowed = await admin.get(`/workloads/instances?environment_id=${environment!.id}`);
    expect(narrowed.text).toContain(`Only of ${environment!.name}`);
    const rows = (text: string) => text.match(/<tr role="row" data-row/g)?.length ?? 0;
    expect(rows(narrowed.text)).toBeLessThan(rows(all.text));
  });

  it('show resources, outputs without secrets, and state versions that can be compared', async () => {
    const { id, name } = await findInstance();
    const path = `/workloads/instances/${id}`;
    expect((await admin.get(path)).text).toContain(`<h1>${name}</h1>`);
    expect((await admin.get(`${path}?tab=outputs`)).status).toBe(200);
    const states = await admin.get(`${path}?tab=states`);
    expect(states.text).toMatch(/name="from" value="\d+"/);
    expect(states.text).toContain('A downloaded state contains secrets in plain text.');
    const compared = await admin.get(`${path}/compare?from=1&to=2`);
    expect([compared.status, compared.text]).toEqual([200, expect.stringMatching(/ destroy · .* add · \d+ unchanged/)]);
    expect(compared.text).toContain('<h2 id="outputs">Outputs</h2>');
    expect((await admin.get(`${path}/compare?from=1&to=999999`)).status).toBe(404);
    expect((await admin.get(`${path}/state-versions/1`)).text).toContain('Download, secrets included');
  });

  it('find resources by a text in their address', async () => {
    const [row] = await api.rows<{ address: string }>(
      'select address from instance_resources order by address limit 1',
    );
    const found = await admin.get(`/workloads/resources?q=${encodeURIComponent(row!.address)}`);
    expect(found.status).toBe(200);
    expect(found.text).toContain('data-row');
    expect((await admin.get('/workloads/resources?q=no-such-thing')).text).toContain(
      'No resource matches the filters.',
    );
  });

  it('create an instance for existing resources, and delete it while it is empty', async () => {
    const [template] = await api.rows<{ id: string }>(
      'select id from templates where team_id is null and archived_at is null limit 1',
    );
    const form = { template_id: template!.id, environment_id: 'none', name: 'adopted' };
    const place = /<select[^>]*name="environment_id"[\s\S]*?<\/select>/;
    const empty = await admin.get('/workloads/instances/new');
    expect(place.exec(empty.text)?.[0]).toMatch(/<option value=""[^>]*>Choose…<\/option>/);
    expect(empty.text).toContain('An instance outside any environment gets none of them');
    const unmeant = await admin.submit('/workloads/instances/new', { ...form, environment_id: '' });
    expect([unmeant.status, unmeant.text.includes('id="field-environment_id-problem"')]).toEqual([400, true]);
    const wrong = await admin.submit('/workloads/instances/new', { ...form, name: 'Not A Name!' });
    expect([wrong.status, wrong.text.includes('id="field-name-problem"')]).toEqual([400, true]);
    const made = await admin.submit('/workloads/instances/new', form);
    expect(made.location).toMatch(/^\/workloads\/instances\/[0-9a-f-]{36}\?done=created$/);
    const path = made.location!.split('?')[0]!;
    const page = await admin.get(path);
    expect(page.text).toContain('No resources');
    expect(page.text).toContain('Import a state');
    expect((await admin.submit(`${path}/delete`, {})).location).toBe('/workloads/instances');
    expect((await admin.get(path)).status).toBe(404);
  });
});
