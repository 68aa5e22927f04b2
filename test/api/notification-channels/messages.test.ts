import { afterAll, beforeAll, expect, it } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { sendMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { NotifiedTeam } from '#test/support/notifications/notified-team.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** The messages of a channel that its readers see. */
let api: TestApi;
let endpoint: Endpoint;
let team: NotifiedTeam;
let owner: ApiUser;

beforeAll(async () => {
  endpoint = await startEndpoint();
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  team = await NotifiedTeam.start(api);
  ({ owner } = team.runs.tenant);
  await team.forget();
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});

/** Adds a run that waits for approval, and queues the messages of channels about it. */
async function addWaiting(): Promise<void> {
  await team.runs.add([]);
  await team.notify();
}

it('the messages of a channel are listed newest first, with the status of each', async () => {
  const { tenant } = team.runs;
  const { path } = await makeChannel(owner, { kind: 'slack', config: { url: endpoint.url }, team_id: tenant.team });
  await addWaiting();
  await sendMessages(api);
  await addWaiting();
  await owner.patch(path, { enabled: false });
  await sendMessages(api);
  await owner.patch(path, { enabled: true });
  endpoint.answers = { status: 503 };
  await addWaiting();
  await sendMessages(api);
  const { messages } = (await owner.get(`${path}/messages`)).body;
  const about = { kind: 'run.approval_required', recipient: null, attempts: 1, created_at: expect.any(String) };
  expect(messages).toMatchObject([
    {
      ...about,
      status: 'pending',
      problem: 'the address answered 503',
      next_attempt_at: expect.any(String),
      ended_at: null,
    },
    {
      ...about,
      status: 'withheld',
      problem: 'the channel is disabled, or none of its subscriptions matches this any more',
      next_attempt_at: null,
    },
    { ...about, status: 'sent', problem: null, next_attempt_at: null, ended_at: expect.any(String) },
  ]);
  const withheld = (await owner.get(`${path}/messages?status=withheld`)).body.messages;
  expect(withheld).toEqual([messages[1]]);
  const first = (await owner.get(`${path}/messages?limit=1`)).body;
  const rest = (await owner.get(`${path}/messages?cursor=${first.next_cursor}`)).body;
  expect([...first.messages, ...rest.messages]).toEqual(messages);

  const stranger = await makeTenant(api);
  expect((await stranger.owner.get(`${path}/messages`)).status).toBe(404);

  const visitor = await signInVisitor(api, owner);
  const shown = await visitor.page(`${path}?status=withheld`);
  expect(shown).toContain('the channel is disabled, or none of its subscriptions matches this any more');
  expect(shown).not.toContain('the address answered 503');
});

it('messages after a failed one are shown as paused until the next attempt, with their subject', async () => {
  const { tenant } = team.runs;
  endpoint.answers = { status: 503 };
  const { path } = await makeChannel(owner, { kind: 'slack', config: { url: endpoint.url }, team_id: tenant.team });
  await addWaiting();
  await sendMessages(api);
  await addWaiting();
  const { messages } = (await owner.get(`${path}/messages`)).body;
  const [waiting, failed] = messages;
  expect([waiting.attempts, waiting.paused, failed.attempts, failed.paused]).toEqual([0, true, 1, false]);
  expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now());
  expect(waiting.subject).toMatchObject({ kind: 'run', id: expect.any(String), title: expect.any(String) });
  const shown = await (await signInVisitor(api, owner)).page(path);
  expect(shown).toContain('paused, because the last attempt failed');
  expect(shown).not.toContain('As soon as possible');
  const { subject } = waiting;
  expect(shown).toContain(`<a class="foreign" href="/workloads/runs/${subject.id}">${subject.title}</a>`);
  endpoint.answers = { status: 204 };
});

it('a reader of a channel who may not read what a message is about gets no subject', async () => {
  const { tenant } = team.runs;
  const { path } = await makeChannel(owner, {
    kind: 'slack',
    config: { url: endpoint.url },
    organization_id: tenant.organization,
  });
  await addWaiting();
  const member = await api.addUser('maintainer');
  await join(tenant, member, 'member');
  const { status, text, body } = await member.get(`${path}/messages`);
  expect([status, body.messages[0]?.subject], text).toEqual([200, null]);
  expect((await owner.get(`${path}/messages`)).body.messages[0].subject).not.toBeNull();
});
