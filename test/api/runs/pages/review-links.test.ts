import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

/** The link that a reader of a run sends to a user who is asked for a review and may not see the run. */

let api: TestApi;
let tenant: Tenant;
let viewer: ApiUser;
let asked: ApiUser;
let root: ApiUser;
let run: string;
let visitor: Visitor;
let reader: Visitor;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api, { approval_policy: { required: 1, when: 'always', allow_self: false } });
  viewer = await api.addUser('requester', 'Vera Viewer');
  asked = await api.addUser('maintainer', 'Ada Asked');
  await join(tenant, viewer, 'member', 'viewer');
  await join(tenant, asked, 'member');
  root = await api.addUser('admin', 'Rosa Root');
  const steps = new RunSteps(api, root);
  const worker = await steps.worker('none');
  const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: tenant.environment });
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId, executed: attemptId });
  run = runId;
  [reader, visitor] = await Promise.all([signInVisitor(api, viewer), signInVisitor(api, asked)]);
});
afterAll(() => api?.close());

const path = () => `/workloads/runs/${run}`;

/** Requests a review of a user as the reader of the run. Returns the status, and the link for that user or undefined. */
async function askFor(who: string): Promise<{ status: number; link: string | undefined }> {
  const { status, text } = await reader.submit(`${path()}/request-approval`, { message: '', other: who });
  return { status, link: /value="https?:\/\/[^/"]+(\/[^"]+asked=[^"]+)"/.exec(text)?.[1] };
}

/** The link that the reader of the run gets for somebody who may not review it; undefined: none. */
async function linkFor(who: string): Promise<string | undefined> {
  const { status, link } = await askFor(who);
  expect(status).toBe(422);
  return link;
}

const wordsOf = (text: string) => text.replace(/[\s\S]*<main/, '').replaceAll(/<[^>]*>/g, ' ');

