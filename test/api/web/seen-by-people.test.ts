import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';

/** The pages of a realistic installation show visitors what they need, and nothing that they cannot use. */

let api: TestApi;
let installation: Installation;
let admin: Visitor;
const visitors = new Map<PersonKey, Visitor>();

beforeAll(async () => {
  api = await startApi();
  installation = await seedInstallation(api);
  admin = await visit('admin');
});
afterAll(() => api?.close());

/** A person who has signed in by the form, once for all tests. */
async function visit(who: PersonKey): Promise<Visitor> {
  const known = visitors.get(who);
  if (known) return known;
  const visitor = await signInVisitor(api, installation.people[who]);
  visitors.set(who, visitor);
  return visitor;
}

async function open(who: PersonKey, path: string): Promise<string> {
  const { status, text } = await (await visit(who)).get(path);
  expect(status, text).toBe(200);
  return text;
}

const runPath = (key: keyof Installation['runs']) => `/workloads/runs/${installation.runs[key].id}`;

describe('the start page', () => {
  it('shows a run that waits for its visitor only once', async () => {
    const text = await open('reviewer', '/');
    const shown = [...text.matchAll(/id="start-([0-9a-f-]{36})"/g)].map(([, id]) => id);
    expect(shown).toContain(installation.runs.needsApproval.id);
    expect(shown.filter((id) => id === installation.runs.needsApproval.id)).toHaveLength(1);
    expect(textOf(text)).toContain('Needs your approval');
  });
});

