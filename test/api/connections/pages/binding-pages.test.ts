import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** The forms by which projects and environments bind connections. */
let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
let connection: string;
let other: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
  const body = { kind: 'generic', credentials: { variables: { TOKEN: 'kept' } } };
  connection = (await tenant.owner.make('/admin/connections', { ...body, name: 'Cloud <b>', team_id: tenant.team })).id;
  other = (
    await tenant.owner.make('/admin/connections', { ...body, name: 'Shared', organization_id: tenant.organization })
  ).id;
});
afterAll(() => api?.close());
beforeEach(() => api.rows('delete from connection_bindings'));

const places = () => [
  { path: `/projects/${tenant.project}`, back: `/projects/${tenant.project}?done=` },
  { path: `/environments/${tenant.environment}`, back: `/environments/${tenant.environment}?tab=connections&done=` },
];
const bindingsOf = async (path: string) => (await tenant.owner.get(`${path}/connections`)).body;
const revisionOf = async (path: string) => String((await bindingsOf(path)).revision);

async function bind(path: string, fields: object, by = visitor) {
  const typed = { expected_revision: await revisionOf(path), plan: 'yes', apply: 'yes', ...fields };
  return by.submit(`${path}/connections/bind`, typed);
}

describe('the forms of bindings', () => {
  it('bind a connection in its phases, change it, keep the others, and remove it', async () => {
    for (const { path, back } of places()) {
      const bound = await bind(path, { name: 'cloud', connection_id: connection, plan: '' });
      expect([bound.status, bound.location]).toEqual([303, `${back}bound`]);
      await bind(path, { name: 'shared', connection_id: other });
      await bind(path, { name: 'cloud', connection_id: other });
      expect((await bindingsOf(path)).connections).toMatchObject({
        cloud: { connection_id: other, phases: ['plan', 'apply'] },
        shared: { connection_id: other, phases: ['plan', 'apply'] },
      });
      const unbind = `${path}/connections/cloud/unbind`;
      const removed = await visitor.submit(unbind, { expected_revision: await revisionOf(path) });
      expect([removed.status, removed.location]).toEqual([303, `${back}unbound`]);
      expect(Object.keys((await bindingsOf(path)).connections)).toEqual(['shared']);
      expect((await visitor.get(unbind)).status).toBe(404);
    }
  });

  it('a binding without a name, a connection and a phase is refused with all three', async () => {
    const { path } = places()[0]!;
    const { status, text } = await bind(path, { name: '', connection_id: '', plan: '', apply: '' });
    expect(status).toBe(400);
    for (const field of ['name', 'connection_id', 'plan']) expect(text).toContain(`id="field-${field}-problem"`);
    expect(text).not.toMatch(/phases|UUID/);
  });

  it('say at their fields what is wrong with a name and a connection, in plain words', async () => {
    for (const { path } of places()) {
      for (const name of ['my name', 'a"b', '<b>', 'שלום', 'a'.repeat(90)]) {
        const { status, text } = await bind(path, { name, connection_id: '', plan: '', apply: '' });
        expect(status, name).toBe(400);
        expect(text).toMatch(/<a href="#field-name">Name<\/a>: [A-Z][^["]+\.</);
        expect(text).toContain('<a href="#field-connection_id">Connection</a>: Choose the connection.');
        expect(text).toContain('Select at least one phase.');
        expect(text).not.toContain('Field [');
      }
      expect((await bindingsOf(path)).connections).toEqual({});
    }
  });

  it('show what is bound to environment and project, who bound it, and whether it still works', async () => {
    const [project, environment] = [places()[0]!, places()[1]!];
    await bind(project.path, { name: 'shared', connection_id: other });
    await bind(environment.path, { name: 'cloud', connection_id: connection });
    const shown = (await visitor.get(`${environment.path}?tab=connections`)).text;
    expect(shown).toContain('Cloud &lt;b&gt;');
    expect(shown).toContain('From the project');
    expect((await visitor.get(project.path)).text).toContain('>Shared</a>');
    await api.rows('update connection_bindings set bound_by_generation = bound_by_generation - 1');
    expect((await visitor.get(project.path)).text).toContain('the person who bound it may no longer bind it');
  });

  it('contain the present binding of a name, and offer only connections that the place may use', async () => {
    const stranger = await makeTenant(api);
    const theirs = { name: 'Theirs', kind: 'generic', credentials: { variables: { TOKEN: 'x' } } };
    const foreign = await stranger.owner.make('/admin/connections', { ...theirs, team_id: stranger.team });
    const { path } = places()[0]!;
    await bind(path, { name: 'cloud', connection_id: connection, plan: '' });
    const { text } = await visitor.get(`${path}/connections/bind?name=cloud`);
    expect(text).toContain(`<option value="${connection}" selected`);
    expect(text).toContain(`<option value="${other}"`);
    expect(text).not.toContain(foreign.id);
    const refused = await bind(path, { name: 'stolen', connection_id: foreign.id });
    expect([refused.status, refused.text.includes('There is no such connection')]).toEqual([400, true]);
  });

  it('refuse a wrong name, no phase and an old revision, and keep what was typed', async () => {
    const { path } = places()[1]!;
    const wrong = await bind(path, { name: 'Not A Name', connection_id: connection });
    expect([wrong.status, wrong.text.includes('value="Not A Name"')]).toEqual([400, true]);
    expect((await bind(path, { name: 'cloud', connection_id: connection, plan: '', apply: '' })).status).toBe(400);
    const stale = await bind(path, { name: 'cloud', connection_id: connection, expected_revision: '999' });
    expect([stale.status, stale.text.includes('value="cloud"')]).toEqual([409, true]);
    expect((await bindingsOf(path)).connections).toEqual({});
  });

  it('are refused to visitors who may not bind', async () => {
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    const reader = await signInVisitor(api, viewer);
    for (const { path } of places()) await bind(path, { name: 'cloud', connection_id: connection });
    for (const { path } of places()) {
      const page = await reader.page(path);
      expect(page).not.toContain('/connections/bind"');
      expect(page).not.toContain('/admin/connections/');
      expect((await bind(path, { name: 'cloud', connection_id: connection }, reader)).status).toBe(403);
    }
  });
});
