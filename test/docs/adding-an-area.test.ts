import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { addPerson, addTeam, type Person } from '#test/support/access/people.ts';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { Program, programEnvironment } from '#test/support/programs/start.ts';
import { copyWithAdditions, countLinesOfArea, countLinesOfField, foldersOfArea } from './area-copy.ts';

const password = 'correct horse battery';
/**
 * Applies the migration of the area, prints how the schema differs from the entities and the operations whose access no test has,
 * and starts the API.
 */
const main = `
import { loadConfig } from '#config';
import { migrate } from '#migrate';
import { openDatabase } from '#open-database';
import { operations } from '#api/operations.ts';
import { demands } from '#test/support/api/operation-table.ts';
const { databaseUrl } = loadConfig();
const applied = await migrate({ databaseUrl });
const orm = openDatabase({ databaseUrl, databasePoolSize: 1 });
const schema = (await orm.schema.getUpdateSchemaSQL({ wrap: false })).split('\\n').filter((line) => /notes|cost_center/.test(line));
await orm.close();
const unknown = operations.map(({ id }) => id).filter((id) => !demands.has(id));
console.log(JSON.stringify({ applied, schema, unknown }));
await import('#test/support/api/api-process-main.ts');
`;

let copy: string;
let database: TestDatabase;
let orm: Orm;
let api: Program | undefined;
let url: string;
let checked: unknown;
let author: Person;
let stranger: Person;
let viewer: Person;
let team: string;

beforeAll(async () => {
  copy = mkdtempSync(join(inject('scratchDirectory'), 'area-'));
  copyWithAdditions(copy);
  database = await createDatabase();
  const settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    COORDINATOR_DATA_DIR: join(copy, 'data'),
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'silent',
    // Nobody starts this copy again, so keeping what is compiled would cost more than compiling it.
    NODE_COMPILE_CACHE: undefined,
  };
  api = new Program([process.execPath, '--input-type=module', '-e', main], programEnvironment(settings), copy);
  await vi.waitUntil(() => api?.child.exitCode !== null || /^http/m.test(api.output), { timeout: 100_000 });
  const [checks, address] = /^(\{.*)\n(http\S+)$/m.exec(api.output)?.slice(1) ?? [];
  if (!checks || !address) throw new Error(`the API of the copy did not start: ${api.output}`);
  checked = JSON.parse(checks);
  url = address;
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  const { organizationId, teamId } = await addTeam(orm);
  team = teamId;
  const member = { organizations: { [organizationId]: 'member' } } as const;
  author = await addPerson({ url, orm }, 'admin', { ...member, teams: { [teamId]: 'admin' } }, password);
  viewer = await addPerson({ url, orm }, 'maintainer', { ...member, teams: { [teamId]: 'viewer' } }, password);
  stranger = await addPerson({ url, orm }, 'maintainer', {}, password);
});
afterAll(async () => {
  await api?.stop();
  await orm?.close();
  await database?.drop();
  if (copy) rmSync(copy, { recursive: true, force: true });
});

const write = async (text = `Note ${randomUUID()}`) => {
  const { status, body, text: answer } = await author.caller.post('/notes', { team_id: team, text });
  expect(status, answer).toBe(201);
  return body as { id: string; text: string; actions: object[] };
};

