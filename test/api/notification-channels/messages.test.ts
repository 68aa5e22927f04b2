import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { sendMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { NotifiedTeam } from '#test/support/notifications/notified-team.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** What the readers of a channel see of its messages. */
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

/** Adds a run that waits for approval, and queues what channels hear of it. */
async function addWaiting(): Promise<void> {
  await team.runs.add([]);
  await team.notify();
}

it('the messages of a channel are listed newest first, with what became of each', async () => {
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