describe('the page of a run', () => {
  it('has no comment field for a visitor who may not decide, and gives the reason once', async () => {
    const text = await open('viewer', `${runPath('needsApproval')}?tab=plan`);
    expect(text).not.toContain('Comment with your review');
    expect(textOf(text).match(/Reviewing takes/g)).toHaveLength(1);
    for (const id of ['why-not-approve', 'why-not-reject']) expect(text.split(`id="${id}"`)).toHaveLength(2);
  });

  it('the page of a run that timed out without an approval opens at its plan', async () => {
    expect(await open('reviewer', runPath('timedOut'))).toMatch(/tab=plan"[^>]*aria-current="page"/);
    expect(await open('reviewer', runPath('failed'))).toMatch(/tab=log"[^>]*aria-current="page"/);
  });

  it('asks about running again with a plain button, and about canceling with one that warns', async () => {
    expect(await open('reviewer', `${runPath('failed')}/requeue`)).toMatch(/button-primary" type="submit">Run again/);
    expect(await open('reviewer', `${runPath('needsApproval')}/cancel`)).toMatch(
      /button-danger" type="submit">Cancel the run/,
    );
  });
});

describe('the page of an instance', () => {
  it('the page of an instance that a run has deployed links to its team, and does not offer to undo an import', async () => {
    const { id, team } = installation.runs.needsApproval.instance;
    const text = await open('reviewer', `/workloads/instances/${id}`);
    expect(text).not.toContain('Undo the import');
    expect(text).toContain(`href="/organizations/${team.organizationId}/teams/${team.id}"`);
  });

  it('is in the path of its sub-pages, as an environment and a pool are', async () => {
    const { id } = installation.runs.destroyed.instance;
    const { id: environment } = installation.environments.networkProduction;
    const things: [PersonKey, string, string[]][] = [
      ['admin', `/workloads/instances/${id}`, ['delete', 'unlock', 'state']],
      [
        'owner',
        `/environments/${environment}`,
        ['edit', 'archive', 'delete', 'lock', 'freeze-windows', 'new-variable'],
      ],
      ['admin', '/workloads/pools/edge', ['delete']],
    ];
    for (const [who, path, pages] of things)
      for (const page of pages) {
        const crumbs = /<nav class="crumbs".*?<\/nav>/s.exec(await open(who, `${path}/${page}`))?.[0];
        expect(crumbs, page).toMatch(new RegExp(`href="${path}["?]`));
      }
  });
});

describe('lists', () => {
  it('lists of environments say what blocks applies now', async () => {
    const words = textOf(await open('reviewer', '/environments'));
    for (const hold of ['Locked', 'Frozen']) expect(words).toContain(hold);
  });

  it('lists of versions show changelogs without Markdown syntax', async () => {
    const text = await open('reviewer', `/catalog/${installation.templates.network.id}?tab=versions`);
    expect(text).toContain('Moves every subnet: plan first, and expect moved entries.');
    expect(text).not.toContain('**');
  });
});

describe('the page of a pool', () => {
  it('links to its teams, and adds a selected team', async () => {
    const path = '/workloads/pools/payments-restricted';
    const { payments, platform } = installation.teams;
    const { text } = await admin.get(path);
    expect(text).toContain(`href="/organizations/${payments.organizationId}/teams/${payments.id}"`);
    const [, listed] = /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? [];
    expect(listed).toMatch(new RegExp(`^[^\\n]+ / ${payments.name}$`));
    const fields = {
      team_ids: listed ?? '',
      add_team: platform.id,
      environment_ids: '',
      add_environment: '',
      isolation: '',
      'egress.policy': 'internet',
      'egress.allow': '',
      expected_revision: /name="expected_revision" value="(\d+)"/.exec(text)?.[1] ?? '',
    };
    const wrong = await admin.submit(path, {
      ...fields,
      team_ids: `${listed}\nNo such team`,
      environment_ids: 'Nowhere',
    });
    expect(wrong.text).toMatch(/id="field-team_ids-problem"[\s\S]*matches no team that you may choose/);
    expect(wrong.text).toMatch(/id="field-environment_ids-problem"[\s\S]*matches no environment that you may choose/);
    expect((await admin.submit(path, fields)).location).toBe('/workloads/workers?done=pool-saved');
    const { body } = await installation.people.admin.get('/worker-pools/payments-restricted');
    expect(body.team_ids.toSorted()).toEqual([payments.id, platform.id].toSorted());
  });

  it('lists the present teams with their ids after another person has saved other teams', async () => {
    const path = '/workloads/pools/payments-restricted';
    const { payments, platform } = installation.teams;
    const { people } = installation;
    const saved = await people.admin.patch('/worker-pools/payments-restricted', { team_ids: [payments.id] });
    expect(saved.status, saved.text).toBe(200);
    const text = await admin.page(path);
    const listedIn = (page: string) => /name="listed_teams" value="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(listedIn(text)).toMatch(new RegExp(`^${payments.id} [^\\n]+$`));
    await people.admin.patch('/worker-pools/payments-restricted', { team_ids: [platform.id] });
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const sent = Object.fromEntries(hidden.map(([, name, value = '']) => [name, value.replaceAll('&quot;', '"')]));
    const [, listed = ''] = /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? [];
    const fields = { isolation: '', 'egress.policy': 'internet', 'egress.allow': '' };
    const stale = await admin.submit(path, { ...sent, ...fields, team_ids: listed });
    expect(stale.status).toBe(409);
    expect(listedIn(stale.text)).toMatch(new RegExp(`^${platform.id} [^\\n]+$`));
  });
});

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

describe('the pages of workers', () => {
  it('show pools with waiting runs, workers with their state, and drain one', async () => {
    const page = await admin.get('/workloads/workers');
    for (const text of ['Draining', 'Gone', 'payments-restricted', 'Slots in use']) expect(page.text).toContain(text);
    const id = /href="\/workloads\/workers\/([0-9a-f-]{36})"/.exec(page.text)?.[1];
    const worker = await admin.get(`/workloads/workers/${id}`);
    expect(worker.text).toContain('Last heartbeat');
    const question = await admin.get(`/workloads/workers/${id}/drain`);
    const key = /name="key" value="([^"]+)"/.exec(question.text)?.[1] ?? '';
    expect((await admin.submit(`/workloads/workers/${id}/drain`, { key })).location).toBe(
      '/workloads/workers?done=draining',
    );
  });

  it('have pages of pools, and keep the page of the workers', async () => {
    await api.rows(
      `insert into worker_pools (name, created_at) select 'many-' || n, now() from generate_series(1, 60) n`,
    );
    const first = await admin.get('/workloads/workers');
    const next = /href="([^"]*pool_cursor=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await admin.get(next);
    const poolLink = /href="\/workloads\/pools\/((?!new")[^"/]+)"/g;
    const poolsOf = (text: string) => [...text.matchAll(poolLink)].flatMap(([, name]) => name ?? []);
    const [some, others] = [poolsOf(first.text), poolsOf(second.text)];
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((name) => some.includes(name))).toEqual([]);
    await api.rows(`delete from worker_pools where name like 'many-%'`);
  });

  it('change the rules of a pool, and refuse a stale form', async () => {
    const rules = {
      name: '',
      team_ids: 'none',
      environment_ids: '',
      isolation: 'sandbox',
      'egress.policy': 'none',
      'egress.allow': '',
    };
    expect((await admin.submit('/workloads/pools/new', { ...rules, name: 'batch' })).status).toBe(303);
    const form = await admin.get('/workloads/pools/batch');
    expect(form.text).toContain('\nnone</textarea>');
    const { name: _, ...present } = rules;
    const changed = { ...present, team_ids: '', expected_revision: '1' };
    expect((await admin.submit('/workloads/pools/batch', changed)).location).toBe('/workloads/workers?done=pool-saved');
    expect((await admin.submit('/workloads/pools/batch', { ...changed, team_ids: 'none' })).status).toBe(409);
    expect((await admin.submit('/workloads/pools/batch/delete', {})).location).toBe(
      '/workloads/workers?done=pool-deleted',
    );
  });

  it('pause all applies and end the pause, only for administrators', async () => {
    expect((await admin.submit('/workloads/apply-pause', { reason: 'Maintenance', until: '' })).location).toBe(
      '/workloads/apply-pause',
    );
    expect((await admin.get('/workloads/apply-pause')).text).toContain('All applies are paused');
    expect((await admin.submit('/workloads/apply-pause/end', {})).location).toBe('/workloads/workers');
    const owner = await visit('owner');
    expect((await owner.get('/workloads/apply-pause')).status).toBe(403);
    expect(await owner.page('/workloads/workers')).not.toContain('Pause all applies');
  });
});

