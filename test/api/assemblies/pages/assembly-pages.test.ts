import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let stage: PageStage;
let owner: Visitor;
let viewer: Visitor;
let shop: string;

beforeAll(async () => {
  stage = await openPageStage();
  [owner, viewer] = await Promise.all([
    signInVisitor(stage.api, stage.tenant.owner),
    signInVisitor(stage.api, stage.viewer),
  ]);
  shop = await addAssembly(stage, threeNodes(stage.template), { name: 'Shop <b>' });
});
afterAll(() => stage?.api.close());

describe('the list of assemblies', () => {
  it('shows the latest version and the last run, and finds assemblies by name', async () => {
    await addRun(stage, shop, {
      status: 'failed',
      reason: 'nodes_failed',
      minutesAgo: 5,
      nodes: () => ({ status: 'failed' }),
    });
    const { text } = await owner.get('/assemblies');
    expect(text).toContain('Shop &lt;b&gt;');
    expect(text).toMatch(/1\.0\.0[\s\S]*Failed[\s\S]*Development/);
    expect((await owner.get('/assemblies?q=nothing')).text).toContain('No matching assemblies');
    expect((await owner.get(`/assemblies?environment_id=${stage.tenant.environment}`)).text).toContain(
      'Shop &lt;b&gt;',
    );
    expect((await owner.get('/search?q=Shop')).text).toContain(`/assemblies/${shop}`);
  });

  it('shows the first step if there is no assembly, and shows strangers nothing', async () => {
    const stranger = await signInVisitor(stage.api, stage.stranger);
    const { text } = await stranger.get('/assemblies');
    expect(text).toContain('No assemblies yet');
    expect(text).not.toContain('Shop');
    const pages = ['', '/draft', '/publish', '/run', '/edit', '/delete', '/versions/1.0.0'];
    const answers = await Promise.all(pages.map((page) => stranger.get(`/assemblies/${shop}${page}`)));
    expect(answers.map(({ status }) => status)).toEqual(pages.map(() => 404));
  });
});

describe('an assembly', () => {
  it('is created, changed, archived, unarchived and deleted by forms', async () => {
    const fields = { team_id: stage.tenant.team, name: 'Made by hand', slug: '', description: '' };
    const created = await owner.submit('/assemblies/new', fields);
    expect(created.location, created.text).toMatch(/^\/assemblies\/[0-9a-f-]{36}\/draft\?done=created$/);
    const path = created.location?.replace(/\/draft.*/, '') ?? '';
    const refused = await owner.submit('/assemblies/new', { ...fields, name: '' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="field-name-problem"');
    const edited = await owner.submit(`${path}/edit`, {
      name: 'Renamed',
      slug: 'renamed',
      description: 'x',
      expected_revision: '1',
    });
    expect(edited.location, edited.text).toContain('done=saved');
    expect((await owner.submit(`${path}/archive`, {})).location).toContain('done=archived');
    expect((await owner.get('/assemblies?archived=true')).text).toContain('Renamed');
    expect((await owner.submit(`${path}/unarchive`, {})).location).toContain('done=unarchived');
    const typo = await owner.submit(`${path}/delete`, { confirmation: 'Other', key: '' });
    expect(typo.status).toBe(400);
    const deleted = await owner.submit(`${path}/delete`, { confirmation: 'Renamed', key: '' });
    expect(deleted.location, deleted.text).toBe('/assemblies?done=deleted');
  });

  it('shows a drawing of its latest version, and a table with the same content', async () => {
    const { text } = await viewer.get(`/assemblies/${shop}`);
    expect(text).toContain('<svg xmlns="http://www.w3.org/2000/svg" id="graph"');
    for (const key of ['network', 'service', 'check']) expect(text).toContain(`id="node-${key}"`);
    expect(text).toContain('variables.name == &#39;shop&#39;');
    expect(text).toContain('href="#node-network"');
    expect(text).not.toContain('/draft"');
    expect(text).not.toContain('<script>');
  });

  it('is run by a form that keeps secrets without showing them when it is shown again', async () => {
    const path = `/assemblies/${shop}/run`;
    const hidden = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
    const { text } = await owner.get(path);
    const basic = { environment_id: stage.tenant.environment, operation: 'plan', shown: '1.0.0' };
    const typed = { ...basic, key: hidden(text, 'key'), carried: '', 'v/name': '', 'v/token': 'hush-hush' };
    const refused = await owner.submit(path, typed);
    expect([refused.status, refused.text.includes('hush-hush')]).toEqual([422, false]);
    expect(refused.text).toContain('The secrets that you entered are kept, but not shown.');
    const again = { ...typed, carried: hidden(refused.text, 'carried'), 'v/name': 'shop', 'v/token': '' };
    const other = await owner.submit(path, { ...again, key: crypto.randomUUID() });
    expect([other.status, other.text.includes('Enter them again')]).toEqual([409, true]);
    const sent = await owner.submit(path, again);
    expect(sent.status, sent.text).toBe(303);
    const id = sent.location?.split('/').at(-1)?.replace(/\?.*/, '');
    const { body } = await stage.tenant.owner.get(`/assemblies/${shop}/runs/${id}`);
    expect(body.variables).toEqual({ name: 'shop', token: { sensitive: true } });
  });

  it('is destroyed by a form without variables', async () => {
    const { text } = await owner.get(`/assemblies/${shop}/run?operation=destroy`);
    expect(text).toMatch(/<span class="foreign">name<\/span> <span class="muted">optional/);
  });

  it('lists its versions, and shows each with its source', async () => {
    const versions = await viewer.get(`/assemblies/${shop}?tab=versions`);
    expect(versions.text).toContain('The &lt;first&gt; one');
    const version = await viewer.get(`/assemblies/${shop}/versions/1.0.0`);
    expect(version.text).toContain('About this version');
    expect((await viewer.get(`/assemblies/${shop}/versions/9.9.9`)).status).toBe(404);
  });

  it('shows comparisons of versions to all readers, and of the draft only to those who may change it', async () => {
    const id = await addAssembly(stage, threeNodes(stage.template));
    const { check: _, ...nodes } = threeNodes(stage.template).nodes;
    const spec = { ...threeNodes(stage.template), nodes: { ...nodes, extra: { template: stage.template } } };
    await stage.tenant.owner.put(`/assemblies/${id}/draft`, { spec });
    const path = `/assemblies/${id}?tab=compare&from=1.0.0&to=draft`;
    const { text } = await owner.get(path);
    expect(text).toContain('Nodes: 1 removed, 1 added');
    expect(text).toContain('class="graph-node removed status-failed"');
    expect((await viewer.get(path)).status).toBe(404);
    const same = await viewer.get(`/assemblies/${id}?tab=compare&from=1.0.0&to=1.0.0`);
    expect(same.text).toContain('are the same');
    const unknown = await owner.get(`/assemblies/${id}?tab=compare&from=7.0.0&to=1.0.0`);
    expect(unknown.status).toBe(404);
  });

  it('returns a comparison as a drawing to clients that accept only that', async () => {
    const drawing = await stage.tenant.owner.get(`/assemblies/${shop}/diff?from=1.0.0&to=draft`, {
      accept: 'image/svg+xml',
    });
    expect([drawing.status, drawing.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(drawing.text).toMatch(/^<svg /);
  });
});
