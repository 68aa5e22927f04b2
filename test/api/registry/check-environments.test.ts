import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxCheck } from '#domain/registry/checks/model.ts';
import { type OpenedSources, openCheckSources } from '#domain/registry/checks/module-sources.ts';
import type { ToolModules } from '#domain/registry/checks/modules.ts';
import { endCheck } from '#domain/registry/checks/steps.ts';
import { readCheckResult } from '#domain/registry/checks/store.ts';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

/** The connections that a check may use, and what the version stores of it. Without a worker, every check is made after the publication. */
const token = 'the-token-of-acme-91c4';
const url = 'https://127.0.0.1:9/acme/';
const spec = { executor: { kind: 'opentofu', files: { 'main.tf': '' } } };
const digest = `sha256:${'a'.repeat(64)}`;
const modules: KeptModules = {
  digest,
  list: [{ key: 'network', source: `git::${url}network.git`, version: null, digest }],
  content: Buffer.from('packed'),
  locks: { linux_amd64: '# the lock file' },
};
const { locks } = modules;
const passed: SandboxCheck = {
  state: 'passed',
  tool: { name: 'opentofu', version: '1.11.0' },
  errors: [],
  warnings: [],
  notChecked: [],
};

let api: TestApi;
let tenant: Tenant;
let foreign: Tenant;
let publisher: ApiUser;
let administrator: ApiUser;
let made = 0;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  [tenant, foreign] = [await makeTenant(api), await makeTenant(api)];
  administrator = await api.addUser('admin');
  publisher = await api.addUser('maintainer');
  await join(tenant, publisher, 'member', 'admin');
  const connection = await administrator.make('/admin/connections', {
    name: 'modules',
    kind: 'git',
    config: { url },
    credentials: { token },
  });
  const bound = await tenant.owner.put(`/environments/${tenant.environment}/connections`, {
    modules: { connection_id: connection.id },
  });
  expect(bound.status, bound.text).toBe(200);
});
afterAll(() => api?.close());

async function makeTemplate(by: ApiUser, teamId: string | null = tenant.team): Promise<string> {
  const name = `Checked ${++made}`;
  return (await by.make('/registry/templates', { name, ...(teamId && { team_id: teamId }) })).id;
}

const publish = (by: ApiUser, template: string, environment: string, version = '1.0.0') =>
  by.post(`/registry/templates/${template}/versions`, { version, spec, check_environment_id: environment });

/** Publishes a version whose check waits for a worker. Answers the id of the check. */
async function publishUnchecked(by: ApiUser, template: string, environment = tenant.environment): Promise<string> {
  const published = await publish(by, template, environment);
  expect(published, published.text).toMatchObject({ status: 201, body: { check: { state: 'not_done' } } });
  const [check] = await api.rows<{ id: string }>('select id from template_checks where template_id = ?', [template]);
  return check?.id ?? '';
}

const open = (id: string): Promise<OpenedSources> =>
  api.services.transactions.run((tx) => openCheckSources(tx, api.services.keyRing, id));
const end = (id: string, result: SandboxCheck, resolved: readonly ToolModules[] = [{ tool: 'opentofu', modules }]) =>
  api.services.transactions.run((tx) => endCheck(tx, id, result, resolved));
const readKept = (template: string) =>
  api.rows<{ environment_id: string | null; tool: string; digest: string; locks: object }>(
    `select m.environment_id, m.tool, m.digest, m.locks from template_version_modules m
     join template_versions v on v.id = m.template_version_id where v.template_id = ?`,
    [template],
  );

describe.each(['versions', 'versions/check'])('the environment of a check at %s', (route) => {
  const ask = async (by: ApiUser, template: string, environment: string) =>
    by.post(`/registry/templates/${template}/${route}`, {
      ...(route === 'versions' && { version: '1.0.0' }),
      spec,
      check_environment_id: environment,
    });

  it('is hidden from callers who may not read it, whether it exists or not', async () => {
    const template = await makeTemplate(tenant.owner);
    const missing = await ask(tenant.owner, template, '01900000-0000-7000-8000-000000000000');
    const foreigner = await ask(tenant.owner, template, foreign.environment);
    expect([missing.status, foreigner.status]).toEqual([404, 404]);
    expect(foreigner.body.error ?? foreigner.text).toEqual(missing.body.error ?? missing.text);
  });

  it('requires connection:use', async () => {
    const template = await makeTemplate(tenant.owner);
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'member');
    const installation = await makeTemplate(administrator, null);
    expect(await ask(member, template, tenant.environment)).toMatchObject({ status: 403 });
    expect(await ask(member, installation, tenant.environment)).toMatchObject({ status: 403 });
  });

  it('must belong to the team of the template', async () => {
    const template = await makeTemplate(tenant.owner);
    const refused = await ask(administrator, template, foreign.environment);
    expect(refused, refused.text).toMatchObject({ status: 422 });
    expect(refused.text).toContain('another team');
  });
});

