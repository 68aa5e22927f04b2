import { randomUUID } from 'node:crypto';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { makeGitRoot, Repository } from '#test/support/programs/git.ts';

const git = makeGitRoot();
let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: `file://${git.path},127.0.0.9` });
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(async () => {
  await api?.close();
  git.remove();
});

const described = { name: 'Network', slug: '', description: 'Routes', tags: 'aws, network', readme: '# Hi\r\nthere' };

async function make(name: string): Promise<string> {
  const { id } = await tenant.owner.make('/registry/templates', { name, team_id: tenant.team });
  return id;
}

/** Sends a form with files, as a browser does. */
async function publish(id: string, fields: Record<string, string>, files: Record<string, string | Buffer> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [path, text] of Object.entries(files)) form.append('folder', new Blob([text]), path);
  if (Object.keys(files).length === 0) form.append('files', new Blob([]), '');
  const request = new Request('http://service.invalid', { method: 'POST', body: form });
  const headers = {
    accept: 'text/html',
    cookie: visitor.cookie ?? '',
    'sec-fetch-site': 'same-origin',
    'content-type': request.headers.get('content-type') ?? '',
  };
  const payload = Buffer.from(await request.arrayBuffer());
  const answer = await api.app.inject({ method: 'POST', url: `/catalog/${id}/publish`, headers, payload });
  return { status: answer.statusCode, text: answer.body, location: answer.headers.location };
}