describe('the area of docs/adding-an-area.md', () => {
  it('needs at most five lines in src, five in test and two in docs, outside its own folders', () => {
    const { src = 0, test = 0, docs = 0, ...others } = countLinesOfArea();
    expect(foldersOfArea()).toEqual(['migrations', 'src/api/notes', 'src/domain/notes', 'test/api/notes']);
    expect([src <= 5, test <= 5, docs <= 2], `src ${src}, test ${test}, docs ${docs}`).toEqual([true, true, true]);
    expect(Object.keys(others).sort()).toEqual(['.dependency-cruiser.cjs', 'migrations']);
  });

  it("has the table of its entity, and access in the tests' table", () => {
    expect(checked).toEqual({ applied: ['20991231_01_notes', '20991231_02_cost_centers'], schema: [], unknown: [] });
  });

  it('creates, lists, reads and deletes', async () => {
    const note = await write();
    const { body: list } = await viewer.caller.get(`/notes?team_id=${team}`);
    expect(list.notes).toContainEqual(expect.objectContaining({ id: note.id, text: note.text, team_id: team }));
    const actions = [{ name: 'delete', allowed: false, reason: expect.any(String) }];
    expect((await viewer.caller.get(`/notes/${note.id}`)).body).toEqual({ ...note, actions });
    expect((await author.caller.send('DELETE', `/notes/${note.id}`)).status).toBe(204);
    expect((await author.caller.get(`/notes/${note.id}`)).status).toBe(404);
  });

  it('hides notes from strangers, and refuses changes by readers', async () => {
    const { id } = await write();
    const answers = await Promise.all([
      stranger.caller.get(`/notes/${id}`),
      stranger.caller.send('DELETE', `/notes/${id}`),
      stranger.caller.post('/notes', { team_id: team, text: 'Foreign' }),
      viewer.caller.send('DELETE', `/notes/${id}`),
      viewer.caller.post('/notes', { team_id: team, text: 'Own' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 403, 403]);
    expect((await stranger.caller.get('/notes')).body.notes).toEqual([]);
  });

  it('refuses the same note twice, with its own code', async () => {
    const { text } = await write();
    const { status, headers } = await author.caller.post('/notes', { team_id: team, text });
    expect([status, headers.get('x-error-code')]).toEqual([409, 'note_exists']);
  });

  it('is decided by can-i as by the operation', async () => {
    const { id } = await write();
    const may = async ({ caller }: Person, verb: string) => {
      const about = { group: 'delivery.coordinator', version: 'v1', resource: 'notes', verb, name: id, team_id: team };
      return (await caller.post('/auth/can-i', { resource_attributes: about })).body.status.allowed;
    };
    const answers = [may(author, 'delete'), may(viewer, 'get'), may(viewer, 'delete'), may(stranger, 'get')];
    expect(await Promise.all(answers)).toEqual([true, true, false, false]);
  });

  it('is recorded in the audit, and published', async () => {
    const { id, text } = await write();
    const { body } = await author.caller.get(`/audit?resource_type=notes&resource_id=${id}`);
    expect(body.audit_records).toMatchObject([{ action: 'note.created', outcome: 'committed' }]);
    const events = await orm.em
      .fork()
      .execute('select type, subject_kind as kind, data from domain_events where subject_id = ?', [id]);
    expect(events).toEqual([{ type: 'note.created', kind: 'note', data: { text } }]);
    const { body: catalogue } = await author.caller.get('/admin/webhooks/events');
    const types = catalogue.events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['note.created', 'note.deleted']));
  });

  it('has pages and an entry in the navigation, for users who may read it', async () => {
    const { id, text } = await write();
    const list = await look(viewer, '/notes');
    expect(list.text).toContain(text);
    expect(list.text).toMatch(/<nav.*href="\/notes"/s);
    expect(await look(viewer, `/notes/${id}`)).toMatchObject({ status: 200, text: expect.stringContaining(text) });
    expect((await look(stranger, `/notes/${id}`)).status).toBe(404);
  });
});

describe('the field of docs/adding-a-field.md', () => {
  it('needs at most eight lines besides its migration', () => {
    const { src = 0, test = 0, docs = 0 } = countLinesOfField();
    expect(src + test + docs).toBeLessThanOrEqual(8);
  });

  it('is set, changed, returned and audited', async () => {
    const given = { team_id: team, name: `Billed ${randomUUID()}`, cost_center: 'CC 17' };
    const { status, body, text } = await author.caller.post('/projects', given);
    expect([status, body.cost_center], text).toEqual([201, 'CC 17']);
    const changed = await author.caller.send('PATCH', `/projects/${body.id}`, { cost_center: 'CC 18' });
    expect([changed.status, changed.body.cost_center], changed.text).toEqual([200, 'CC 18']);
    const refused = await author.caller.send('PATCH', `/projects/${body.id}`, { cost_center: 'x'.repeat(101) });
    expect(refused.status).toBe(400);
    const { body: audit } = await author.caller.get(`/audit?resource_type=projects&resource_id=${body.id}`);
    const update = { action: 'project.updated', before: { cost_center: 'CC 17' }, after: { cost_center: 'CC 18' } };
    expect(audit.audit_records).toContainEqual(expect.objectContaining(update));
  });

  it('is in the reference, in the form and on the page', async () => {
    const { body } = await author.caller.post('/projects', { team_id: team, name: 'Billed', cost_center: 'CC 19' });
    const document = await (await fetch(`${url}/api/v1/openapi.json`)).text();
    expect(document.match(/"cost_center"/g)?.length).toBeGreaterThanOrEqual(4);
    const form = await look(author, `/projects/${body.id}/edit`);
    expect(form.text).toMatch(/Cost center[\s\S]*name="cost_center"[^>]*value="CC 19"/);
    expect((await look(author, `/projects/${body.id}`)).text).toContain('Cost center CC 19');
  });
});

/** What a page answers to somebody who has signed in. */
async function look({ email }: Person, path: string): Promise<{ status: number; text: string }> {
  const signedIn = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ email, password }),
  });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const response = await fetch(`${url}${path}`, { headers: { cookie, accept: 'text/html' } });
  return { status: response.status, text: await response.text() };
}
