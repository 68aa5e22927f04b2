import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';

/** Links that work once are sent to people by a real SMTP server. */
const origin = 'https://delivery.example.com';
let server: TestMailServer;
let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;

beforeAll(async () => {
  server = await startMailServer();
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_SMTP_URL: server.url,
    COORDINATOR_SMTP_FROM: 'Delivery <delivery@example.com>',
    COORDINATOR_BASE_URL: origin,
  });
  admin = await api.addUser('admin');
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

const invite = (email: string) =>
  tenant.owner.post(`/organizations/${tenant.organization}/invitations`, { email, role: 'member' });

describe('an invitation', () => {
  it('is sent to the invited address as text and HTML, with the link that accepts it', async () => {
    const { status, body } = await invite('guest@example.com');
    expect([status, body.emailed]).toEqual([201, true]);
    await sendMessages(api);
    const [mail, ...others] = server.received;
    expect(others).toEqual([]);
    expect(mail?.recipients).toEqual(['guest@example.com']);
    expect(mail?.from).toMatchObject({ name: 'Delivery', address: 'delivery@example.com' });
    expect(mail?.subject).toContain('invites you to');
    const link = `${origin}/invitations/accept#token=${body.token}`;
    expect(mail?.text).toContain(link);
    expect(mail?.html).toContain(`href="${link}"`);
    expect(await storedMessages(api)).toEqual([{ status: 'sent', attempts: 1, problem: null, has_token: false }]);
  });

  it('was sent by e-mail, says the page that shows its link', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const form = { email: 'other@example.com', role: 'member', expires_in: 'P1D' };
    const { text } = await visitor.submit(`/organizations/${tenant.organization}/invitations`, form);
    expect(text).toContain('The service also sends it there by e-mail.');
  });

  it('an invitation that was revoked, or sent again, before its mail left is not sent', async () => {
    const { body: revoked } = await invite('revoked@example.com');
    const path = `/organizations/${tenant.organization}/invitations`;
    expect((await tenant.owner.delete(`${path}/${revoked.invitation.id}`)).status).toBe(204);
    const { body: resent } = await invite('resent@example.com');
    const { body: again } = await tenant.owner.post(`${path}/${resent.invitation.id}/resend`);
    await sendMessages(api);
    expect(server.received.map(({ recipients }) => recipients)).toEqual([['resent@example.com']]);
    expect(server.received[0]?.text).toContain(again.token);
    expect((await storedMessages(api)).map(({ status }) => status).sort()).toEqual(['sent', 'withheld', 'withheld']);
  });

  it('has its token only encrypted in the database, and shows hostile names as text in one header line', async () => {
    const name = 'Eve\r\nBcc: all@example.com <img src=x onerror=alert(1)>\u202e';
    await api.rows('update principals set name = ? where id = ?', [name, tenant.owner.id]);
    const { body } = await invite('careful@example.com');
    const stored = await api.rows('select * from outgoing_messages');
    expect(JSON.stringify(stored)).not.toContain(body.token);
    expect(stored).toHaveLength(1);
    await sendMessages(api);
    const [mail] = server.received;
    expect(mail?.recipients).toEqual(['careful@example.com']);
    expect(mail?.raw).not.toMatch(/^bcc:/im);
    expect(mail?.html).not.toContain('<img');
    expect(mail?.text).not.toContain('\u202e');
  });
});

describe('a password link', () => {
  it('is sent to the user, and not once the user has another address', async () => {
    const user = await api.addUser('requester');
    const { body: first } = await admin.post(`/users/${user.id}/password-reset`);
    expect(first.emailed).toBe(true);
    await sendMessages(api);
    expect(server.received[0]?.text).toContain(`${origin}/password-reset#token=${first.token}`);
    await admin.post(`/users/${user.id}/password-reset`);
    await api.rows(`update users set email = 'new@example.com', email_key = 'new@example.com' where id = ?`, [user.id]);
    await sendMessages(api);
    expect(server.received).toHaveLength(1);
    expect((await storedMessages(api)).at(-1)).toMatchObject({ status: 'withheld', has_token: false });
  });
});

describe('a changed address', () => {
  it('gets the link that confirms it, and the earlier address a warning without that link', async () => {
    const user = await api.addUser('requester');
    expect((await user.put(`/users/${user.id}`, { email: 'moved@example.com' })).status).toBe(200);
    await sendMessages(api);
    const mailTo = (address: string) => server.received.find(({ recipients }) => recipients.includes(address));
    const [, token = ''] = /email-confirmation#token=([\w-]+)/.exec(mailTo('moved@example.com')?.text ?? '') ?? [];
    expect(token).toHaveLength(43);
    expect(await api.rows('select user_id from email_confirmations')).toEqual([{ user_id: user.id }]);
    const warning = mailTo(user.email);
    expect(warning?.subject).toBe('Your account has another address now');
    expect(warning?.raw).not.toContain('token');
    expect(server.received).toHaveLength(2);
  });
});

describe('a mail that the server does not accept', () => {
  it('is tried again later, or not again if the recipient is refused', async () => {
    const busy = await startMailServer({
      onRcptTo: ({ address }, _session, done) => {
        const code = address.startsWith('nobody') ? 550 : 451;
        done(Object.assign(new Error('the secret of the server'), { responseCode: code }));
      },
    });
    const config = api.services.config as { mail: { url: string } };
    const { url } = config.mail;
    config.mail.url = busy.url;
    try {
      await invite('later@example.com');
      await invite('nobody@example.com');
      await sendMessages(api);
      expect(await storedMessages(api)).toEqual([
        {
          status: 'pending',
          attempts: 1,
          problem: 'the mail server refused the mail with the code 451',
          has_token: true,
        },
        {
          status: 'failed',
          attempts: 1,
          problem: 'the mail server refused the mail with the code 550',
          has_token: false,
        },
      ]);
    } finally {
      config.mail.url = url;
      await busy.close();
    }
    await api.rows(`update outgoing_messages set due_at = now() - interval '1 second'`);
    await api.rows(`update failing_destinations set quiet_until = now() - interval '1 second'`);
    await sendMessages(api);
    expect(server.received.map(({ recipients }) => recipients)).toEqual([['later@example.com']]);
  });

  it('is sent by another worker once the lease of a killed worker has expired', async () => {
    await invite('killed@example.com');
    await api.rows(`update outgoing_messages set leased_until = now() + interval '1 minute', attempts = 1`);
    await sendMessages(api);
    expect(server.received).toEqual([]);
    await api.rows(`update outgoing_messages set leased_until = now() - interval '1 second'`);
    await sendMessages(api);
    expect(server.received).toHaveLength(1);
    expect((await storedMessages(api))[0]).toMatchObject({ status: 'sent', attempts: 2 });
  });
});
