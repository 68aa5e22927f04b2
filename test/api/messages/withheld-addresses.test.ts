import { afterAll, beforeAll, expect, it } from 'vitest';
import { noMailServer } from '#domain/messages/sending-failure.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';

/** The test of a channel must not reveal that an address gets no mail because a user of another organization owns it. */
type Step = 'connect' | 'sender' | 'recipient';
let failure: { at: Step; code: number } | null = null;
let server: TestMailServer;
let api: TestApi;
let tenant: Tenant;

type Done = (error?: Error | null) => void;
const answerAt = (step: Step, done: Done) =>
  failure?.at === step ? done(Object.assign(new Error('not now'), { responseCode: failure.code })) : done();

beforeAll(async () => {
  server = await startMailServer({
    onConnect: (_session: unknown, done: Done) => answerAt('connect', done),
    onMailFrom: (_address: unknown, _session: unknown, done: Done) => answerAt('sender', done),
    onRcptTo: (_address: unknown, _session: unknown, done: Done) => answerAt('recipient', done),
  });
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_SMTP_URL: server.url,
    COORDINATOR_SMTP_FROM: 'Delivery <delivery@example.com>',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  tenant = await makeTenant(api);
});
afterAll(async () => {
  await api?.close();
  await server?.close();
});

/** Tests a new channel with the address of another organization's user and one without a user. @returns the problem of each */
async function testBoth(by: Tenant, at: TestApi): Promise<(string | null)[]> {
  const stranger = await at.addUser('requester');
  await at.rows('update users set email_verified = true where id = ?', [stranger.id]);
  const config = { recipients: [stranger.email, `list-${stranger.id}@example.com`] };
  const { id } = await makeChannel(by.owner, { kind: 'email', config, team_id: by.team });
  const { body } = await by.owner.post(`/admin/notification-channels/${id}/test`);
  return body.results.map(({ problem }: { problem: string | null }) => problem);
}

it('the test of a channel sends no mail to a user of another organization', async () => {
  failure = null;
  expect(await testBoth(tenant, api)).toEqual([expect.stringContaining('did not reach this address'), null]);
});

it.each([
  { at: 'sender', code: 550 },
  { at: 'sender', code: 451 },
  { at: 'recipient', code: 550 },
  { at: 'recipient', code: 451 },
] as const)(
  'a mail server that answers $code to the $at makes refused and withheld addresses look the same',
  async (given) => {
    failure = given;
    const [withheld, refused] = await testBoth(tenant, api);
    expect(withheld).toContain('did not reach this address');
    expect(refused).toBe(withheld);
  },
);

it('a mail server that refuses connections makes all addresses look the same, with this reason', async () => {
  failure = { at: 'connect', code: 421 };
  const [withheld, refused] = await testBoth(tenant, api);
  expect(withheld).toContain('the mail server refused');
  expect(withheld).not.toContain('did not reach this address');
  expect(refused).toBe(withheld);
});

it('an installation without a mail server makes all addresses look the same, with this reason', async () => {
  const bare = await startApi();
  try {
    expect(await testBoth(await makeTenant(bare), bare)).toEqual([noMailServer, noMailServer]);
  } finally {
    await bare.close();
  }
});
