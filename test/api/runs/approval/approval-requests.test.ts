import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUsersToAsk } from '#domain/runs/approval/reviewers.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

/** Requests to review a run: who may be asked, and the reviewers that the run shows. */
let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
let viewer: ApiUser;
let reviewer: ApiUser;
let run: string;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api, { approval_policy: { required: 2, when: 'always', allow_self: false } });
  viewer = await joined('requester', 'viewer');
  reviewer = await joined('maintainer', 'admin');
  const steps = new RunSteps(api, admin);
  const worker = await steps.worker('none');
  const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: tenant.environment });
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId, executed: attemptId });
  run = runId;
});
afterAll(() => api?.close());

async function joined(role: 'requester' | 'maintainer', team: 'viewer' | 'admin' | 'member'): Promise<ApiUser> {
  const user = await api.addUser(role);
  await join(tenant, user, 'member', team);
  return user;
}

const ask = (by: ApiUser, ...reviewers: string[]) =>
  by.post(`/runs/${run}/approval/request`, { reviewers, message: 'please' });
const read = async () => (await viewer.get(`/runs/${run}`)).body;

/** Acts while everybody else who could review a run is disabled. */
async function withOnly<Answer>(ids: readonly string[], act: () => Promise<Answer>): Promise<Answer> {
  const others = await api.rows<{ id: string }>(
    `update principals set enabled = false
     where role in ('admin', 'operator', 'maintainer') and enabled and id <> all(?::uuid[]) returning id`,
    [`{${ids}}`],
  );
  try {
    return await act();
  } finally {
    const disabled = `{${others.map(({ id }) => id)}}`;
    await api.rows('update principals set enabled = true where id = any(?::uuid[])', [disabled]);
  }
}

describe('the page of a run that waits for approval', () => {
  it('says that nobody has been asked, with the way to ask, until somebody asks', async () => {
    const page = await signInVisitor(api, viewer);
    const shown = async () => (await page.get(`/workloads/runs/${run}`)).text;
    const nobody = `Nobody has been asked yet. <a href="/workloads/runs/${run}/request-approval">Ask for a review</a>`;
    expect(await shown()).toContain(nobody);
    expect(await ask(viewer)).toMatchObject({ status: 202 });
    expect(await shown()).toContain('Everybody who may review it was asked.');
    expect(await shown()).not.toContain('Nobody has been asked');
    expect(await ask(viewer, reviewer.id)).toMatchObject({ status: 202 });
    const [{ name }] = (await read()).reviewers;
    expect(await shown()).toContain(`Asked: <span class="foreign">${name}</span>.`);
    await api.rows(`update runs set reviewers = '[]' where id = ?`, [run]);
  });
});

describe('a request for reviews', () => {
  it('adds the reviewers to the run, publishes an event, and changes nothing else', async () => {
    const before = await read();
    expect(before.reviewers).toEqual([]);
    const answer = await ask(viewer, reviewer.id, reviewer.id);
    const shown = [{ type: 'user', id: reviewer.id, name: expect.any(String) }];
    expect(answer).toMatchObject({ status: 202, body: { reviewers: shown, status: 'pending_approval' } });
    const { reviewers: _, revision, ...after } = await read();
    const { reviewers: __, revision: former, ...rest } = before;
    expect(after).toEqual(rest);
    expect(revision).toBe(former + 1);
    const { events } = (await viewer.get(`/runs/${run}/events`)).body;
    expect(events.at(-1)).toMatchObject({
      type: 'run.approval_requested',
      data: { reviewers: [reviewer.id], message: 'please' },
    });
  });

  it('adds reviewers to those who were asked before', async () => {
    const other = await joined('maintainer', 'admin');
    await ask(viewer, reviewer.id);
    await ask(viewer, other.id);
    expect((await read()).reviewers.map(({ id }: { id: string }) => id)).toEqual([reviewer.id, other.id]);
  });

  it('is refused if it names nobody and no user but the asker may review the run', async () => {
    const account = { name: 'Approver', role: 'maintainer', owner: { team_id: tenant.team } };
    const { id } = await tenant.owner.make('/service-accounts', account);
    expect(await ask(viewer, id)).toMatchObject({ status: 202 });
    for (const asker of [admin, reviewer]) {
      const alone = await withOnly([asker.id, id], () => ask(asker));
      expect(alone).toMatchObject({ status: 422, headers: { 'x-error-code': 'reviewers_ineligible' } });
      expect(alone.body.error).toContain('no other user may review this run now');
      expect((await ask(asker)).status).toBe(202);
    }
  });

  it('goes to administrators of the installation if the asker is the only one of the team who may review the run', async () => {
    const other = await api.addUser('admin');
    expect(await withOnly([reviewer.id, other.id], () => ask(reviewer))).toMatchObject({ status: 202 });
    const eligible = await withOnly([reviewer.id, other.id], () =>
      findUsersToAsk(api.services.orm.em.fork(), run, reviewer.id),
    );
    expect(eligible).toEqual([other.id]);
  });

  it('may name nobody, and publishes an event', async () => {
    expect(await ask(viewer)).toMatchObject({ status: 202 });
  });

  it('is refused with the ids of all who may not review the run, and then asks nobody', async () => {
    const disabled = await joined('maintainer', 'admin');
    await admin.put(`/users/${disabled.id}`, { enabled: false });
    const { reviewers } = await read();
    const [member, powerless] = [await joined('maintainer', 'member'), await joined('requester', 'admin')];
    const wrong = [disabled.id, member.id, powerless.id, viewer.id, admin.id];
    const answer = await ask(viewer, reviewer.id, ...wrong);
    expect(answer).toMatchObject({ status: 422, headers: { 'x-error-code': 'reviewers_ineligible' } });
    for (const id of wrong) expect(answer.body.error).toContain(id);
    expect(answer.body.error).not.toContain(reviewer.id);
    expect((await read()).reviewers).toEqual(reviewers);
  });

  it("says in its refusal what each user of the caller's teams lacks, and who can grant it", async () => {
    const disabled = await joined('maintainer', 'admin');
    await admin.put(`/users/${disabled.id}`, { enabled: false });
    const [member, powerless] = [await joined('maintainer', 'member'), await joined('requester', 'admin')];
    const { body } = await ask(viewer, disabled.id, member.id, powerless.id, admin.id);
    expect(body.error).toContain(
      [
        `${disabled.id} (the account is disabled; who manages users can enable it)`,
        `${member.id} (reviewing takes the role owner or admin in the team; who manages the members of the team can give it)`,
        `${powerless.id} (the platform role lacks the permission to review it; who manages users can give another role)`,
        `${admin.id}; `,
      ].join(', '),
    );
  });

  it('answers the same for hidden users as for users that do not exist', async () => {
    const stranger = await api.addUser('admin');
    const nobody = randomUUID();
    const [existing, missing] = [await ask(viewer, stranger.id), await ask(viewer, nobody)];
    expect([existing.status, missing.status]).toEqual([422, 422]);
    expect(existing.body.error.replace(stranger.id, '')).toBe(missing.body.error.replace(nobody, ''));
  });

  it('lets a caller who manages users ask an administrator outside the team', async () => {
    const other = await api.addUser('admin');
    expect(await ask(admin, other.id)).toMatchObject({ status: 202 });
  });

  it('is refused if it names somebody who has already reviewed the run', async () => {
    const { plan } = await read();
    const body = { decision: 'approve', plan_digest: plan.digest };
    expect(await reviewer.post(`/runs/${run}/approval/review`, body)).toMatchObject({ status: 200 });
    expect(await ask(viewer, reviewer.id)).toMatchObject({ status: 422 });
  });
});
