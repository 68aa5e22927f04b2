import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

interface Place extends Tenant {
  readonly template: string;
  readonly run: { readonly id: string; readonly instance_id: string };
}

let api: TestApi;
let mine: Place;
let others: Place;
let rareVersion: string;

const key = crypto.randomUUID();

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: 'localhost' });
  mine = await makePlace(key);
  others = await makePlace();
  const versions = `/registry/templates/${mine.template}/versions`;
  rareVersion = (await mine.owner.make(versions, { version: '7.31.0-RC.1', spec: sayHello })).id;
});
afterAll(() => api?.close());

async function makePlace(idempotencyKey?: string): Promise<Place> {
  const tenant = await makeTenant(api);
  const { owner, team, environment } = tenant;
  const template = await owner.make('/registry/templates', { name: 'Zebra network', team_id: team });
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const body = { template_id: template.id, environment_id: environment, instance: 'zebra' };
  const { body: run } = await owner.post('/runs', body, idempotencyKey ? { 'idempotency-key': idempotencyKey } : {});
  return { ...tenant, template: template.id, run };
}

const search = async (caller: ApiUser, text: string) => {
  const { status, body, text: raw } = await caller.get(`/search?q=${encodeURIComponent(text)}`);
  expect(status, raw).toBe(200);
  return body.results.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`);
};

async function request({ owner, template, environment }: Place, message: string): Promise<string> {
  const body = { template_id: template, environment_id: environment, instance: 'zebra', operation: 'plan', message };
  return (await owner.post('/runs', body)).body.id;
}

/** Lists a resource of an instance, as its state would. */
async function hold(instance: string, team: string, address: string): Promise<string> {
  const id = crypto.randomUUID();
  await api.rows(
    `insert into instance_resources (id, instance_id, team_id, address, type, name) values (?, ?, ?, ?, 'random_pet', 'x')`,
    [id, instance, team, address],
  );
  return id;
}

describe('a search', () => {
  it('finds resources by a part of their name in any case, and only those that the caller may read', async () => {
    expect(await search(mine.owner, 'ZEBRA')).toEqual([
      `run ${mine.run.id}`,
      `instance ${mine.run.instance_id}`,
      `template ${mine.template}`,
    ]);
    expect(await search(others.owner, 'zebra')).toEqual([
      `run ${others.run.id}`,
      `instance ${others.run.instance_id}`,
      `template ${others.template}`,
    ]);
    const admin = await api.addUser('admin');
    expect(await search(admin, 'zebra')).toHaveLength(6);
  });

  it('finds the newest runs of an instance by its name, and links to all of them', async () => {
    const older = await request(mine, '');
    const newest = await request(mine, 'a zebra crosses');
    const found = await search(mine.owner, 'zebra');
    expect(found.slice(0, 3)).toEqual([`run ${newest}`, `run ${older}`, `run ${mine.run.id}`]);
    const visitor = await signInVisitor(api, mine.owner);
    const page = await visitor.page('/search?q=Zebra');
    expect(page).toContain(`/workloads/runs?instance_id=${mine.run.instance_id}"`);
    expect(page).toContain('All runs of');
  });

  it('finds the one resource whose page address was pasted', async () => {
    const path = `/workloads/runs/${mine.run.id}`;
    for (const address of [path, `https://coordinator.example${path}?tab=plan#log`, `http://127.0.0.1:8080${path}/`]) {
      expect(await search(mine.owner, address)).toEqual([`run ${mine.run.id}`]);
      const visitor = await signInVisitor(api, mine.owner);
      expect((await visitor.get(`/search?q=${encodeURIComponent(address)}`)).location).toBe(path);
    }
    expect(await search(others.owner, path)).toEqual([]);
  });

  it('finds nothing of an area that an administrator has turned off', async () => {
    const { owner, team } = mine;
    const { id } = await owner.make('/variable-sets', { name: 'Wombat', team_id: team });
    const root = await api.addUser('admin');
    const turn = (variable_sets: object) => root.patch('/admin/settings', { features: { variable_sets } });
    expect((await turn({ enabled: false, reason: 'a test' })).status).toBe(200);
    expect(await search(owner, 'wombat')).toEqual([]);
    expect(await search(owner, id)).toEqual([]);
    expect((await turn({ enabled: true })).status).toBe(200);
    expect(await search(owner, 'wombat')).toEqual([`variable_set ${id}`]);
  });

  it('finds the variable sets of every owner that the caller may read, with the name of the owner', async () => {
    const { owner, organization, team, project } = mine;
    const made = [];
    for (const of of [{ organization_id: organization }, { team_id: team }, { project_id: project }])
      made.push((await owner.make('/variable-sets', { name: 'Quokka', ...of })).id);
    expect((await search(owner, 'quokka')).sort()).toEqual(made.map((id) => `variable_set ${id}`).sort());
    expect(await search(others.owner, 'quokka')).toEqual([]);
    const { body } = await owner.get('/search?q=quokka');
    const contexts = body.results.map(({ context }: { context: string }) => context);
    const names = await Promise.all(
      [`/organizations/${organization}`, `/organizations/${organization}/teams/${team}`, `/projects/${project}`].map(
        async (path) => (await owner.get(path)).body.name,
      ),
    );
    expect(contexts.sort()).toEqual(names.sort());
  });

  it.each([
    ['connection', '/admin/connections', { kind: 'generic', credentials: { variables: { TOKEN: 'numbat-token' } } }],
    ['webhook', '/admin/webhooks', { url: 'https://localhost/hook', events: ['run.*'] }],
  ] as const)('finds a %s only for users who may read it', async (kind, path, more) => {
    const { owner, team } = mine;
    const made = await owner.make(path, { name: `Numbat ${kind}`, team_id: team, ...more });
    const text = `numbat ${kind}`;
    expect(await search(owner, text)).toEqual([`${kind} ${made.id}`]);
    expect(await search(owner, made.id)).toEqual([`${kind} ${made.id}`]);
    expect(await search(others.owner, text)).toEqual([]);
    const requester = await api.addUser('requester');
    await join(mine, requester, 'member', 'viewer');
    expect((await requester.get(`${path}/${made.id}`)).status).not.toBe(200);
    expect(await search(requester, text)).toEqual([]);
    expect(await search(requester, 'zebra')).toContain(`template ${mine.template}`);
  });

  it('finds a schedule, which its audit record links, by its name and a piece of its id, and not for another tenant', async () => {
    const { owner, team, template, environment } = mine;
    const work = { run: { template_id: template, environment_id: environment, instance: 'zebra' } };
    const schedule = { cron: '0 3 * * *', timezone: 'UTC' };
    const { id } = await owner.make('/schedules', { team_id: team, name: 'Nightly Potoroo', schedule, work });
    for (const text of ['potoroo', id, id.slice(0, 20), id.slice(-8)]) {
      expect(await search(owner, text), text).toContain(`schedule ${id}`);
      expect(await search(others.owner, text), text).toEqual([]);
    }
    const link = `href="/schedules/${id}"`;
    expect((await (await signInVisitor(api, owner)).get('/search?q=potoroo')).text).toContain(link);
    expect((await (await signInVisitor(api, owner)).get(`/audit?resource_id=${id}`)).text).toMatch(
      new RegExp(`${link}>Nightly Potoroo</a> <span class="muted">schedules`),
    );
  });

  it('finds a drift monitor by the name of its subject and a piece of its id, and not for another tenant', async () => {
    const { owner, environment } = mine;
    const name = (await owner.get(`/environments/${environment}`)).body.name.toLowerCase();
    const { id } = await owner.make('/drift-monitors', { environment_id: environment, schedule: { every: '6h' } });
    for (const text of [name, id, id.slice(0, 20), id.slice(-8)]) {
      expect(await search(owner, text), text).toContain(`drift_monitor ${id}`);
      expect(await search(others.owner, text), text).not.toContain(`drift_monitor ${id}`);
    }
    expect((await (await signInVisitor(api, owner)).get(`/search?q=${name}`)).text).toContain(
      `href="/drift/monitors/${id}"`,
    );
    await owner.delete(`/drift-monitors/${id}`, { 'idempotency-key': crypto.randomUUID() });
    expect(await search(owner, id)).toEqual([]);
  });

  it("finds the installation's connections for all who may use connections, and its webhooks only for administrators", async () => {
    const admin = await api.addUser('admin');
    const generic = { kind: 'generic', credentials: { variables: { TOKEN: 'bilby-token' } } };
    const connection = await admin.make('/admin/connections', { name: 'Bilby', ...generic });
    const hook = { name: 'Bilby', url: 'https://localhost/hook', events: ['run.*'] };
    const webhook = await admin.make('/admin/webhooks', hook);
    expect(await search(mine.owner, 'bilby')).toEqual([`connection ${connection.id}`]);
    expect(await search(admin, 'bilby')).toEqual([`connection ${connection.id}`, `webhook ${webhook.id}`]);
  });

  it('returns at most 10 results of a kind, and the kinds with more results', async () => {
    const { owner, team } = mine;
    for (let number = 0; number < 11; number += 1)
      await owner.make('/projects', { team_id: team, name: `Okapi ${number}`, slug: `okapi-${number}` });
    const { body } = await owner.get('/search?q=okapi');
    expect([body.results.length, body.cut]).toEqual([10, ['project']]);
    expect((await owner.get('/search?q=zebra')).body.cut).toEqual([]);
    const visitor = await signInVisitor(api, owner);
    expect((await visitor.get('/search?q=okapi')).text).toContain('There are more. A longer text finds fewer.');
  });

  it('finds a run by its id and by its idempotency key, only for its readers', async () => {
    expect(await search(mine.owner, mine.run.id)).toEqual([`run ${mine.run.id}`]);
    expect(await search(mine.owner, key.toUpperCase())).toEqual([`run ${mine.run.id}`]);
    expect(await search(others.owner, mine.run.id)).toEqual([]);
  });

  it.each([
    ['run', () => mine.run.id],
    ['instance', () => mine.run.instance_id],
    ['template', () => mine.template],
    ['template_version', () => rareVersion],
  ] as const)('finds a %s by the piece of its id that pages show, and not for another tenant', async (kind, id) => {
    for (const text of [id().slice(-6), `${kind} …${id().slice(-8).toUpperCase()}`, id().slice(0, 20)]) {
      expect(await search(mine.owner, text), text).toContain(`${kind} ${id()}`);
      expect(await search(others.owner, text), text).not.toContain(`${kind} ${id()}`);
    }
    expect(await search(mine.owner, id().slice(-5))).toEqual([]);
  });

  it.each([
    ['environment', () => mine.environment],
    ['project', () => mine.project],
    ['team', () => mine.team],
    ['organization', () => mine.organization],
    ['template', () => mine.template],
    ['instance', () => mine.run.instance_id],
  ] as const)('finds a %s by its id, and not that of another tenant', async (kind, id) => {
    expect(await search(mine.owner, id())).toEqual([`${kind} ${id()}`]);
    expect(await search(others.owner, id())).toEqual([]);
  });

  it('finds people and service accounts for those who share an organization with them, and all users for administrators', async () => {
    const admin = await api.addUser('admin');
    const colleague = await api.addUser('requester', 'Wilhelmine Quoll');
    await join(mine, colleague, 'member');
    const expected = [`user ${colleague.id}`];
    for (const text of ['quoll', colleague.email, colleague.id, colleague.id.slice(-8)]) {
      expect(await search(mine.owner, text), text).toEqual(expected);
      expect(await search(admin, text), text).toEqual(expected);
      expect(await search(others.owner, text), text).toEqual([]);
    }
    const { body } = await mine.owner.get('/search?q=quoll');
    expect(body.results[0]).toMatchObject({ context: colleague.email, parent_id: mine.organization });
    const visitor = await signInVisitor(api, colleague);
    const page = await visitor.get(`/search?q=${encodeURIComponent(mine.owner.email)}`);
    const link = `/organizations/${mine.organization}/members/${mine.owner.id}`;
    expect(page.text).toContain(`href="${link}"`);
    expect((await visitor.get(link)).status).toBe(200);
  });

  it('finds a service account for users who may manage it, and links to its page', async () => {
    const { owner, team } = mine;
    const account = { name: 'Numbat deployer', role: 'requester', owner: { team_id: team } };
    const { id } = await owner.make('/service-accounts', account);
    const admin = await api.addUser('admin');
    for (const text of ['numbat deployer', id, id.slice(-8)]) {
      expect(await search(owner, text), text).toEqual([`service_account ${id}`]);
      expect(await search(admin, text), text).toEqual([`service_account ${id}`]);
      expect(await search(others.owner, text), text).toEqual([]);
    }
    const page = await (await signInVisitor(api, owner)).get('/search?q=numbat+deployer');
    expect(page.text).toContain(`href="/service-accounts/${id}"`);
  });

  it('finds runs by words of their message for users who may read them, and no deleted run', async () => {
    const { owner } = mine;
    const deleted = await request(mine, 'Widen the Aardvark subnets (CHG-4711)');
    const kept = await request(mine, 'widen the aardvark');
    expect(await search(owner, 'chg-4711')).toEqual([`run ${deleted}`]);
    await api.rows("update runs set status = 'canceled', finished_at = now(), deleted_at = now() where id = ?", [
      deleted,
    ]);
    expect(await search(owner, 'WIDEN the aard')).toEqual([`run ${kept}`]);
    expect((await owner.get('/search?q=aardvark')).body.results[0]).toMatchObject({ message: 'widen the aardvark' });
    for (const text of ['chg-4711', 'ardvark', 'aardvark widen']) expect(await search(owner, text), text).toEqual([]);
    expect(await search(others.owner, 'aardvark')).toEqual([]);
  });

  it.each(['random_pet.lemur', 'LEMUR', 'pet.lemur["a/b"]', 'module.zoo.random_pet'])(
    'finds a resource by %j in its address, and only in instances that the caller may read',
    async (text) => {
      const address = 'module.zoo.random_pet.lemur["a/b"]';
      const id = await hold(mine.run.instance_id, mine.team, address);
      expect(await search(mine.owner, text)).toEqual([`resource ${id}`]);
      expect(await search(mine.owner, id)).toEqual([`resource ${id}`]);
      expect(await search(others.owner, text)).toEqual([]);
      expect(await search(others.owner, id)).toEqual([]);
      const { body } = await mine.owner.get(`/search?q=${encodeURIComponent(text)}`);
      expect(body.results).toMatchObject([
        { name: address, context: expect.stringMatching(/^zebra · ./), parent_id: mine.run.instance_id },
      ]);
      await api.rows('delete from instance_resources where id = ?', [id]);
    },
  );

  it('links to the list of all resources if there are more than ten', async () => {
    const made = [];
    for (let number = 0; number < 11; number += 1)
      made.push(await hold(mine.run.instance_id, mine.team, `random_pet.galago[${number}]`));
    const page = await (await signInVisitor(api, mine.owner)).get('/search?q=galago');
    expect(page.text).toContain(`href="/workloads/instances/${mine.run.instance_id}?tab=resources"`);
    expect(page.text).toContain('href="/workloads/resources?q=galago"');
    await api.rows('delete from instance_resources where id = any(?::uuid[])', [`{${made}}`]);
  });

  it.each([
    ['the beginning of its number', (): string => '7.31'],
    ['its number after a v', (): string => 'v7.31.0-rc.1'],
    ["its number after the template's name", (): string => 'zebra NET 7.3'],
    ['its number in any case', (): string => '7.31.0-RC.1'],
    ['its id', (): string => rareVersion],
  ] as const)('finds a version of a template by %s, and not that of another tenant', async (_, text) => {
    expect(await search(mine.owner, text())).toEqual([`template_version ${rareVersion}`]);
    expect(await search(others.owner, text())).toEqual([]);
    const page = await (await signInVisitor(api, mine.owner)).get(`/search?q=${encodeURIComponent('zebra 7.31')}`);
    expect(page.text).toContain(`href="/catalog/${mine.template}/versions/7.31.0-RC.1"`);
  });

  it('looks for the text literally, and finds no deleted resource', async () => {
    const noWords = [
      '%',
      ':*',
      '&',
      '!',
      '-------',
      '_______',
      'a'.repeat(35),
      "'; drop table runs; --",
      '7.31%',
      'ü',
      '\u{1f991}',
    ];
    for (const text of noWords) expect(await search(mine.owner, text), text).toEqual([]);
    const empty = await mine.owner.make('/projects', { team_id: mine.team, name: 'Quagga' });
    expect(await search(mine.owner, 'quagga')).toEqual([`project ${empty.id}`]);
    await mine.owner.delete(`/projects/${empty.id}`, { 'idempotency-key': crypto.randomUUID() });
    expect(await search(mine.owner, 'quagga')).toEqual([]);
  });

  it('a search without a text answers 400', async () => {
    for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(201)}`]) {
      expect((await mine.owner.get(`/search${query}`)).status, query).toBe(400);
    }
  });
});

describe('the page of the search', () => {
  it('lists results by kind, opens the only result for an id, and says if it found nothing', async () => {
    const visitor = await signInVisitor(api, mine.owner);
    const found = await visitor.get('/search?q=zebra');
    expect(found.text).toContain(`href="/workloads/instances/${mine.run.instance_id}"`);
    expect((await visitor.get(`/search?q=${mine.run.id}`)).location).toBe(`/workloads/runs/${mine.run.id}`);
    const nothing = await visitor.get(`/search?q=${encodeURIComponent('<script>')}`);
    expect(nothing.text).toContain('Nothing found');
    expect(nothing.text).not.toContain('<script>');
  });

  it('takes little time if 100,000 addresses contain its words and none contains its text', async () => {
    await api.rows(
      `insert into instance_resources (id, instance_id, team_id, address, type, name)
         select gen_random_uuid(), ?, ?, 'module.dingo.random_pet.wallaby["' || n || '"]', 'random_pet', 'wallaby' from generate_series(1, 100000) n`,
      [mine.run.instance_id, mine.team],
    );
    await api.rows('vacuum analyze instance_resources', []);
    const times: Record<string, number[]> = { 'dingo.random': [], 'random.dingo': [] };
    for (let round = 0; round < 7; round++)
      for (const [text, taken] of Object.entries(times)) {
        const started = performance.now();
        const found = await search(mine.owner, text);
        taken.push(performance.now() - started);
        expect(found.length > 0, text).toBe(text === 'dingo.random');
      }
    const [hit = 0, miss = 0] = Object.values(times).map((taken) => taken.sort((a, b) => a - b)[1]);
    expect(miss).toBeLessThan(hit * 1.8 + 20);
    await api.rows('delete from instance_resources where address like ?', ['module.dingo.%']);
  });
});
