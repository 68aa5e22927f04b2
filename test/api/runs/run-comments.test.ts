import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let member: ApiUser;
let viewer: ApiUser;
let templateId: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  [member, viewer] = [await api.addUser('requester', 'Ana'), await api.addUser('operator')];
  await join(tenant, member, 'member', 'member');
  await join(tenant, viewer, 'member', 'viewer');
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  templateId = id;
});
afterAll(() => api?.close());

async function admit(): Promise<string> {
  const body = { template_id: templateId, environment_id: tenant.environment, instance: `i-${randomUUID()}` };
  return (await tenant.owner.post('/runs', body)).body.id;
}

const comment = (by: ApiUser, run: string, text: string) => by.post(`/runs/${run}/comments`, { text });
const textsOf = async (by: ApiUser, run: string, query = '') =>
  (await by.get(`/runs/${run}/comments?${query}`)).body.comments.map(({ text }: { text: string }) => text);

describe('comments on a run', () => {
  it('are listed newest first, with their author and time', async () => {
    const run = await admit();
    const first = await comment(member, run, '  Why does it\n\treplace the network?  ');
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      run_id: run,
      by: { type: 'user', id: member.id, name: 'Ana' },
      text: 'Why does it\n\treplace the network?',
    });
    expect((await viewer.get(String(first.headers['location']).replace('/api/v1', ''))).body).toEqual(first.body);
    await comment(tenant.owner, run, 'Because of its name.');
    expect(await textsOf(viewer, run)).toEqual(['Because of its name.', 'Why does it\n\treplace the network?']);
    const page = (await viewer.get(`/runs/${run}/comments?limit=1`)).body;
    expect(await textsOf(viewer, run, `limit=1&cursor=${page.next_cursor}`)).toEqual([first.body.text]);
  });

  it('are written by those who may create runs in the team, and read by those who may read the run', async () => {
    const run = await admit();
    expect((await comment(viewer, run, 'Me too.')).status).toBe(403);
    const stranger = await api.addUser('operator');
    expect((await comment(stranger, run, 'Hello?')).status).toBe(404);
    expect((await stranger.get(`/runs/${run}/comments`)).status).toBe(404);
    const other = await comment(member, await admit(), 'Elsewhere.');
    expect((await member.get(`/runs/${run}/comments/${other.body.id}`)).status).toBe(404);
    expect(await textsOf(viewer, run)).toEqual([]);
  });

  it('reading a missing comment on a readable run leaves no audit record of a refusal', async () => {
    const path = `/runs/${await admit()}/comments/${randomUUID()}`;
    expect((await member.get(path)).status).toBe(404);
    const refusals = `select count(*)::int from audit_records where action = 'run_comments.get'`;
    expect(await api.rows(refusals)).toEqual([{ count: 0 }]);
    expect((await (await api.addUser('operator')).get(path)).status).toBe(404);
    expect(await api.rows(refusals)).toEqual([{ count: 1 }]);
  });

  it('cannot be changed or removed', async () => {
    const run = await admit();
    const { body } = await comment(member, run, 'Final.');
    for (const method of ['PATCH', 'PUT', 'DELETE'] as const)
      expect((await member.send(method, `/runs/${run}/comments/${body.id}`, {})).status, method).toBe(405);
  });

  it('publish events and audit records, which do not contain their text', async () => {
    const run = await admit();
    const { body } = await comment(member, run, 'a very private remark');
    const { events } = (await member.get(`/runs/${run}/events`)).body;
    expect(events.at(-1)).toMatchObject({ type: 'run.commented', data: { by: 'Ana', comment_id: body.id } });
    const rows = await api.rows(`select * from audit_records where action = 'run.commented' and resource_id = ?`, [
      body.id,
    ]);
    expect(rows).toHaveLength(1);
    const kept = await api.rows(`select (select jsonb_agg(e) from domain_events e)::text as events,
      (select jsonb_agg(a) from audit_records a)::text as audit, (select jsonb_agg(r) from command_receipts r)::text as receipts`);
    expect(JSON.stringify(kept)).not.toContain('private remark');
  });

  it('have line feeds in place of the line breaks of Windows', async () => {
    const run = await admit();
    expect((await comment(member, run, 'One.\r\n\r\nTwo.\r\n')).body.text).toBe('One.\n\nTwo.');
    expect((await comment(member, run, 'A carriage\rreturn')).status).toBe(400);
  });

  it('are deleted with the run, which then accepts no others', async () => {
    const run = await admit();
    await comment(member, run, 'Soon gone.');
    await tenant.owner.post(`/runs/${run}/cancel`, { force: true });
    const admin = await api.addUser('admin');
    expect((await admin.delete(`/runs/${run}`)).status).toBe(204);
    expect(await api.rows('select id from run_comments where run_id = ?', [run])).toEqual([]);
    expect(await textsOf(viewer, run)).toEqual([]);
    expect((await comment(member, run, 'Too late.')).status).toBe(404);
  });

  it('are created once for a repetition with the same key', async () => {
    const run = await admit();
    const headers = { 'idempotency-key': randomUUID() };
    const send = () => member.post(`/runs/${run}/comments`, { text: 'Once.' }, headers);
    const [first, second] = [await send(), await send()];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(await textsOf(viewer, run)).toEqual(['Once.']);
  });

  it.each([
    ['nothing but spaces', ' \n\t '],
    ['4,001 characters', 'x'.repeat(4001)],
    ['a control character', 'beep \u0007'],
    ['an escape sequence', '\u001b[31mred'],
  ])('answer 400 to %s', async (_what, text) => {
    const { status, body } = await comment(member, await admit(), text);
    expect([status, body.error]).toEqual([400, expect.stringContaining('text')]);
  });
});
