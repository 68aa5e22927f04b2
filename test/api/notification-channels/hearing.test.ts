import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { channelMessages } from '#api/notification-channels/payload-views.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { NotifiedTeam } from '#test/support/notifications/notified-team.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** The events that channels and chats report, and those that they do not. */
let api: TestApi;
let server: TestMailServer;
let endpoint: Endpoint;
let team: NotifiedTeam;
let owner: ApiUser;
let admin: ApiUser;

beforeAll(async () => {
  server = await startMailServer();
  endpoint = await startEndpoint();
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_SMTP_URL: server.url,
    COORDINATOR_SMTP_FROM: 'delivery@example.com',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  team = await NotifiedTeam.start(api);
  ({ owner } = team.runs.tenant);
  admin = await api.addUser('admin');
});
afterAll(async () => {
  await api?.close();
  await endpoint?.close();
  await server?.close();
});
beforeEach(async () => {
  await api.rows('delete from notification_channels');
  await team.forget();
  endpoint.heard.length = 0;
  endpoint.answers = { status: 204 };
  server.received.length = 0;
});

const chat = () => ({ kind: 'slack', config: { url: endpoint.url } });
const texts = () => endpoint.heard.map(({ body }) => JSON.parse(body).text as string);

/** Adds a run that waits for approval, and sends what channels hear of it. */
async function addWaiting(): Promise<string> {
  const run = await team.runs.add([]);
  await team.notify();
  await sendMessages(api);
  return run;
}

describe('an address that several channels name', () => {
  it('gets one mail of an event', async () => {
    const { tenant } = team.runs;
    const mails = (...recipients: string[]) => ({ kind: 'email', config: { recipients } });
    await makeChannel(owner, { ...mails('ops@example.com', 'one@example.com'), team_id: tenant.team });
    await makeChannel(owner, { ...mails('OPS@example.com'), organization_id: tenant.organization });
    await addWaiting();
    const addresses = server.received.flatMap(({ recipients }) => recipients);
    expect(addresses.sort()).toEqual(['one@example.com', 'ops@example.com']);
  });
});

