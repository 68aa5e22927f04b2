import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { countMails, mailLimits } from '#domain/messages/queue/mail-limits.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { StatementFaults } from '#test/support/database/statement-faults.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { sendMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';

/** The limits of mails that callers cause to others, and the names in these mails. */
const refused = 'nobody@example.com';
let server: TestMailServer;
let api: TestApi;
let tenant: Tenant;

beforeAll(async () => {
  server = await startMailServer({
    onRcptTo: ({ address }, _, done) =>
      done(address === refused ? Object.assign(new Error('no such mailbox'), { responseCode: 550 }) : null),
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
beforeEach(async () => {
  await api.rows('delete from outgoing_messages');
  server.received.length = 0;
});

const repeat = async (times: number, act: (at: number) => Promise<{ status: number }>) => {
  const statuses: number[] = [];
  for (let at = 0; at < times; at += 1) statuses.push((await act(at)).status);
  return statuses;
};
const invitations = (by: Tenant) => `/organizations/${by.organization}/invitations`;

it('an invitation is sent again at most twice in ten minutes, and another caller can still invite the address', async () => {
  const { body } = await tenant.owner.post(invitations(tenant), { email: 'prey@example.com', role: 'member' });
  const path = `${invitations(tenant)}/${body.invitation.id}/resend`;
  expect(await repeat(4, () => tenant.owner.post(path))).toEqual([200, 200, 429, 429]);
  const refused = await tenant.owner.post(path);
  expect(refused.headers['x-error-code']).toBe('rate_limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
  expect(refused.text).toContain('too many mails');
  const [{ count } = { count: 0 }] = await api.rows<{ count: number }>(
    'select count(*)::int as count from outgoing_messages',
  );
  expect(count).toBe(3);
  const other = await makeTenant(api);
  const invited = await other.owner.post(invitations(other), { email: 'Prey@example.com', role: 'member' });
  expect(invited.status).toBe(201);
});

it('a password link and a change of the own address are refused once too many mails went to the address', async () => {
  const admin = await api.addUser('admin');
  const user = await api.addUser('requester');
  expect(await repeat(4, () => admin.post(`/users/${user.id}/password-reset`))).toEqual([201, 201, 201, 429]);
  const toggle = (at: number) =>
    user.put(`/users/${user.id}`, { email: at % 2 === 0 ? 'Target@example.com' : 'target@example.com' });
  expect(await repeat(4, toggle)).toEqual([200, 200, 200, 429]);
  const shown = await user.get(`/users/${user.id}`);
  expect(shown.body.email).toBe('Target@example.com');
});

it('tests of a channel are refused once too many went to one of its recipients', async () => {
  const config = { recipients: ['a@example.com', 'b@example.com'] };
  const { id } = await makeChannel(tenant.owner, { kind: 'email', config, team_id: tenant.team });
  const second = await makeChannel(tenant.owner, { kind: 'email', config, team_id: tenant.team });
  const test = (channel: string) => tenant.owner.post(`/admin/notification-channels/${channel}/test`);
  expect(await repeat(4, (at) => test(at === 1 ? second.id : id))).toEqual([200, 200, 200, 429]);
  expect(server.received).toHaveLength(6);
});

it('refused tests of a channel, and those that reach nobody, do not count towards the mail limit of an address', async () => {
  const victim = await api.addUser('requester');
  await api.rows('update users set email_verified = true where id = ?', [victim.id]);
  const config = { recipients: [victim.email, 'outsider@example.com'] };
  const { id } = await makeChannel(tenant.owner, { kind: 'email', config, team_id: tenant.team });
  const statuses = await repeat(25, () => tenant.owner.post(`/admin/notification-channels/${id}/test`));
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  const admin = await api.addUser('admin');
  const reset = await admin.post(`/users/${victim.id}/password-reset`);
  expect([reset.status, reset.body.emailed]).toEqual([201, true]);
  const other = await makeTenant(api);
  const invited = await other.owner.post(invitations(other), { email: 'outsider@example.com', role: 'member' });
  expect([invited.status, invited.body.emailed]).toEqual([201, true]);
});

it('an address that got too many mails from all callers gets no more, and the response still has the link', async () => {
  const user = await api.addUser('requester');
  // A user with a confirmed address outside the organization would hear nothing of its channels at all.
  await api.rows('update users set email_verified = false where id = ?', [user.id]);
  for (let sent = 0; sent < 20; sent += 3) {
    const other = await makeTenant(api);
    const invitation = await other.owner.post(invitations(other), { email: user.email, role: 'member' });
    const path = `${invitations(other)}/${invitation.body.invitation.id}/resend`;
    await repeat(2, () => other.owner.post(path));
  }
  const admin = await api.addUser('admin');
  const reset = await admin.post(`/users/${user.id}/password-reset`);
  expect([reset.status, reset.body.emailed, reset.body.url]).toEqual([201, false, expect.stringContaining('http')]);
  const config = { recipients: [user.email] };
  const { id } = await makeChannel(tenant.owner, { kind: 'email', config, team_id: tenant.team });
  const test = await tenant.owner.post(`/admin/notification-channels/${id}/test`);
  expect([test.status, Number(test.headers['retry-after']) > 3_600]).toEqual([429, true]);
});

it('a channel sends no mail to former members, and reports that as for an address that the mail server refuses', async () => {
  const member = await api.addUser('requester');
  await api.rows('update users set email_verified = true where id = ?', [member.id]);
  await join(tenant, member, 'member', 'member');
  const config = { recipients: [member.email.toUpperCase(), 'list@example.com', refused] };
  const body = { kind: 'email', config, team_id: tenant.team };
  const { id } = await makeChannel(tenant.owner, body);
  const test = () => tenant.owner.post(`/admin/notification-channels/${id}/test`);
  expect((await test()).body.results.map(({ problem }: { problem: unknown }) => problem === null)).toEqual([
    true,
    true,
    false,
  ]);
  const left = await tenant.owner.delete(`/organizations/${tenant.organization}/members/${member.id}`);
  expect(left.status, left.text).toBe(204);
  server.received.length = 0;
  const { ok, results } = (await test()).body;
  expect(ok).toBe(false);
  expect(results[0].problem).toContain('the test did not reach this address');
  expect(results[0].problem).not.toMatch(/user|member|account|organization/);
  expect(results[2].problem).toBe(results[0].problem);
  expect(results[1].problem).toBeNull();
  expect(server.received.map(({ recipients }) => recipients)).toEqual([['list@example.com']]);
});

it("an invitation is refused once its organization's people have sent too many mails together, unlike one of another organization", async () => {
  const crowded = await makeTenant(api);
  const em = api.services.orm.em.fork();
  for (let sent = 0; sent < mailLimits.ofOwner.soon; sent += 1) {
    const subject = { person: `colleague ${sent % 10}`, owner: crowded.organization };
    await countMails(em, subject, [`guest-${sent}@example.com`]);
  }
  const invite = (by: Tenant) => by.owner.post(invitations(by), { email: 'one-more@example.com', role: 'member' });
  const refused = await invite(crowded);
  expect([refused.status, refused.headers['x-error-code']]).toEqual([429, 'rate_limited']);
  expect(refused.text).toContain('by your organization');
  expect((await invite(await makeTenant(api))).status).toBe(201);
});

it("testing a channel with another organization's user uses up only the caller's limit", async () => {
  const stranger = await api.addUser('requester');
  await api.rows('update users set email_verified = true where id = ?', [stranger.id]);
  const body = { kind: 'email', config: { recipients: [stranger.email] }, team_id: tenant.team };
  const { id } = await makeChannel(tenant.owner, body);
  const test = () => tenant.owner.post(`/admin/notification-channels/${id}/test`);
  expect(await repeat(4, test)).toEqual([200, 200, 200, 429]);
  // Together, these callers send more mails to the address than all callers may.
  for (let callers = 0; callers < 7; callers += 1) {
    const other = await makeTenant(api);
    const channel = await makeChannel(other.owner, { ...body, team_id: other.team });
    const testAgain = () => other.owner.post(`/admin/notification-channels/${channel.id}/test`);
    expect(await repeat(4, testAgain)).toEqual([200, 200, 200, 429]);
  }
});

it('a test of a channel reads its recipients with two SQL statements in all', async () => {
  const recipients = Array.from({ length: 12 }, (_, at) => `many-${at}@example.com`);
  const { id } = await makeChannel(tenant.owner, { kind: 'email', config: { recipients }, team_id: tenant.team });
  const faults = await StatementFaults.open(api.services.orm);
  try {
    const test = () => tenant.owner.post(`/admin/notification-channels/${id}/test`);
    const { result, statements } = await faults.during(null, test);
    expect(result.body.ok).toBe(true);
    expect(statements.filter((text) => /email_verified/.test(text))).toHaveLength(2);
  } finally {
    faults.remove();
  }
});

it('names in mails are changed so that mail programs do not turn them into links', async () => {
  const name =
    'Account locked, see https://evil.example/login or www.evil.example, evil。example, ev\u00adil.example v1.2';
  await api.rows('update organizations set name = ? where id = ?', [name, tenant.organization]);
  await tenant.owner.post(invitations(tenant), { email: 'careful@example.com', role: 'member' });
  const config = { recipients: ['seen@example.com'] };
  const { id } = await makeChannel(tenant.owner, { kind: 'email', config, team_id: tenant.team });
  // Names that were saved before such characters were refused may have them.
  await api.rows('update notification_channels set name = ? where id = ?', [name, id]);
  await tenant.owner.post(`/admin/notification-channels/${id}/test`);
  await sendMessages(api);
  expect(server.received).toHaveLength(2);
  for (const { text, html, subject } of server.received)
    for (const part of [text, html, subject]) {
      expect(part).not.toMatch(/https?:\/\/evil|evil[.。]|\u00ad/);
    }
  const invited = server.received.find(({ recipients }) => recipients.includes('careful@example.com'));
  expect(invited?.subject).toContain('https[:]//evil[.]example/login or www[.]evil[.]example');
  expect(invited?.html).toContain('https://delivery.example.com/invitations/accept');
});
