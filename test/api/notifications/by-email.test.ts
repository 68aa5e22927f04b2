import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pages } from '#api/web/paths.ts';
import { subjectKinds } from '#domain/news/model.ts';
import { subjectPath } from '#domain/news/subjects.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';
import { NotifiedTeam, titlesOf } from '#test/support/notifications/notified-team.ts';

/** Notifications that are sent by e-mail. */
let server: TestMailServer;
let api: TestApi;
let team: NotifiedTeam;
let reviewer: ApiUser;

beforeAll(async () => {
  server = await startMailServer();
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_SMTP_URL: server.url,
    COORDINATOR_SMTP_FROM: 'delivery@example.com',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  team = await NotifiedTeam.start(api);
  ({ reviewer } = team);
});
afterAll(async () => {
  await api?.close();
  await server?.close();
});
beforeEach(async () => {
  await team.forget();
  server.received.length = 0;
});

const prefer = (...preferences: object[]) => reviewer.put('/notifications/preferences', { preferences });
const kind = 'run.approval_requested';

describe('a user', () => {
  it('gets one mail about a notification that requires an action, with a link', async () => {
    const run = await team.addAsked(reviewer);
    await sendMessages(api);
    await team.notify();
    await sendMessages(api);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.subject).toMatch(/asks you to review the apply run of net-/);
    expect(server.received[0]?.text).toContain(`https://delivery.example.com/workloads/runs/${run}`);
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });

  it('gets a mail that says which outputs the plan changes and which checks fail', async () => {
    const run = await team.runs.add([]);
    const output = { name: 'site_url', action: 'update', before: 'a', after: 'b', sensitive: false };
    const check = (address: string, status: string) => ({ address, kind: 'check', status, problems: [] });
    const checks = [check('check.certificate', 'pass'), check('check.health', 'fail')];
    const sections = { outputs: [output], checks, actions: [], deferred: [], diagnostics: [] };
    await api.rows('update run_plans set sections = ?::jsonb where run_id = ?', [JSON.stringify(sections), run]);
    await api.rows(
      `update runs set plan_summary = plan_summary || '{"outputs": 1, "checks": 1, "warnings": 2, "deferred": 3}' where id = ?`,
      [run],
    );
    await team.ask(run, reviewer);
    await team.notify();
    await sendMessages(api);
    const [{ text } = { text: '' }] = server.received;
    expect(text).toMatch(
      /The plan: no resource changes, 1 output changes, 3 deferred changes, 1 check fails, 2 warnings\./,
    );
    expect(text).toContain('Outputs that change: site_url');
    expect(text).toMatch(/Checks that fail: check\[?\.\]?health/);
    expect(text).not.toContain('certificate');
  });

  it('gets notifications on the page, by e-mail or neither, according to the preferences for the kind', async () => {
    for (const [page, email] of [
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      await team.forget();
      server.received.length = 0;
      expect((await prefer({ kind, page, email })).status).toBe(200);
      await team.addAsked(reviewer);
      await sendMessages(api);
      expect([page, email, (await titlesOf(reviewer)).length, server.received.length]).toEqual([
        page,
        email,
        Number(page),
        Number(email),
      ]);
    }
  });

  it('can read to which address mails go, and why none are sent', async () => {
    const { body } = await reviewer.get('/notifications/preferences');
    expect(body.email).toEqual({ address: expect.stringContaining('@example.com'), problem: null });
    expect(body.preferences).toContainEqual(
      expect.objectContaining({ kind: 'run.finished', page: true, email: false }),
    );
    await api.rows('update users set email_verified = false where id = ?', [reviewer.id]);
    const unconfirmed = await reviewer.get('/notifications/preferences');
    await team.addAsked(reviewer);
    await sendMessages(api);
    await api.rows('update users set email_verified = true where id = ?', [reviewer.id]);
    expect(unconfirmed.body.email.problem).toBe('Your address is not confirmed.');
    expect(server.received).toEqual([]);
    expect((await storedMessages(api))[0]).toMatchObject({ status: 'withheld' });
  });

  it('a user who left the team before the mail was sent does not get it', async () => {
    await team.addAsked(reviewer);
    const { team: teamId } = team.runs.tenant;
    const rows = await api.rows('delete from team_members where principal_id = ? and team_id = ? returning *', [
      reviewer.id,
      teamId,
    ]);
    expect(rows).toHaveLength(1);
    await sendMessages(api);
    expect(server.received).toEqual([]);
    expect((await storedMessages(api))[0]).toMatchObject({
      status: 'withheld',
      problem: 'the user may not read any more what it is about',
    });
  });
});

describe("every kind of a notification's subject", () => {
  it('has a page to which a mail can link', () => {
    const known = new Set<string>(Object.values(pages));
    for (const subject of subjectKinds) expect(known).toContain(subjectPath(subject, ':id'));
  });
});