describe('a channel', () => {
  it('reports a run of its owner that waits for approval once, with a link', async () => {
    const { tenant } = team.runs;
    const owners = [{ organization_id: tenant.organization }, { team_id: tenant.team }, { project_id: tenant.project }];
    for (const of of owners) await makeChannel(owner, { ...chat(), ...of });
    await makeChannel(admin, chat());
    const run = await addWaiting();
    await team.notify();
    await sendMessages(api);
    expect(texts()).toHaveLength(4);
    const link = `<https://delivery.example.com/workloads/runs/${run}|Open it>`;
    for (const text of texts()) {
      expect(text).toMatch(/^\*The apply run of net-\d+ in .+ \/ .+ needs approval/);
      expect(text).toMatch(
        /\nAki Asker requested the operation apply of the instance net-\d+ in the environment .+ of the project .+\.\n/,
      );
      expect(text).toContain(`\n${link}\n`);
    }
  });

  it('does not report events of other owners, topics or environments', async () => {
    const { tenant } = team.runs;
    const stranger = await makeTenant(api);
    await makeChannel(stranger.owner, { ...chat(), team_id: stranger.team });
    const other = await owner.make('/environments', { project_id: tenant.project, name: 'Other', kind: 'development' });
    const wrong = [
      [{ events: ['drift_monitor.*', 'run.finished'] }],
      [{ environment_id: other.id, events: ['*'] }],
      [],
    ];
    for (const subscriptions of wrong) await makeChannel(owner, { ...chat(), team_id: tenant.team, subscriptions });
    await addWaiting();
    expect(endpoint.heard).toEqual([]);
    const right = [{ environment_id: tenant.environment, events: ['run.approval_required'] }];
    await makeChannel(owner, { ...chat(), team_id: tenant.team, subscriptions: right });
    await addWaiting();
    expect(texts()).toHaveLength(1);
  });

  it('sends a signed message that the library of Standard Webhooks accepts', async () => {
    const { tenant } = team.runs;
    const { secret } = await makeChannel(owner, {
      kind: 'webhook',
      config: { url: endpoint.url },
      team_id: tenant.team,
    });
    const run = await addWaiting();
    const [heard] = endpoint.heard;
    expect(heard && isSignedBy(secret ?? '', heard)).toBe(true);
    const message = JSON.parse(heard?.body ?? '');
    const described = channelMessages().find(({ type }) => type === message.type);
    expect(described?.payload.safeParse(message)).toMatchObject({ success: true });
    expect(message).toEqual({
      type: 'notification.run.approval_required',
      timestamp: expect.any(String),
      data: {
        title: expect.stringContaining('needs approval'),
        text: expect.any(String),
        subject: { kind: 'run', id: run },
        url: `https://delivery.example.com/workloads/runs/${run}`,
      },
    });
  });

  it('sends a mail to each recipient', async () => {
    const recipients = ['a@example.com', 'b@example.com'];
    await makeChannel(owner, { kind: 'email', config: { recipients }, team_id: team.runs.tenant.team });
    await addWaiting();
    expect(server.received.map((mail) => mail.recipients[0]).sort()).toEqual(recipients);
  });

  it('withholds a message if channel, recipient or owner changed before it was sent', async () => {
    const { tenant } = team.runs;
    const changes: [string, (path: string, run: string) => Promise<unknown>][] = [
      [
        'the channel is disabled, or none of its subscriptions matches this any more',
        (path) => owner.patch(path, { enabled: false }),
      ],
      [
        'the channel is disabled, or none of its subscriptions matches this any more',
        (path) => owner.patch(path, { subscriptions: [] }),
      ],
      [
        'the address was taken out of the channel',
        (path) => owner.patch(path, { config: { recipients: ['b@example.com'] } }),
      ],
      [
        'the channel is disabled, or none of its subscriptions matches this any more',
        async (_path, run) => {
          const { team: elsewhere } = await makeTenant(api);
          await api.rows('update runs set team_id = ? where id = ?', [elsewhere, run]);
        },
      ],
    ];
    for (const [problem, change] of changes) {
      await api.rows('delete from notification_channels');
      await team.forget();
      const config = { recipients: ['a@example.com'] };
      const { path } = await makeChannel(owner, { kind: 'email', config, team_id: tenant.team });
      const run = await team.runs.add([]);
      await team.notify();
      await change(path, run);
      await sendMessages(api);
      expect(await storedMessages(api)).toMatchObject([{ status: 'withheld', problem }]);
    }
    expect(server.received).toEqual([]);
  });

  it('does not report events from before its creation, and is deleted with its messages', async () => {
    const run = await team.runs.add([]);
    const { path } = await makeChannel(owner, { ...chat(), team_id: team.runs.tenant.team });
    await team.notify();
    await sendMessages(api);
    expect([run, endpoint.heard]).toEqual([run, []]);
    endpoint.answers = { status: 500 };
    await addWaiting();
    expect((await owner.get(path)).body).toMatchObject({ waiting: 1, problem: 'the address answered 500' });
    expect((await owner.delete(path)).status).toBe(204);
    expect(await storedMessages(api)).toEqual([]);
  });

  it('shows names without mentions and links', async () => {
    await makeChannel(owner, { ...chat(), team_id: team.runs.tenant.team });
    const run = await team.runs.add([]);
    await api.rows('update runs set instance = ? where id = ?', ['<!channel> <https://evil.example|here> & *', run]);
    await team.notify();
    await sendMessages(api);
    expect(texts()[0]).toContain('&lt;!channel&gt; &lt;https[:]//evil[.]example|here&gt; &amp; ∗');
    expect(texts()[0]?.match(/</g)).toHaveLength(1);
  });

  it('reports nothing while notifications are turned off', async () => {
    await makeChannel(owner, { ...chat(), team_id: team.runs.tenant.team });
    await team.runs.add([]);
    await team.notify();
    const turn = async (notifications: boolean) => {
      const { revision } = (await admin.get('/admin/settings')).body;
      const changed = await admin.patch('/admin/settings', {
        features: {
          notifications: notifications ? { enabled: true } : { enabled: false, reason: 'closed for a test' },
        },
        expected_revision: revision,
      });
      expect(changed.status, changed.text).toBe(200);
    };
    await turn(false);
    await sendMessages(api);
    await turn(true);
    expect(endpoint.heard).toEqual([]);
    expect(await storedMessages(api)).toMatchObject([{ problem: 'notifications are turned off' }]);
  });
});

describe('the chat of a user', () => {
  const kind = 'run.approval_requested';
  const prefer = (body: object) => team.reviewer.put('/notifications/preferences', { preferences: [], ...body });

  it("gets notifications that require an action, unless the user's preferences differ", async () => {
    const chosen = await prefer({ chat_url: endpoint.url });
    expect(chosen.body.chat).toEqual({ host: new URL(endpoint.url).host, problem: null, paused_until: null });
    expect(chosen.text).not.toContain('/hook');
    await team.addAsked(team.reviewer);
    await sendMessages(api);
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('asks you to review the apply run of net-');
    expect(texts()[0]).toContain('\nAki Asker asks: please\n');
    expect((await prefer({ preferences: [{ kind, page: true, chat: false }] })).body.chat.host).not.toBeNull();
    await team.addAsked(team.reviewer);
    await sendMessages(api);
    expect(texts()).toHaveLength(1);
  });

  it('is refused with a private address, shows why messages fail, and gets none once it is removed', async () => {
    expect((await prefer({ chat_url: 'https://169.254.169.254/' })).status).toBe(422);
    await prefer({ chat_url: endpoint.url });
    endpoint.answers = { status: 404 };
    await team.addAsked(team.reviewer);
    await sendMessages(api);
    const { body } = await team.reviewer.get('/notifications/preferences');
    expect(body.chat.problem).toBe('the address answered 404');
    expect((await prefer({ chat_url: null })).body.chat).toEqual({ host: null, problem: null, paused_until: null });
    await api.rows(`update outgoing_messages set due_at = now() - interval '1 second'`);
    await api.rows(`update failing_destinations set quiet_until = now() - interval '1 second'`);
    await sendMessages(api);
    const stored = await storedMessages(api);
    expect(stored.map(({ problem }) => problem)).toContain('the user has no chat any more');
  });
});