describe('a check that waits for a worker', () => {
  it('gets the connections of its environment, and of no other', async () => {
    const template = await makeTemplate(tenant.owner);
    const { sources, problem } = await open(await publishUnchecked(tenant.owner, template));
    expect(problem).toBeNull();
    expect(sources).toMatchObject([{ kind: 'git', url, credential: { password: token } }]);
    const own = await makeTemplate(foreign.owner, foreign.team);
    expect(await open(await publishUnchecked(foreign.owner, own, foreign.environment))).toEqual({
      sources: [],
      problem: null,
    });
  });

  it('gets no connections once its requester may no longer use them', async () => {
    const template = await makeTemplate(publisher);
    const check = await publishUnchecked(publisher, template);
    expect((await open(check)).sources).toHaveLength(1);
    await tenant.owner.put(`${tenant.teamPath}/members/${publisher.id}`, { role: 'member' });
    const { sources, problem } = await open(check);
    expect(sources).toEqual([]);
    expect(problem).toMatch(/may no longer use them/);
    await tenant.owner.put(`${tenant.teamPath}/members/${publisher.id}`, { role: 'admin' });
  });

  it.each([
    ['was revoked', (key: string) => api.rows('update api_keys set revoked_at = now() where id = ?', [key])],
    ['has expired', (key: string) => api.rows('update api_keys set expires_at = now() where id = ?', [key])],
  ])('gets no connections once the API key of its request %s', async (words, end) => {
    const leaving = await api.addUser('maintainer');
    await join(tenant, leaving, 'member', 'admin');
    const template = await makeTemplate(leaving);
    const check = await publishUnchecked(leaving, template);
    expect((await open(check)).sources).toHaveLength(1);
    const [{ id }] = (await api.rows('select id from api_keys where principal_id = ?', [leaving.id])) as [
      { id: string },
    ];
    await end(id);
    const { sources, problem } = await open(check);
    expect(sources).toEqual([]);
    expect(problem).toContain(words);
  });

  it('leaves an audit record of each connection that it got, for the owners of the environment', async () => {
    const template = await makeTemplate(publisher);
    const check = await publishUnchecked(publisher, template);
    const records = () =>
      api.rows(
        `select actor_name, resource_type, team_id, after from audit_records where action = 'connection.used' and after->>'template_id' = ?`,
        [template],
      );
    expect(await records()).toEqual([]);
    await open(check);
    expect(await records()).toEqual([
      {
        actor_name: 'template checks',
        resource_type: 'connections',
        team_id: tenant.team,
        after: expect.objectContaining({
          check_id: check,
          environment_id: tenant.environment,
          name: 'modules',
          requested_by: publisher.id,
        }),
      },
    ]);
    expect(JSON.stringify(await records())).not.toContain(token);
    const own = await makeTemplate(foreign.owner, foreign.team);
    await open(await publishUnchecked(foreign.owner, own, foreign.environment));
    const [{ count }] = (await api.rows(
      `select count(*) from audit_records where action = 'connection.used' and team_id = ?`,
      [foreign.team],
    )) as [{ count: string }];
    expect(Number(count)).toBe(0);
  });

  it('sends no secret to the engine and the database', async () => {
    expect(JSON.stringify(await api.rows('select * from template_checks'))).not.toContain(token);
  });
});

describe('the modules of a check', () => {
  it('are used by all runs of a version of the team', async () => {
    const template = await makeTemplate(tenant.owner);
    await end(await publishUnchecked(tenant.owner, template), passed);
    expect(await readKept(template)).toEqual([{ environment_id: null, tool: 'opentofu', digest, locks }]);
  });

  it('are stored for each tool that resolved them, even if the publication used the result', async () => {
    const template = await makeTemplate(tenant.owner);
    const others = { ...modules, digest: `sha256:${'b'.repeat(64)}`, content: null };
    const both = [
      { tool: 'terraform', modules: others },
      { tool: 'opentofu', modules },
    ];
    await end(await publishUnchecked(tenant.owner, template), passed, both);
    const wanted = [
      { environment_id: null, tool: 'opentofu', digest, locks },
      { environment_id: null, tool: 'terraform', digest: others.digest, locks },
    ];
    const byTool = (one: { tool: string }, other: { tool: string }) => (one.tool < other.tool ? -1 : 1);
    expect((await readKept(template)).sort(byTool)).toEqual(wanted);
    const id = await publishUnchecked(tenant.owner, await makeTemplate(tenant.owner));
    await api.rows('update template_checks set version_id = null where id = ?', [id]);
    await end(id, passed, both);
    const ended = await readCheckResult(api.services.orm.em.fork(), id);
    const { environment: environmentId } = tenant;
    expect(ended?.modules).toEqual({ environmentId, startedAt: expect.any(String), resolved: both.reverse() });
  });

  it('are used only in the environment of the check if the template belongs to the installation', async () => {
    const template = await makeTemplate(administrator, null);
    await end(await publishUnchecked(administrator, template), passed);
    expect(await readKept(template)).toEqual([{ environment_id: tenant.environment, tool: 'opentofu', digest, locks }]);
  });
});

describe('a version whose check fails after it was published', () => {
  const failed: SandboxCheck = {
    ...passed,
    state: 'failed',
    errors: [{ path: '/executor', file: 'main.tf', line: 3, message: 'Unsupported attribute' }],
  };

  it('publishes an event with the first error', async () => {
    const template = await makeTemplate(tenant.owner);
    await end(await publishUnchecked(tenant.owner, template), failed);
    const first = { path: '/executor', file: 'main.tf', line: 3, message: 'Unsupported attribute' };
    expect(
      await api.rows(
        `select data, team_id from domain_events where subject_id = ? and type = 'template.check_failed'`,
        [template],
      ),
    ).toEqual([{ data: { version: '1.0.0', error_count: 1, first_error: first }, team_id: tenant.team }]);
  });

  it('has runs whose pages show the errors', async () => {
    const template = await makeTemplate(tenant.owner);
    const check = await publishUnchecked(tenant.owner, template);
    const request = { template_id: template, environment_id: tenant.environment, instance: `late-${++made}` };
    const run = (await tenant.owner.post('/runs', request)).body;
    const visitor = await signInVisitor(api, tenant.owner);
    const read = () => visitor.page(`/workloads/runs/${run.id}`);
    expect(await read()).not.toContain('after it was published');
    await end(check, failed);
    expect(await read()).toMatch(/errors in this version after it was published.*main\.tf:3.*Unsupported attribute/s);
  });
});
