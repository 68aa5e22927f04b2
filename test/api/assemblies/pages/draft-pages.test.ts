import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAssembly, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let stage: PageStage;
let owner: Visitor;
let id: string;

beforeAll(async () => {
  stage = await openPageStage();
  owner = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const wrong =
  'nodes:\r\n  one:\r\n    template: nothing\r\n  two:\r\n    template: nothing\r\n    depends_on: [three]\r\n';
const readDraft = async () => (await stage.tenant.owner.get(`/assemblies/${id}/draft`)).body;

describe('the editor of a draft', () => {
  it('starts with a valid draft with a template that the team can use, and validates without saving', async () => {
    ({ id } = await stage.tenant.owner.make('/assemblies', { name: 'Written', team_id: stage.tenant.team }));
    const first = await owner.get(`/assemblies/${id}/draft`);
    expect(first.text).toContain('Not saved yet');
    expect(first.text).toContain('Valid: it can be published');
    expect(first.text).toContain('name="expected_revision" value="0"');
    const checked = await owner.submit(`/assemblies/${id}/draft`, {
      spec: wrong,
      expected_revision: '0',
      do: 'validate',
    });
    expect(checked.status).toBe(200);
    expect(checked.text).toMatch(/\d problems to fix before it can be published/);
    expect(checked.text).toContain('<a href="#L3" data-line="3">Line 3</a>');
    expect(checked.text).toContain('<mark class="line-wrong" id="L3">3</mark>');
    expect(checked.text).toContain('depends_on: [three]');
    expect(checked.text).toContain('class="graph-node invalid failed status-failed"');
    expect((await readDraft()).source).toBeUndefined();
  });

  it('saves an invalid draft with its line breaks, and refuses to publish it', async () => {
    const saved = await owner.submit(`/assemblies/${id}/draft`, { spec: wrong, expected_revision: '0', do: 'save' });
    expect(saved.location, saved.text).toBe(`/assemblies/${id}/draft?done=draft-saved`);
    expect((await readDraft()).source).toBe(wrong.replaceAll('\r\n', '\n'));
    const publish = await owner.get(`/assemblies/${id}/publish`);
    expect(publish.text).toContain('The draft is not valid');
    expect(publish.text).not.toContain('name="version"');
  });

  it('keeps what was typed if it cannot be read or somebody else saved meanwhile', async () => {
    const unreadable = await owner.submit(`/assemblies/${id}/draft`, {
      spec: 'nodes: [\n</textarea><b>',
      expected_revision: '1',
      do: 'save',
    });
    expect(unreadable.status).toBe(422);
    expect(unreadable.text).toContain('&lt;/textarea&gt;&lt;b&gt;');
    expect(unreadable.text).toContain('Nothing was saved');
    expect(unreadable.text).toContain('The graph appears once the draft can be parsed.');
    const stale = await owner.submit(`/assemblies/${id}/draft`, {
      spec: '{"nodes": {}}',
      expected_revision: '0',
      do: 'save',
    });
    expect(stale.status).toBe(409);
    expect(stale.text).toContain('Another person saved the draft');
    expect(stale.text).toContain('{&quot;nodes&quot;: {}}');
    const empty = await owner.submit(`/assemblies/${id}/draft`, { spec: '', expected_revision: '1', do: 'validate' });
    expect(empty.status).toBe(200);
  });

  it('accepts a draft of nearly 1 MiB', async () => {
    const spec = `# ${'é'.repeat(400_000)}\nnodes: {}\n`;
    const { status } = await owner.submit(`/assemblies/${id}/draft`, { spec, expected_revision: '1', do: 'validate' });
    expect(status).toBe(200);
  });

  it('suggests a version and shows what differs when it publishes, and says what is wrong with another version', async () => {
    const assembly = await addAssembly(stage, threeNodes(stage.template));
    const { check, ...nodes } = threeNodes(stage.template).nodes;
    const more = { ...threeNodes(stage.template), nodes: { ...nodes, check, again: check } };
    const sent = { spec: JSON.stringify(more), expected_revision: '1', do: 'publish' };
    const next = await owner.submit(`/assemblies/${assembly}/draft`, sent);
    expect(next.location, next.text).toBe(`/assemblies/${assembly}/publish`);
    const form = await owner.get(next.location ?? '');
    expect(form.text).toContain('value="1.1.0"');
    expect(form.text).toContain('Nodes: 1 added');
    const bad = await owner.submit(next.location ?? '', { version: 'two', changelog: 'Kept', expected_revision: '2' });
    expect(bad.status).toBe(400);
    expect(bad.text).toContain('id="field-version-problem"');
    expect(bad.text).toContain('Kept');
    const stale = await owner.submit(next.location ?? '', { version: '1.1.0', changelog: '', expected_revision: '1' });
    expect(stale.status).toBe(409);
    const done = await owner.submit(next.location ?? '', { version: '1.1.0', changelog: '', expected_revision: '2' });
    expect(done.location, done.text).toBe(`/assemblies/${assembly}?done=published`);
  });

  it('is hidden from those who may not change the assembly', async () => {
    const viewer = await signInVisitor(stage.api, stage.viewer);
    expect((await viewer.get(`/assemblies/${id}/draft`)).status).toBe(404);
    const sent = await viewer.submit(`/assemblies/${id}/draft`, { spec: '{}', expected_revision: '1', do: 'save' });
    expect(sent.status).toBe(404);
  });
});