describe('the review link for a user who may not see the run', () => {
  let link: string;
  beforeEach(async () => {
    link = (await linkFor('Ada Asked')) ?? '';
  });

  it('is offered where the review request is refused, with what the user lacks', async () => {
    const { status, text } = await reader.submit(`${path()}/request-approval`, { message: '', other: 'Ada Asked' });
    expect(status).toBe(422);
    expect(text).toContain('Ada Asked may not review this run');
    expect(text).toContain('who manages the members of the team can give it');
    expect(text).toContain('Link for Ada Asked');
  });

  it('shows the team, who asked and what to do to the asked user, and nothing of the run', async () => {
    const { status, text } = await visitor.get(link);
    expect(status).toBe(404);
    expect(wordsOf(text)).toMatch(/Vera Viewer\s+asks you to review a run of the team\s+Core/);
    expect(wordsOf(text)).toMatch(/Ask an owner or an administrator of the team to add you/);
    const { body } = await viewer.get(`/runs/${run}`);
    for (const fact of [body.instance, body.template_version, 'Needs approval', 'apply', 'Development', 'Network'])
      expect(wordsOf(text), fact).not.toContain(fact);
  });

  it('leads to the run once the user has access', async () => {
    const other = await api.addUser('maintainer', 'Anton Added');
    await join(tenant, other, 'member');
    const theirs = (await linkFor('Anton Added')) ?? '';
    const later = await signInVisitor(api, other);
    expect((await later.get(theirs)).status).toBe(404);
    await join(tenant, other, 'member', 'admin');
    const { status, text } = await later.get(theirs);
    expect([status, text.includes('asks you to review')]).toEqual([200, false]);
  });

  it('answers 404 to anybody else, and without a valid signature', async () => {
    const { status: plainStatus, text: plain } = await visitor.get(path());
    expect(plainStatus).toBe(404);
    const stranger = await makeTenant(api);
    const colleague = await api.addUser('maintainer');
    await join(tenant, colleague, 'member');
    for (const other of [stranger.owner, colleague]) {
      const { status, text } = await (await signInVisitor(api, other)).get(link);
      expect([status, /Vera|Core|asks you/.test(wordsOf(text))]).toEqual([404, false]);
    }
    const [, token = ''] = link.split('asked=');
    const [requester = '', expires = '', signature = ''] = token.split('.');
    const forged = [
      [tenant.owner.id, expires, signature],
      [requester, String(Number(expires) + 1), signature],
      [requester, expires, `${signature.slice(0, -4)}AAAA`],
      [requester, expires, ''],
      ['', '', ''],
    ];
    for (const parts of forged) {
      const { status, text } = await visitor.get(`${path()}?asked=${parts.join('.')}`);
      expect([status, wordsOf(text).includes('asks you')], parts.join('.')).toEqual([404, false]);
    }
    expect(wordsOf(plain)).not.toContain('asks you');
    const anonymous = await api.app.inject({ method: 'GET', url: link, headers: { accept: 'text/html' } });
    expect([anonymous.statusCode, /Vera|asks you/.test(anonymous.body)]).toEqual([303, false]);
  });

  it('answers 404 once it has expired or its sender has lost access', async () => {
    // A clock that runs ahead would leave ids of the future to the other tests of this process.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 8 * 24 * 60 * 60 * 1000 });
    let expired: string | undefined;
    try {
      expired = await linkFor('Ada Asked');
    } finally {
      vi.useRealTimers();
    }
    expect(expired).toContain('asked=');
    const late = await visitor.get(expired ?? '');
    expect([late.status, wordsOf(late.text).includes('asks you')]).toEqual([404, false]);
    const { status } = await tenant.owner.delete(`${tenant.teamPath}/members/${viewer.id}`);
    expect(status).toBe(204);
    const without = await visitor.get(link);
    expect([without.status, wordsOf(without.text).includes('asks you')]).toEqual([404, false]);
    await join(tenant, viewer, 'member', 'viewer');
    expect(wordsOf((await visitor.get(link)).text)).toContain('asks you');
  });

  it("answers 404 after the run's project was transferred to another team", async () => {
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Elsewhere' });
    await api.rows('update projects set team_id = ? where id = ?', [other.id, tenant.project]);
    await api.rows('update runs set team_id = ? where id = ?', [other.id, run]);
    try {
      const { status: answered, text } = await visitor.get(link);
      expect([answered, /asks you|Elsewhere/.test(wordsOf(text))]).toEqual([404, false]);
    } finally {
      await api.rows('update projects set team_id = ? where id = ?', [tenant.team, tenant.project]);
      await api.rows('update runs set team_id = ? where id = ?', [tenant.team, run]);
    }
  });

  it('leaves an audit record with the user whom it is for', async () => {
    const { body } = await tenant.owner.get(`/audit?resource_id=${run}&action=run.approval_requested`);
    const [record] = body.audit_records;
    expect(record).toMatchObject({ actor: { id: viewer.id }, outcome: 'committed', after: { link_for: asked.id } });
  });

  it('is not offered for a run that does not wait for a review or was deleted, and an existing link shows nothing then', async () => {
    const change = (changes: string) => api.rows(`update runs set ${changes} where id = ?`, [run]);
    for (const [changes, back, status] of [
      [`deleted_at = now()`, `deleted_at = null`, 422],
      [`status = 'canceled'`, `status = 'pending_approval'`, 409],
    ] as const) {
      await change(changes);
      try {
        expect(wordsOf((await visitor.get(link)).text), changes).not.toMatch(/asks you|Core/);
        expect(await askFor('Ada Asked'), changes).toEqual({ status, link: undefined });
      } finally {
        await change(back);
      }
    }
    expect(wordsOf((await visitor.get(link)).text)).toContain('asks you');
  });

  it('is not offered for a user whom the visitor may not see, or who may see the run', async () => {
    const { owner } = await makeTenant(api);
    expect(await linkFor(owner.id)).toBeUndefined();
    const member = await api.addUser('requester', 'Mira Member');
    await join(tenant, member, 'member', 'member');
    expect(await linkFor('Mira Member')).toBeUndefined();
  });
});

describe('the refusal of a review request', () => {
  it('names a user who may see the run but not review it, and the visitor themselves, without ids', async () => {
    await join(tenant, root, 'member');
    for (const { id, name } of [
      { id: root.id, name: 'Rosa Root' },
      { id: viewer.id, name: 'Vera Viewer' },
    ]) {
      const { status, text } = await reader.submit(`${path()}/request-approval`, { message: '', other: name });
      const [, problem = ''] = /role="alert"([\s\S]*?)<input/.exec(text) ?? [];
      expect([status, wordsOf(problem).includes(name)], problem).toEqual([422, true]);
      expect(problem).not.toContain(id);
    }
  });
});
