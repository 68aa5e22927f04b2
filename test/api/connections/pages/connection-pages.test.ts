import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCredentials } from '#domain/connections/envelope.ts';
import { readSeals } from '#domain/connections/store.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

const secret = 'secret-of-connection-page';
const aws = { 'v/credentials/access_key_id': 'AKIAEXAMPLE00000000', 'v/credentials/secret_access_key': secret };

async function credentialsOf(id: string): Promise<object> {
  const seals = await readSeals(api.services.orm.em.fork(), id);
  return openCredentials(api.services.keyRing, seals!);
}

const revisionIn = (text: string) => /name="expected_revision" value="(\d+)"/.exec(text)?.[1] ?? '';

async function make(name: string): Promise<string> {
  const fields = { owner: tenant.team, name, variables_of: 'AWS', 'v/config/region': 'eu-central-1', ...aws };
  const made = await visitor.submit('/admin/connections/new?of=aws', fields);
  expect(made.status, made.text).toBe(303);
  return made.location?.split('?')[0] ?? '';
}

it('the form creates a connection with the fields of its kind, and its page shows all but the credentials', async () => {
  const path = await make('aws-production');
  const { text } = await visitor.get(`${path}?done=created`);
  for (const shown of ['aws-production', 'eu-central-1', 'AWS_SECRET_ACCESS_KEY', 'Bind it to projects'])
    expect(text).toContain(shown);
  const { text: list } = await visitor.get('/admin/connections');
  expect(list).toContain('aws-production');
  expect(text + list).not.toContain(secret);
  expect(await credentialsOf(path.split('/').at(-1) ?? '')).toMatchObject({ secret_access_key: secret });
});

it('the form for a new connection has the legend Settings without a repeated explanation', async () => {
  const { text } = await visitor.get('/admin/connections/new?of=kubernetes');
  expect(text).toMatch(/<legend[^>]*>(<[^>]+>)*Settings/);
  expect(text).not.toContain('What it opens, such as');
});

it('selecting another kind keeps the typed name and owner, moves the focus to the selected kind, and creates nothing', async () => {
  const typed = { owner: tenant.team, name: 'kept-over-kinds', variables_of: 'AWS', 'v/config/region': 'eu-west-1' };
  const form = await visitor.get('/admin/connections/new?of=aws');
  const button =
    /<button[^>]*name="(?<name>\w+)" value="(?<value>\w+)" formaction="(?<path>[^"]+)"[^>]*>Kubernetes</.exec(form.text)
      ?.groups ?? {};
  expect(button['path']).toBe('/admin/connections/new?of=kubernetes');
  const { status, text } = await visitor.submit(String(button['path']), {
    ...typed,
    ...aws,
    [String(button['name'])]: String(button['value']),
  });
  expect(status, text).toBe(200);
  expect(text).toMatch(/aria-current="true"[^>]* autofocus>Kubernetes</);
  expect(text.match(/ autofocus/g)).toHaveLength(1);
  expect(form.text).not.toContain(' autofocus');
  expect(text).toContain('value="kept-over-kinds"');
  expect(text).toMatch(new RegExp(`value="${tenant.team}"\\s+selected`));
  expect(text).not.toContain('notice-problem');
  expect(text).not.toContain(secret);
  expect(await visitor.page('/admin/connections')).not.toContain('kept-over-kinds');
});

it.each(['nothing', 'constructor', '__proto__'])('the form of the unknown kind %s answers 400', async (of) => {
  const { status, text } = await visitor.get(`/admin/connections/new?of=${of}`);
  expect(status).toBe(400);
  expect(text).toContain('expected one of generic, aws');
});

it("a connection's page names the places that bind it, and neither names nor counts places that are hidden from the visitor", async () => {
  const admin = await api.addUser('admin');
  const credentials = { variables: { TOKEN: 'x' } };
  const { id } = await admin.make('/admin/connections', { name: 'Of everybody', kind: 'generic', credentials });
  const bind = { cloud: { connection_id: id } };
  expect((await tenant.owner.put(`/environments/${tenant.environment}/connections`, bind)).status).toBe(200);
  const path = `/admin/connections/${id}`;
  const { text } = await visitor.get(path);
  expect(text).toContain(`href="/environments/${tenant.environment}">Network / Development</a>`);
  expect(text).not.toContain('nothing that you can see');
  const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
  expect((await stranger.get(path)).text).toContain('nothing that you can see');
});

