import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const tokenIn = (text: string) => /#token=([A-Za-z0-9_-]+)/.exec(text)?.[1] ?? '';

describe('the pages of invitations', () => {
  test('show the link once, in a response that is not cached, and let the invited user accept', async () => {
    const { owner, organization, team } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const invited = await api.addUser('requester');
    const path = `/organizations/${organization}/invitations`;
    const form = { email: invited.email, role: 'member', team_id: team, team_role: 'viewer', expires_in: 'P1D' };
    const account =
      'If they have no account, an administrator of the installation must first add a user with this address.';
    expect((await visitor.get(path)).text).toContain(account);
    const sent = await visitor.submit(path, form, { 'accept-encoding': 'gzip' });
    expect(sent.text).toContain(account);
    expect(sent.status, sent.text).toBe(201);
    expect(sent.headers['cache-control']).toContain('no-store');
    expect(sent.headers['content-encoding']).toBeUndefined();
    expect(sent.text).toContain('Not copied yet. It is shown only this once.');
    const token = tokenIn(sent.text);
    expect(token.length).toBeGreaterThan(20);
    const list = await visitor.get(path);
    expect(list.text).toContain(invited.email);
    expect(list.text).not.toContain(token);

    const guest = await signInVisitor(api, invited);
    const wrong = await guest.submit('/invitations/accept', { token: 'dci_nobody-made-this' });
    expect([wrong.status, wrong.text.includes('id="field-token-problem"')]).toEqual([400, true]);
    expect(wrong.text).not.toContain('nobody-made-this');
    const accepted = await guest.submit('/invitations/accept', { token });
    expect([accepted.status, accepted.location]).toEqual([
      303,
      `/organizations/${organization}/teams/${team}?done=joined`,
    ]);
    expect((await guest.get(accepted.location ?? '')).text).toContain('You are now a member.');
    expect((await visitor.get(path)).text).toContain('Accepted');
  });

  test('say to an admin of a team whom they cannot invite, and link back to the setup guide', async () => {
    const tenant = await makeTenant(api);
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'admin');
    const limit = 'You can invite only members of the organization.';
    const path = `${tenant.teamPath}/invitations`;
    const shown = await (await signInVisitor(api, member)).page(path);
    expect(shown).toContain(limit);
    expect(shown).toContain(`href="${tenant.teamPath}/setup"`);
    expect(await (await signInVisitor(api, member)).page(`${tenant.teamPath}/setup/people`)).toContain(
      'An admin of the organization invites people who are not in it yet',
    );
    const owner = await signInVisitor(api, tenant.owner);
    expect(await owner.page(path)).not.toContain(limit);
    expect(await owner.page(`${tenant.teamPath}/members`)).toContain(`href="${tenant.teamPath}/setup"`);
  });

  test('send an invitation again with a new link, and revoke it', async () => {
    const { owner, teamPath } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const path = `${teamPath}/invitations`;
    const sent = await visitor.submit(path, { email: 'somebody@example.com', role: 'member', expires_in: 'P7D' });
    const id = /invitations\/([0-9a-f-]{36})\/revoke/.exec((await visitor.get(path)).text)?.[1];
    const again = await visitor.submit(`${path}/${id}/resend`, {});
    expect([again.status, tokenIn(again.text) === tokenIn(sent.text)]).toEqual([201, false]);
    expect((await visitor.submit(`${path}/${id}/revoke`, {})).status).toBe(303);
    const twice = await visitor.submit(`${path}/${id}/revoke`, {});
    expect([twice.status, twice.text.includes('revoked already')]).toEqual([409, true]);
  });

  test("show the same message for another user's invitation as for an unknown one", async () => {
    const { owner, teamPath } = await makeTenant(api);
    const sent = await (await signInVisitor(api, owner)).submit(`${teamPath}/invitations`, {
      email: 'somebody@example.com',
      role: 'member',
      expires_in: 'P7D',
    });
    const stranger = await signInVisitor(api, await api.addUser('requester'));
    const foreign = await stranger.submit('/invitations/accept', { token: tokenIn(sent.text) });
    const unknown = await stranger.submit('/invitations/accept', { token: 'dci_nobody-made-this' });
    expect([foreign.status, unknown.status]).toEqual([404, 400]);
    const words = 'The invitation is not for this account, was used or revoked, or has expired.';
    for (const { text } of [foreign, unknown]) expect(text).toContain(words);
    expect(foreign.text).not.toContain('was not found');
  });

  test('redirect a visitor who is not signed in to the sign-in page', async () => {
    const page = await new Visitor(api.app).get('/invitations/accept');
    expect([page.status, page.text.includes('href="/login?next=%2Finvitations%2Faccept"')]).toEqual([200, true]);
  });
});