const problemsIn = (text: string) =>
  (/role="alert".*?<\/div><\/div>/s.exec(text)?.[0] ?? text.slice(0, 2000))
    .replaceAll(/<svg.*?<\/svg>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ');

const tofu = JSON.stringify({ executor: { kind: 'opentofu' } });

describe('the form for a template', () => {
  test('creates one in the selected team, and changes it', async () => {
    expect((await visitor.get('/catalog/new')).text).toMatch(/selected>Tenant \d+ \/ Core<\/option>/);
    const created = await visitor.submit('/catalog/new', { ...described, team_id: tenant.team });
    expect(created.location).toMatch(/^\/catalog\/[0-9a-f-]+\?done=created$/);
    const path = created.location?.split('?')[0] ?? '';
    const { body } = await tenant.owner.get(`/registry/templates/${path.split('/')[2]}`);
    expect(body).toMatchObject({
      slug: 'network',
      tags: ['aws', 'network'],
      readme: '# Hi\nthere',
      team_id: tenant.team,
    });
    expect((await visitor.get(`${path}/edit`)).text).toContain('value="aws, network"');
    const changed = { ...described, slug: 'net', description: 'Other', expected_revision: '1' };
    expect((await visitor.submit(`${path}/edit`, changed)).location).toBe(`${path}?done=saved`);
    const stale = await visitor.submit(`${path}/edit`, { ...changed, name: 'Mine' });
    expect([stale.status, stale.text.includes('value="Mine"')]).toEqual([409, true]);
  });

  test('names problems at their fields, and keeps what was typed', async () => {
    const answer = await visitor.submit('/catalog/new', {
      ...described,
      team_id: tenant.team,
      name: '',
      tags: 'Not A Tag',
    });
    expect(answer.status).toBe(400);
    expect(problemsIn(answer.text)).toContain('Name : Enter the name.');
    expect(problemsIn(answer.text)).toMatch(/Tags : .*lowercase letters/);
    expect(answer.text).toContain('value="Not A Tag"');
  });
});

describe('the form for a version', () => {
  test('links to a page that says how templates are written', async () => {
    const { text } = await visitor.get(`/catalog/${await make('Explained')}/publish`);
    expect(text).toContain('href="/help/templates">Writing templates</a>');
    const guide = await visitor.get('/help/templates');
    expect([guide.status, /<h1[^>]*>Writing templates<\/h1>[\s\S]*<h2[^>]*>Variables<\/h2>/.test(guide.text)]).toEqual([
      200,
      true,
    ]);
    expect(guide.text).not.toContain('more markup than a page shows');
  });

  test('publishes files of a folder, and has them for the next version', async () => {
    const id = await make('Uploaded');
    expect((await visitor.get(`/catalog/${id}/publish`)).text).toContain('enctype="multipart/form-data"');
    const files = { 'net/main.tf': '# über\n', 'net/modules/a.tf': '# a\n', 'net/.terraform/x.tf': 'no' };
    const sent = await publish(id, { version: '1.0.0', changelog: 'First', spec: tofu, source: 'upload' }, files);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    expect(sent.location).toBe(`/catalog/${id}/versions/1.0.0?done=published`);
    expect((await visitor.get(sent.location ?? '')).text).toContain('Version published.');
    const { body } = await tenant.owner.get(`/registry/templates/${id}/versions/1.0.0`);
    expect(body.spec.executor.files).toEqual({ 'main.tf': '# über\n', 'modules/a.tf': '# a\n' });
    const next = await visitor.get(`/catalog/${id}/publish`);
    expect(next.text).toContain('value="1.1.0"');
    expect(next.text).not.toContain('über');
    const kept = await publish(id, { version: '1.1.0', spec: tofu, source: 'keep', base: '1.0.0' });
    expect(kept.status, problemsIn(kept.text)).toBe(303);
    expect((await tenant.owner.get(`/registry/templates/${id}/versions/1.1.0`)).body.spec).toEqual(body.spec);
  });

  test('names a wrong version, missing files and a range without a tool at once', async () => {
    const id = await make('Wrong in three ways');
    const { status, text } = await publish(id, {
      version: '1.0',
      spec: tofu,
      source: 'upload',
      'spec.tool.version': '1',
    });
    expect(status).toBe(400);
    for (const name of ['Version', 'Tool', 'Files']) expect(problemsIn(text)).toMatch(new RegExp(` ${name} ?: `));
  });

  test('keeps the selected files after a check and after a problem, until others are selected', async () => {
    const id = await make('Kept files');
    const fields = { version: '1.0', spec: tofu, source: 'upload' };
    const selectedIn = (text: string) =>
      (/name="selected" value="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"');
    const wrong = await publish(id, fields, { 'net/main.tf': '# first\n' });
    expect([wrong.status, JSON.parse(selectedIn(wrong.text))]).toEqual([400, { 'main.tf': '# first\n' }]);
    const checked = await publish(id, { ...fields, only: 'check', selected: selectedIn(wrong.text) });
    expect([checked.status, JSON.parse(selectedIn(checked.text))]).toEqual([200, { 'main.tf': '# first\n' }]);
    const sent = await publish(id, { ...fields, version: '1.0.0', selected: selectedIn(checked.text) });
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const replaced = { ...fields, version: '1.1.0', selected: selectedIn(checked.text) };
    expect((await publish(id, replaced, { 'net/main.tf': '# second\n' })).status).toBe(303);
    const { body } = await tenant.owner.get(`/registry/templates/${id}/versions/1.1.0`);
    expect(body.spec.executor.files).toEqual({ 'main.tf': '# second\n' });
  });

  test('is refused for a next version without changes, or with selected files that another source hides', async () => {
    const id = await make('Unchanged');
    await publish(id, { version: '1.0.0', spec: tofu, source: 'upload', derive: 'yes' }, { 'net/main.tf': '# a\n' });
    const { text } = await visitor.get(`/catalog/${id}/publish`);
    const shown = /<textarea id="field-spec"[^>]*>([^<]*)</.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';
    const next = { version: '1.1.0', spec: shown, source: 'keep', base: '1.0.0', derive: 'yes' };
    expect(problemsIn((await publish(id, next)).text)).toContain('Nothing differs from 1.0.0');
    const hidden = await publish(id, next, { 'net/main.tf': '# b\n' });
    expect(problemsIn(hidden.text)).toContain('Files are selected, and another source is chosen');
    expect((await publish(id, { ...next, source: 'upload' }, { 'net/main.tf': '# b\n' })).status).toBe(303);
  });

  test('sets the required tool, says at its field what is wrong with the range, and has both for the next version', async () => {
    const id = await make('With a tool');
    const fields = { version: '1.0.0', spec: tofu, source: 'upload', 'spec.tool.name': 'terraform' };
    const files = { 'net/main.tf': '' };
    const wrong = await publish(id, { ...fields, 'spec.tool.version': 'newest' }, files);
    expect([wrong.status, /id="field-spec.tool.version-problem"/.test(wrong.text)]).toEqual([400, true]);
    const twice = { ...fields, spec: JSON.stringify({ executor: { kind: 'opentofu' }, tool: { name: 'opentofu' } }) };
    expect((await publish(id, twice, files)).text).toContain('already names a tool');
    const sent = await publish(id, { ...fields, 'spec.tool.version': '~> 1.11' }, files);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const { body } = await tenant.owner.get(`/registry/templates/${id}/versions/1.0.0`);
    expect(body.spec.tool).toEqual({ name: 'terraform', version: '~> 1.11' });
    const next = (await visitor.get(`/catalog/${id}/publish`)).text;
    expect(next).toMatch(/value="terraform" selected/);
    expect(next).toContain('value="~&gt; 1.11"');
  });

  test("offers the environments of the team for the check's modules, and checks with the selected one", async () => {
    const other = await makeTenant(api);
    const id = await make('With private modules');
    const { text } = await visitor.get(`/catalog/${id}/publish`);
    expect(text).toMatch(new RegExp(`value="${tenant.environment}" ?>Network / Development`));
    expect(text).not.toContain(other.environment);
    const fields = { version: '1.0.0', spec: tofu, source: 'upload' };
    const files = { 'net/main.tf': '' };
    const hidden = await publish(id, { ...fields, check_environment_id: other.environment }, files);
    expect(hidden.status).toBe(404);
    const sent = await publish(id, { ...fields, check_environment_id: tenant.environment }, files);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const checks = await api.rows('select environment_id from template_checks where template_id = ?', [id]);
    expect(checks).toEqual([{ environment_id: tenant.environment }]);
  });

  test('shows the members of a spec in the usual order, whatever their order was', async () => {
    const id = await make('In order');
    const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
    const spec = { retry_safe: false, pool: 'default', outputs: {}, executor, variables: { type: 'object' } };
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
    const { text } = await visitor.get(`/catalog/${id}/publish`);
    const shown = /<textarea id="field-spec"[^>]*>([^<]*)</.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';
    expect(Object.keys(JSON.parse(shown))).toEqual(['variables', 'outputs', 'executor', 'pool', 'retry_safe']);
  });

  test('publishes a directory of a git repository', async () => {
    const repository = new Repository(joinPath(git.path, 'pages.git'));
    repository.commit({ 'vpc/main.tf': '# from git\n' });
    const id = await make('From git');
    const fields = {
      version: '1.0.0',
      spec: tofu,
      source: 'git',
      git_url: `file://${repository.path}`,
      git_ref: 'main',
      git_path: 'vpc',
    };
    const sent = await publish(id, fields);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    expect((await visitor.get(`${sent.location}&file=vpc%2Fmain.tf`)).text).toContain('# from git');
    const missing = await publish(id, { ...fields, version: '2.0.0', git_ref: 'gone' });
    expect(missing.status).toBe(422);
    expect(missing.text).toContain('value="gone"');
  });

  test('shows the form again with what was typed if the git server cannot be reached', async () => {
    const id = await make('Unreachable');
    const url = 'https://127.0.0.9:9/site.git';
    const sent = await publish(id, { version: '1.0.0', spec: tofu, source: 'git', git_url: url, git_ref: 'main' });
    expect(sent.status).toBe(503);
    expect(sent.text).toContain(`value="${url}"`);
    expect(problemsIn(sent.text)).toContain('The server cannot be reached now');
  });

  test('has its files before its spec, which is closed while it is empty', async () => {
    const id = await make('Folded');
    const page = `/catalog/${id}/publish`;
    const folded = /<details class="fold" ><summary>Spec: [^<]*<\/summary>/;
    const blank = (await visitor.get(page)).text;
    expect(blank).toMatch(folded);
    expect(blank.indexOf('id="field-source"')).toBeLessThan(blank.indexOf('id="field-spec"'));
    const { text } = await publish(id, { version: '1.0.0', spec: '{', source: 'upload' });
    expect(text).toContain('id="field-spec-problem"');
    expect(text).not.toMatch(folded);
  });

  test.each([
    [
      'a branch that is missing',
      { git_ref: '' },
      'field-git_ref',
      'Branch, tag or commit : Enter the branch, tag or commit.',
    ],
    ['a URL that is none', { git_url: 'acme/site' }, 'field-git_url', 'URL of the repository : Enter a URL'],
    [
      'a folder that is not there',
      { git_path: '/vpc' },
      'field-git_path',
      'Folder in the repository : Must be relative',
    ],
    [
      'a folder that the repository does not have',
      { git_path: 'vpn' },
      'field-git_path',
      'Folder in the repository : The repository has no directory',
    ],
    [
      'a branch that does not exist',
      { git_ref: 'gone' },
      'field-git_ref',
      'Branch, tag or commit : The repository has no branch or tag',
    ],
  ])('says at the field of the repository what is wrong with %s', async (what, wrong, target, words) => {
    const repository = new Repository(joinPath(git.path, `${target}.git`));
    repository.commit({ 'vpc/main.tf': '' });
    const id = await make(`Wrong repository: ${what}`);
    const right = {
      version: '1.0.0',
      spec: tofu,
      source: 'git',
      git_url: `file://${repository.path}`,
      git_ref: 'main',
    };
    const { text } = await publish(id, { ...right, git_path: 'vpc', ...wrong });
    expect(problemsIn(text)).toContain(words);
    expect(problemsIn(text)).not.toContain('Spec :');
    expect(text).toContain(`href="#${target}"`);
    expect(text).toMatch(new RegExp(`id="${target}(-problem)?"`));
  });

  test.each([
    ['git', { kind: 'command', apply: [{ name: 'go', run: ['true'] }] }, 'Files'],
    [
      'spec',
      { kind: 'command', apply: [{ name: 'go', run: ['true'] }], git: { url: 'https://git.example/x', ref: 'main' } },
      'Spec',
    ],
  ])('says that command templates have no files from git, with the source "%s"', async (source, executor, label) => {
    const id = await make(`Commands from ${source}`);
    const repository: Record<string, string> =
      source === 'git' ? { git_url: 'https://git.example/x', git_ref: 'main' } : {};
    const sent = await publish(id, { version: '1.0.0', spec: JSON.stringify({ executor }), source, ...repository });
    expect(problemsIn(sent.text)).toContain(
      `${label} : Templates of commands take files by upload or from the spec only, not from git`,
    );
    expect(problemsIn(sent.text)).not.toContain('does not apply here');
  });

  test('says on the page of a version if its files are those of the previous version', async () => {
    const id = await make('Same files');
    await publish(id, { version: '1.0.0', spec: tofu, source: 'upload' }, { 'x/main.tf': '# one' });
    await publish(id, { version: '2.0.0', spec: tofu, source: 'upload' }, { 'x/main.tf': '# two' });
    const same = await publish(id, { version: '3.0.0', spec: tofu, source: 'upload' }, { 'x/main.tf': '# two' });
    expect(same.status, problemsIn(same.text)).toBe(303);
    expect(await visitor.page(`/catalog/${id}/versions/3.0.0`)).toContain('The files are those of 2.0.0.');
    expect(await visitor.page(`/catalog/${id}/versions/2.0.0`)).not.toContain('The files are those of');
  });

  test('says at the spec what is wrong with a repository that the spec names', async () => {
    const id = await make('Repository in the spec');
    const spec = JSON.stringify({ executor: { kind: 'opentofu', git: { url: 'file:///x', ref: '' } } });
    const sent = await publish(id, { version: '1.0.0', spec, source: 'spec' });
    expect(problemsIn(sent.text)).toContain('Spec : executor.git.ref: Enter a value.');
  });

  test('derives variables and outputs of the next version from its files if the previous ones were derived', async () => {
    const repository = new Repository(joinPath(git.path, 'next.git'));
    const id = await make('Next');
    const from = { source: 'git', git_url: `file://${repository.path}`, git_ref: 'main' };
    const typed = { variables: { type: 'object', properties: { size: { type: 'number', maximum: 5 } } } };
    const spec = JSON.stringify({ ...typed, executor: { kind: 'opentofu' } });
    repository.commit({
      'main.tf':
        'variable "size" {\n type = number\n default = 1\n}\nvariable "old" {\n type = string\n}\noutput "gone" {\n value = 1\n}\n',
    });
    const first = await publish(id, { version: '1.0.0', spec, ...from, derive: 'yes' });
    expect(first.status, problemsIn(first.text)).toBe(303);
    const { text } = await visitor.get(`/catalog/${id}/publish`);
    expect(text).toMatch(/name="derive" value="yes"\s+checked/);
    const offered = JSON.parse(
      (/<textarea[^>]*name="spec"[^>]*>([^<]*)</.exec(text)?.[1] ?? '').replaceAll('&quot;', '"'),
    );
    expect(offered.variables.properties).toEqual(typed.variables.properties);
    expect(offered.variables.required).toEqual([]);
    expect(offered).not.toHaveProperty('outputs');
    repository.commit({ 'main.tf': 'variable "size" {\n type = number\n}\nvariable "new" {\n type = bool\n}\n' });
    const second = { version: '1.1.0', spec: JSON.stringify(offered), base: '1.0.0', ...from, derive: 'yes' };
    const sent = await publish(id, second);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const { body } = await tenant.owner.get(`/registry/templates/${id}/versions/1.1.0`);
    expect(body.spec.variables).toMatchObject({
      properties: { size: { maximum: 5 }, new: { type: ['boolean', 'null'] } },
      required: ['new'],
    });
    expect(Object.keys(body.spec.variables.properties).sort()).toEqual(['new', 'size']);
  });

  test('keeps the spec of the previous version if that omits variables that its files declare', async () => {
    const id = await make('Hides variables');
    const files = { 'net/main.tf': 'variable "hidden" {\n default = 1\n}\nvariable "shown" {\n type = string\n}\n' };
    const variables = { type: 'object', properties: { shown: { type: 'string' } }, required: ['shown'] };
    const spec = JSON.stringify({ variables, executor: { kind: 'opentofu' } });
    const sent = await publish(id, { version: '1.0.0', spec, source: 'upload' }, files);
    expect(sent.status, problemsIn(sent.text)).toBe(303);
    const { text } = await visitor.get(`/catalog/${id}/publish`);
    expect(text).toContain('&quot;shown&quot;');
    expect(text).not.toMatch(/name="derive" value="yes"\s+checked/);
  });

  test('names every problem with its path, and keeps what was typed', async () => {
    const id = await make('Wrong');
    const spec = JSON.stringify({
      variables: { type: 'object', properties: { a: { type: 'strin' }, b: { pattern: '(' } } },
      pool: 'No Pool',
      executor: { kind: 'command', apply: [] },
    });
    const sent = await publish(id, { version: 'v1', spec, source: 'spec' });
    expect(sent.status).toBe(400);
    const text = problemsIn(sent.text);
    for (const part of ['Version : ', 'pool: ', 'executor.apply: ']) expect(text).toContain(part);
    const schema = await publish(id, {
      version: '1.0.0',
      spec: JSON.stringify({
        ...JSON.parse(spec),
        pool: undefined,
        executor: { kind: 'command', apply: [{ name: 'a', run: ['true'] }] },
      }),
      source: 'spec',
    });
    expect(problemsIn(schema.text)).toContain('variables.properties.a.type');
    expect(schema.text).toContain('&quot;strin&quot;');
  });

  test.each(['', 'check'])(
    'says once what is wrong with the files, and that the check takes a while (%s)',
    async (only) => {
      const id = await make(`Broken ${only}`);
      const spec = JSON.stringify({ executor: { kind: 'opentofu' }, outputs: { gone: {} } });
      const files = { 'net/main.tf': 'output "a" {\n  value = "${var.site"\n}\n' };
      const sent = await publish(id, { version: '1.0.0', spec, source: 'upload', only }, files);
      expect(sent.status).toBe(422);
      const withoutSelected = sent.text.replace(/Selected: [\s\S]*?name="selected"[^>]*>/, '');
      expect(withoutSelected.match(/main\.tf/g)).toHaveLength(1);
      expect(sent.text.match(/role="alert"/g)).toHaveLength(1);
      expect(sent.text).toMatch(/<title>Error: /);
      expect(sent.text).toContain('data-waiting hidden>A worker checks it now');
      const named = await publish(id, { version: '1.0.0', spec, source: 'upload', only }, { 'net/main.tf': '' });
      expect([named.status, named.text.match(/no output &quot;gone&quot;/g)?.length]).toEqual([422, 1]);
      expect(await visitor.page(`/catalog/${id}`)).not.toContain('1.0.0');
    },
  );

  test.each([
    ['JSON that is not readable', { spec: '{' }, {}, /Spec : Is not valid JSON at line 1, column/],
    ['a spec that is no object', { spec: '[]' }, {}, /Spec : Must be an object/],
    ['no files where files are wanted', { source: 'upload' }, {}, /Select the files/],
    [
      'a file that is not text',
      { source: 'upload' },
      { 'a/main.tf': Buffer.from([0xff, 0xfe]) },
      /main.tf is not text/,
    ],
    [
      'files in two places',
      { spec: JSON.stringify({ executor: { kind: 'opentofu', files: {} } }), source: 'git' },
      {},
      /already names files/,
    ],
  ])('refuses %s', async (_what, fields, files: Record<string, string | Buffer>, problem) => {
    const id = await make(`Refused ${randomUUID()}`);
    const sent = await publish(id, { version: '1.0.0', spec: tofu, source: 'spec', ...fields }, files);
    expect(sent.status).toBe(400);
    expect(problemsIn(sent.text)).toMatch(problem);
  });
});

describe('a form that no browser would send', () => {
  test('is refused if it is not a multipart form, or contains a character that cannot be stored', async () => {
    const id = await make('Odd');
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await visitor.submit(`/catalog/${id}/publish`, 'garbage', headers)).status).toBe(400);
    expect((await visitor.submit(`/catalog/${id}/publish`, { version: '1.0.0' })).status).toBe(415);
    expect((await publish(id, { version: '1.0.0', spec: tofu, source: 'spec', changelog: 'a\0b' })).status).toBe(400);
    expect((await visitor.submit('/catalog/new', { ...described, name: 'a\0b', team_id: tenant.team })).status).toBe(
      400,
    );
  });
});