it("a connection's page and the form that deletes it name the first ten places that bind it", async () => {
  const path = await make('bound-often');
  const bind = { cloud: { connection_id: path.split('/').at(-1) } };
  const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Bound often' });
  expect((await tenant.owner.put(`/projects/${project.id}/connections`, bind)).status).toBe(200);
  for (let at = 0; at < 10; at++) {
    const fields = { project_id: project.id, name: `Place ${at}`, kind: 'development' };
    const { id } = await tenant.owner.make('/environments', fields);
    expect((await tenant.owner.put(`/environments/${id}/connections`, bind)).status).toBe(200);
  }
  for (const page of [path, `${path}/delete`]) {
    const { text } = await visitor.get(page);
    expect(text).toContain(`project <a class="foreign" href="/projects/${project.id}">Bound often</a>`);
    expect(text).toContain('>Bound often / Place 8</a>');
    expect(text).not.toContain('Place 9');
    expect(text).toContain('and 1 more');
  }
});

it('the form that deletes a connection counts the places that its visitor may not read', async () => {
  const path = await make('moved-away');
  const id = path.split('/').at(-1);
  const stranger = await makeTenant(api);
  await api.rows(
    `insert into connection_bindings (id, environment_id, name, connection_id, in_plan, in_apply, bound_by, bound_by_generation, bound_at)
     values (gen_random_uuid(), ?, 'cloud', ?, true, true, ?, 0, now())`,
    [stranger.environment, id, stranger.owner.id],
  );
  for (const page of [path, `${path}/delete`])
    expect((await visitor.get(page)).text).toContain('1 project or environment that you may not read');
});

it("a connection's page says that no place binds it yet", async () => {
  const path = await make('bound-nowhere');
  for (const page of [path, `${path}/delete`]) expect((await visitor.get(page)).text).toContain('nothing yet');
});

it("a connection's page labels settings like the form, describes only its own cloud, and offers the deletion last", async () => {
  const { text } = await visitor.get(await make('labeled'));
  expect(text).toContain('<dt>Region</dt>');
  expect(text).toContain('<dt>Kind</dt><dd>Cloud: AWS</dd>');
  expect(text).not.toContain('Google Cloud');
  expect(text).not.toContain('<dt>provider</dt>');
  expect(text.indexOf('/rename"')).toBeGreaterThan(0);
  expect(text.indexOf('/rename"')).toBeLessThan(text.indexOf('/delete"'));
});

it('a refused form of a connection keeps what was typed, without the secrets', async () => {
  const fields = {
    owner: tenant.team,
    name: 'refused',
    variables_of: 'AWS',
    'v/config/region': 'Not a region',
    ...aws,
  };
  const { status, text } = await visitor.submit('/admin/connections/new?of=aws', fields);
  expect(status).toBe(400);
  expect(text).toContain('Enter a region such as');
  expect(text).toContain('Not a region');
  expect(text).not.toContain(secret);
});

it('a refused form of a connection shows the problems at the fields of its kind, and links to them', async () => {
  const fields = { owner: tenant.team, name: 'half', variables_of: 'Git over SSH', 'v/config/url': 'ssh:' };
  const { status, text } = await visitor.submit('/admin/connections/new?of=git-ssh', fields);
  expect(status).toBe(400);
  expect(text).toMatch(/<a href="#[^"]+">[^<]*url<\/a>: Enter the address where repositories begin/i);
  expect(text).toMatch(/aria-invalid="true"/);
  expect(text).not.toContain('config.url');
  const url = 'ssh://git@git.example.com/acme/';
  const empty = await visitor.submit('/admin/connections/new?of=git-ssh', { ...fields, 'v/config/url': url });
  expect(empty.status).toBe(400);
  expect(empty.text).not.toContain('credentials.private_key');
  expect(empty.text.match(/: Enter (?:a value|the [^.]+)\./g)?.length).toBeGreaterThanOrEqual(2);
});

it('a refused form of a connection shows the problems of owner, name and settings together', async () => {
  const fields = { owner: '', name: '', variables_of: 'Git over HTTPS', 'v/config/url': 'nowhere' };
  const { status, text } = await visitor.submit('/admin/connections/new?of=git-https', fields);
  expect(status).toBe(400);
  expect(text).toMatch(/>Owner<\/a>: Choose the owner\./);
  expect(text).toMatch(/>Name<\/a>: /);
  expect(text).toMatch(/<a href="#[^"]+">[^<]*url<\/a>: Enter the address where repositories begin/i);
  const missing = await visitor.submit('/admin/connections/new?of=kubernetes', { owner: '', name: '' });
  expect(missing.text).toMatch(/>Owner<\/a>: Choose the owner\./);
  expect(missing.text).toMatch(/>Name<\/a>: /);
  for (const name of ['server', 'token'])
    expect(missing.text).toMatch(new RegExp(`<a href="#[^"]+">[^<]*${name}</a>: `, 'i'));
});