describe('the tool of an instance', () => {
  /** An instance that is deployed and idle. */
  let instance: { id: string; environment_id: string };
  let reader: Visitor;

  beforeAll(async () => {
    reader = await visit('requester');
    const [row] = await api.rows<{ id: string; environment_id: string }>(
      `select i.id, i.environment_id from instances i join runs d on d.id = i.deployed_run_id join template_versions v on v.id = d.template_version_id
       where i.environment_id is not null and d.operation = 'apply' and v.spec #>> '{executor,kind}' = 'opentofu'
         and not exists (select 1 from runs r where r.instance_id = i.id and r.finished_at is null) order by i.id limit 1`,
    );
    instance = row!;
    await api.rows(
      `update instances set tool = 'terraform', tool_version = '1.11.4', resource_count = 3 where id = ?`,
      [instance.id],
    );
  });

  it('is switched by a button of its page, and the page of the run says what it does', async () => {
    const path = `/workloads/instances/${instance.id}`;
    expect((await admin.get(path)).text).toContain('Switch to OpenTofu');
    const form = await admin.get(`${path}/tool`);
    expect(form.text).toContain('Terraform 1.11.4 wrote its state.');
    const wrong = await admin.submit(`${path}/tool`, { 'tool.name': 'opentofu', 'tool.version': 'newest' });
    expect(wrong.status).toBe(400);
    expect(/id="field-tool.version-problem"[^>]*>([\s\S]{0,300})/.exec(wrong.text)?.[1] ?? wrong.text).toContain(
      'such as',
    );
    const done = await admin.submit(`${path}/tool`, { 'tool.name': 'opentofu', 'tool.version': '~> 1.12' });
    expect(done.location).toMatch(/^\/workloads\/runs\/[0-9a-f-]{36}$/);
    const run = await admin.get(done.location!);
    expect(run.text).toContain('This run switches the instance to OpenTofu ~&gt; 1.12.');
  });

  it('warns in the form of a switch that no live worker has the tool, until one has it', async () => {
    const path = `/workloads/instances/${instance.id}/tool`;
    const tools = (names: string[]) =>
      api.rows('update workers set tools = ?', [JSON.stringify(names.map((name) => ({ name, version: '1.11.4' })))]);
    await tools(['terraform']);
    const warned = (await admin.get(path)).text;
    expect(warned).toContain('No live worker has OpenTofu.');
    expect(warned).toContain('All other runs of the instance would wait behind it');
    expect(warned).toContain('OpenTofu (no live worker has it)');
    await tools(['terraform', 'opentofu']);
    expect((await admin.get(path)).text).not.toContain('o live worker has');
  });

  it('cannot be switched by a visitor who may not change it, and the form says why', async () => {
    const form = await reader.get(`/workloads/instances/${instance.id}/tool`);
    expect([200, 403, 404]).toContain(form.status);
    expect(form.text).not.toContain('Plan the switch</button>');
  });

  it('the form of an environment sets its required tool, and its page shows it', async () => {
    const path = `/environments/${instance.environment_id}`;
    await api.rows(`update workers set tools = '[{"name":"opentofu","version":"1.12.6"}]'`);
    expect((await admin.get('/environments/new')).text).toContain('Terraform (no live worker has it)');
    const form = await admin.get(`${path}/edit`);
    const value = (name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(form.text)?.[1] ?? '';
    const typed = {
      name: value('name'),
      slug: value('slug'),
      kind: /<select[^>]*name="kind"[\s\S]*?value="(\w+)" selected/.exec(form.text)?.[1] ?? '',
      'approval_policy.when': 'never',
      'approval_policy.required': '0',
      expected_revision: value('expected_revision'),
    };
    const wrong = await admin.submit(`${path}/edit`, { ...typed, 'tool.version': '~> 1.9' });
    expect(wrong.text).toContain('Choose the tool that these versions are of');
    const done = await admin.submit(`${path}/edit`, { ...typed, 'tool.name': 'terraform', 'tool.version': '~> 1.9' });
    expect(done.status, done.text).toBe(303);
    expect((await admin.get(`${path}?tab=protection`)).text).toContain('Runs use Terraform ~&gt; 1.9');
  });
});