it('the form for a connection offers only owners for which the visitor may create one, and keeps what was typed if another is sent', async () => {
  const member = await api.addUser('maintainer');
  await join(tenant, member, 'member', 'admin');
  const theirs = await signInVisitor(api, member);
  const form = await theirs.get('/admin/connections/new?of=aws');
  expect(form.text).toContain(`value="${tenant.team}"`);
  expect(form.text).not.toContain(`value="${tenant.organization}"`);
  const fields = { owner: tenant.organization, name: 'kept-name', variables_of: 'AWS', 'v/config/region': 'eu-west-1' };
  const sent = await theirs.submit('/admin/connections/new?of=aws', { ...fields, ...aws });
  expect(sent.status).toBe(403);
  expect(sent.text).toContain('value="kept-name"');
  expect(sent.text).toContain('value="eu-west-1"');
  expect(sent.text).not.toContain(secret);
});

it('the forms of a connection rename it, change its settings, rotate its credentials and delete it', async () => {
  const path = await make('to-change');
  const id = path.split('/').at(-1) ?? '';
  const change = async (form: string, fields: Record<string, string>) => {
    const expected_revision = revisionIn((await visitor.get(`${path}/${form}`)).text);
    return visitor.submit(`${path}/${form}`, { ...fields, expected_revision });
  };
  expect((await change('rename', { name: 'changed' })).location).toBe(`${path}?done=saved`);
  const settings = { variables_of: 'AWS', 'v/config/region': 'us-east-1', ...aws };
  expect((await visitor.get(`${path}/settings`)).text).toContain('value="eu-central-1"');
  expect((await change('settings', settings)).location).toBe(`${path}?done=saved`);
  const rotated = { variables_of: 'AWS', ...aws, 'v/credentials/secret_access_key': 'another' };
  expect((await change('rotate', rotated)).location).toBe(`${path}?done=rotated`);
  expect(await credentialsOf(id)).toMatchObject({ secret_access_key: 'another' });
  const { body } = await tenant.owner.get(`/admin/connections/${id}`);
  expect(body).toMatchObject({ name: 'changed', config: { region: 'us-east-1' }, credential_revision: 3 });
  expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/admin/connections?done=deleted');
  expect((await visitor.get(path)).status).toBe(404);
});

const makeGeneric = (name: string, variables: object) =>
  tenant.owner.make('/admin/connections', { name, kind: 'generic', team_id: tenant.team, credentials: { variables } });

it('the form that rotates variables and files names what it replaces, and says that an omitted name is removed', async () => {
  const { id } = await makeGeneric('names-now', { FIRST_TOKEN: secret, SECOND_TOKEN: secret });
  const { text } = await visitor.get(`/admin/connections/${id}/rotate`);
  expect(text).toContain('FIRST_TOKEN, SECOND_TOKEN');
  expect(text).toContain('a name that you leave out is removed');
  expect(text).not.toContain(secret);
  expect(await visitor.page(`${await make('names-fixed')}/rotate`)).not.toContain('you leave out');
});

it('the list of connections shows the first variables that each provides, and how many more there are', async () => {
  const variables = { NAMES_A: 'x', NAMES_B: 'x', NAMES_C: 'x', NAMES_D: 'x', NAMES_E: 'x' };
  await makeGeneric('many-names', variables);
  const { text } = await visitor.get('/admin/connections');
  expect(text).toContain('NAMES_A, NAMES_B, NAMES_C</span> <span class="muted">and 2 more</span>');
  expect(text).not.toContain('NAMES_D');
});

it('the pages of connections refuse visitors who may not manage them, and hide those of other tenants', async () => {
  const path = await make('unseen-credentials');
  const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
  for (const page of ['', '/rename', '/settings', '/rotate', '/delete'])
    expect((await stranger.get(`${path}${page}`)).status).toBe(404);
  expect(await stranger.page('/admin/connections')).not.toContain('unseen-credentials');
});
