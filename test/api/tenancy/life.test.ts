import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { openDatabase } from '#open-database';
import {
  addEnvironment,
  addPerson,
  addServiceAccount,
  addTeam,
  type Person,
  type Policy,
  publish,
} from '#test/support/access/people.ts';
import { Caller, ended } from '#test/support/api/caller.ts';
import { type System, startSystem } from '#test/support/system.ts';

/** A directory that steps write to, whatever user they run as: what they trace, and the gates that they wait at. */
const shared = mkdtempSync(join(tmpdir(), 'coordinator-life-'));
chmodSync(shared, 0o777);
const trace = join(shared, 'trace');
writeFileSync(trace, '');
chmodSync(trace, 0o666);

const waitAtGate = 'while [ -n "$COORDINATOR_VAR_GATE" ] && [ ! -e "$COORDINATOR_VAR_GATE" ]; do sleep 0.05; done';
const say = (word: string) => `[ -z "$COORDINATOR_VAR_NAME" ] || echo ${word} $COORDINATOR_VAR_NAME >> ${trace}`;
const spec = {
  variables: {
    type: 'object',
    properties: {
      name: { type: 'string', default: '' },
      gate: { type: 'string', default: '' },
      plan_gate: { type: 'string', default: '' },
      token: { type: 'string', writeOnly: true },
    },
  },
  outputs: { token_length: {} },
  executor: {
    kind: 'command',
    plan: [
      {
        name: 'plan',
        run: [
          'sh',
          '-c',
          `${waitAtGate.replaceAll('VAR_GATE', 'VAR_PLAN_GATE')}; echo '[{"address":"thing","action":"create","before":null,"after":{}}]' > plan.json`,
        ],
      },
    ],
    apply: [
      {
        name: 'apply',
        run: [
          'sh',
          '-c',
          `${say('begin')}; ${waitAtGate}; ${say('end')}; printf '{"token_length": %s}' "$(grep -o '"token": *"[^"]*"' variables.json | wc -c)" > outputs.json`,
        ],
      },
    ],
  },
};

let system: System;
let orm: Orm;
let api: { url: string; orm: Orm };
let templateId: string;
let team: { organizationId: string; teamId: string };
let requester: Person;
const reviewers: Person[] = [];

beforeAll(async () => {
  // Steps and tests tell each other by files of the machine, which a sandbox would not show them.
  system = await startSystem({ COORDINATOR_EXECUTOR_ISOLATION: 'none' });
  orm = openDatabase({ databaseUrl: system.database.url, databasePoolSize: 4 });
  api = { url: system.url, orm };
  templateId = await publish(system.administrator, spec);
  team = await addTeam(orm);
  requester = await addMember('operator', 'correct horse battery');
  for (let index = 0; index < 4; index += 1) reviewers.push(await addMember('operator'));
});
afterAll(async () => {
  await orm?.close();
  await system?.close();
  rmSync(shared, { recursive: true, force: true });
});

const addMember = (role: 'operator' | 'maintainer', password?: string) =>
  addPerson(api, role, { teams: { [team.teamId]: 'admin' } }, password);
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
const newGate = () => join(shared, randomUUID());
const openGate = (gate: string) => writeFileSync(gate, '');
const read = async (id: string) => (await system.administrator.get(`/runs/${id}`)).body;
const storyOf = async (id: string): Promise<string[]> =>
  (await system.administrator.get(`/runs/${id}/events`)).body.events.map(({ type }: { type: string }) => type);

async function admit(body: object = {}, caller: Caller = requester.caller) {
  const answer = await caller.post('/runs', { template_id: templateId, instance: `i-${randomUUID()}`, ...body });
  expect(answer.status, answer.text).toBe(202);
  return answer.body;
}
const awaitRun = (id: string, ...statuses: string[]) => system.administrator.awaitRun(id, statuses);
const awaitEnd = (id: string) => awaitRun(id, ...ended);

/** A run of the requester that waits for approval under a policy of its environment. */
async function admitPending(policy: Policy, caller: Caller = requester.caller, body: object = {}) {
  const { environmentId } = await addEnvironment(orm, team.teamId, policy);
  const run = await admit({ environment_id: environmentId, ...body }, caller);
  return awaitRun(run.id, 'pending_approval');
}
const review = (
  caller: Caller,
  run: { id: string; plan: { digest: string } },
  decision = 'approve',
  digest = run.plan.digest,
) => caller.post(`/runs/${run.id}/approval/review`, { decision, plan_digest: digest, comment: 'seen' });

describe('the runs of one instance', () => {
  it('change it one at a time, in the order of their admission, and say what they wait for', async () => {
    const instance = `i-${randomUUID()}`;
    const [gate, nextGate] = [newGate(), newGate()];
    const first = await admit({ instance, variables: { name: 'first', gate } });
    await awaitRun(first.id, 'running');
    const second = await admit({ instance, variables: { name: 'second', gate: nextGate } });
    const third = await admit({ instance, variables: { name: 'third' } });
    const fourth = await admit({ instance, variables: { name: 'fourth' } });
    const waits = (code: string, position: number, blocker: string) => ({
      status: 'queued',
      waiting_on: { code, position, blocker },
    });
    await expect.poll(() => read(fourth.id), { timeout: 10_000 }).toMatchObject(waits('instance_busy', 3, first.id));
    expect((await read(fourth.id)).revision).toBeGreaterThan(fourth.revision);
    const beside = await admit({ variables: { name: 'beside' } });
    const looking = await admit({ instance, operation: 'plan' });
    expect((await awaitEnd(beside.id)).status).toBe('succeeded');
    expect((await awaitEnd(looking.id)).status).toBe('succeeded');
    expect((await read(second.id)).status).toBe('queued');
    openGate(gate);
    await awaitRun(second.id, 'running');
    expect(await read(fourth.id)).toMatchObject(waits('instance_busy', 2, second.id));
    openGate(nextGate);
    for (const run of [first, second, third, fourth]) expect((await awaitEnd(run.id)).status).toBe('succeeded');
    const lines = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => /first|second|third|fourth/.test(line));
    expect(lines).toEqual(['first', 'second', 'third', 'fourth'].flatMap((name) => [`begin ${name}`, `end ${name}`]));
  });

  it('get their places one after another, however many are admitted at once', async () => {
    const instance = `i-${randomUUID()}`;
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, n) => admit({ instance, variables: { name: `crowd${n}` } })),
    );
    for (const { id } of runs) expect((await awaitEnd(id)).status).toBe('succeeded');
    const rows = await execute<{ name: string; position: number }>(
      `select variables->>'name' as name, instance_position as position from runs where instance = ? order by instance_position`,
      instance,
    );
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const lines = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => line.includes('crowd'));
    expect(lines).toEqual(rows.flatMap(({ name }) => [`begin ${name}`, `end ${name}`]));
  });

  it('show what a worker says whose clock is behind', async () => {
    const gate = newGate();
    const run = await admit({ variables: { gate } });
    await awaitRun(run.id, 'running');
    await expect.poll(() => read(run.id), { timeout: 20_000 }).toMatchObject({ phase: 'applying' });
    const [{ id: attemptId } = { id: '' }] = await execute<{ id: string }>(
      'select attempt_id as id from runs where id = ?',
      run.id,
    );
    const content = Buffer.from('said an hour ago\n');
    await appendLog(orm.em.fork(), attemptId, {
      sequence: 1_000,
      phase: 'apply',
      stream: 'stdout',
      content,
      firstLine: 1,
      lines: 1,
      checksum: 'none',
      time: new Date(Date.now() - 3_600_000).toISOString(),
    });
    const log = await system.administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('said an hour ago');
    openGate(gate);
    await awaitEnd(run.id);
    await requester.caller.send('DELETE', `/runs/${run.id}`);
    expect(await execute('select 1 from run_log_chunks where run_id = ?', run.id)).toEqual([]);
  });

  it('go on behind one that was canceled in the line, or ended by force at its work', async () => {
    const instance = `i-${randomUUID()}`;
    const holder = await admit({ instance, variables: { gate: newGate() } });
    await awaitRun(holder.id, 'running');
    const [second, third] = [await admit({ instance }), await admit({ instance })];
    await requester.caller.post(`/runs/${second.id}/cancel`);
    expect(await awaitEnd(second.id)).toMatchObject({ status: 'canceled', started_at: null });
    expect((await read(third.id)).status).toBe('queued');
    const forced = await requester.caller.post(`/runs/${holder.id}/cancel`, { force: true });
    expect(forced.body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
    expect((await awaitEnd(third.id)).status).toBe('succeeded');
    expect((await read(holder.id)).status).toBe('canceled');
  });

  it('are not held up by one that waits for a worker of another pool behind them', async () => {
    const elsewhere = await publish(system.administrator, { ...spec, pool: 'nowhere' });
    const stuck = await admit({ template_id: elsewhere });
    await expect.poll(() => read(stuck.id), { timeout: 10_000 }).toMatchObject({ waiting_on: { code: 'no_worker' } });
    expect((await awaitEnd((await admit()).id)).status).toBe('succeeded');
    await requester.caller.post(`/runs/${stuck.id}/cancel`);
    expect((await awaitEnd(stuck.id)).status).toBe('canceled');
  });
});

describe('a review', () => {
  it('lets the run go on when as many people as are required have approved its plan, each once', async () => {
    const run = await admitPending({ required: 2 });
    expect(run).toMatchObject({
      phase: 'approval',
      waiting_on: { code: 'approval' },
      approval: { required: 2, reviews: [] },
    });
    const [one, two, three] = reviewers as [Person, Person, Person];
    const first = await review(one.caller, run);
    expect(first.body, first.text).toMatchObject({
      status: 'pending_approval',
      approval: { reviews: [{ by: { id: one.id } }] },
    });
    const twice = await review(one.caller, run);
    expect([twice.status, twice.body.error]).toEqual([409, expect.stringMatching(/^you have already decided/)]);
    expect((await review(one.caller, run, 'reject')).status).toBe(409);
    expect((await read(run.id)).status).toBe('pending_approval');
    expect((await review(two.caller, run)).status).toBe(200);
    const done = await awaitEnd(run.id);
    expect(done).toMatchObject({
      status: 'succeeded',
      approval: { reviews: [{ by: { id: one.id } }, { by: { id: two.id } }] },
    });
    const late = await review(three.caller, run);
    expect([late.status, late.body.error]).toEqual([409, expect.stringMatching(/its status is succeeded$/)]);
  });

  it('of anything but the plan that waits is refused', async () => {
    const run = await admitPending({ required: 1 });
    const { caller } = reviewers[0]!;
    const moved = await review(caller, run, 'approve', `sha256:${'0'.repeat(64)}`);
    expect([moved.status, moved.body.error]).toEqual([409, expect.stringContaining(run.plan.digest)]);
    expect((await review(caller, run, 'reject', `sha256:${'0'.repeat(64)}`)).status).toBe(409);
    for (const digest of [
      '',
      'latest',
      run.plan.digest.toUpperCase(),
      run.plan.digest.slice(0, -1),
      `${run.plan.digest}0`,
    ])
      expect((await review(caller, run, 'approve', digest)).status, digest).toBe(400);
    const other = await admitPending({ required: 1 });
    expect((await review(caller, run, 'approve', other.plan.digest)).status).toBe(409);
    expect((await read(run.id)).approval.reviews).toEqual([]);
    for (const { id } of [run, other]) await requester.caller.post(`/runs/${id}/cancel`);
  });

  it('of one’s own run is refused, whichever credential asked and whichever approves', async () => {
    const session = await Caller.signIn(system.url, requester.email, 'correct horse battery');
    const byKey = await admitPending({ required: 1 });
    const bySession = await admitPending({ required: 1 }, session);
    for (const [run, caller] of [
      [byKey, session],
      [byKey, requester.caller],
      [bySession, requester.caller],
    ] as const) {
      const answer = await review(caller, run);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^you answer for this run/)]);
    }
    expect((await review(session, byKey, 'reject')).body).toMatchObject({
      status: 'canceled',
      status_reason: 'rejected',
    });
    expect((await review(reviewers[0]!.caller, bySession)).status).toBe(200);
    expect((await awaitEnd(bySession.id)).status).toBe('succeeded');
  });

  it('of one’s own run counts where the environment allows it, and then once', async () => {
    const run = await admitPending({ required: 2, allowSelf: true });
    expect((await review(requester.caller, run)).status).toBe(200);
    expect((await review(requester.caller, run)).status).toBe(409);
    expect((await read(run.id)).status).toBe('pending_approval');
    expect((await review(reviewers[0]!.caller, run)).status).toBe(200);
    expect((await awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('by the account that asked is refused, also once somebody else answers for it; and by who answers for it', async () => {
    const [, issuer, other] = reviewers as [Person, Person, Person];
    const account = await addServiceAccount(api, 'maintainer', {}, { teamId: team.teamId });
    const issuedBy = (person: Person) =>
      api.orm.em.fork().execute('update api_keys set issued_by = ? where principal_id = ?', [person.id, account.id]);
    await issuedBy(issuer);
    const run = await admitPending({ required: 1 }, account.caller);
    expect(run.responsible_user_id).toBe(issuer.id);
    expect((await review(issuer.caller, run)).status).toBe(409);
    expect((await review(account.caller, run)).status).toBe(409);
    await issuedBy(other);
    expect((await review(account.caller, run)).status).toBe(409);
    expect((await review(reviewers[0]!.caller, run)).status).toBe(200);
    expect((await awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('by whoever asked for the run that was requeued is refused too', async () => {
    const original = await admitPending({ required: 1 });
    await review(reviewers[0]!.caller, original, 'reject');
    const [, second, third] = reviewers as [Person, Person, Person];
    const again = await second.caller.post(`/runs/${original.id}/requeue`);
    await awaitRun(again.body.id, 'pending_approval');
    await second.caller.post(`/runs/${again.body.id}/cancel`);
    await awaitEnd(again.body.id);
    const requeued = await third.caller.post(`/runs/${again.body.id}/requeue`);
    const run = await awaitRun(requeued.body.id, 'pending_approval');
    for (const person of [requester, second, third]) {
      const answer = await review(person.caller, run);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^you answer for this run/)]);
    }
    expect((await review(reviewers[0]!.caller, run)).status).toBe(200);
    expect((await awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('that rejects ends the run and frees the instance, whatever was approved before', async () => {
    const run = await admitPending({ required: 2 });
    await review(reviewers[0]!.caller, run);
    const rejected = await review(reviewers[1]!.caller, run, 'reject');
    expect(rejected.body).toMatchObject({ status: 'canceled', status_reason: 'rejected', waiting_on: null });
    expect(await execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    expect((await review(reviewers[2]!.caller, run)).status).toBe(409);
    expect(await storyOf(run.id)).not.toContain('run.applying');
  });

  it('that comes after the time for it is refused', async () => {
    const run = await admitPending({ required: 1 });
    await system.stopWorker(); // and with it whoever would end the run for that
    await execute(`update runs set approval_expires_at = now() - interval '1 second' where id = ?`, run.id);
    for (const decision of ['approve', 'reject']) {
      const answer = await review(reviewers[0]!.caller, run, decision);
      expect([answer.status, answer.body.error]).toEqual([409, 'the time for approval is over']);
    }
    expect((await read(run.id)).approval.reviews).toEqual([]);
    await requester.caller.post(`/runs/${run.id}/cancel`);
    await system.startWorker();
    expect((await awaitEnd(run.id)).status).toBe('canceled');
  });

  it('counts once for one key, and the key decides nothing else', async () => {
    const run = await admitPending({ required: 2 });
    const path = `/runs/${run.id}/approval/review`;
    const body = { decision: 'approve', plan_digest: run.plan.digest };
    const key = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => reviewers[0]!.caller.post(path, body, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await reviewers[0]!.caller.post(path, { ...body, decision: 'reject' }, key)).status).toBe(409);
    expect((await read(run.id)).approval.reviews).toHaveLength(1);
    await requester.caller.post(`/runs/${run.id}/cancel`);
  });

  it('of many people at once applies the plan once', async () => {
    const run = await admitPending({ required: 1 });
    const answers = await Promise.all(reviewers.map(({ caller }) => review(caller, run)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect((await awaitEnd(run.id)).status).toBe('succeeded');
    expect((await storyOf(run.id)).filter((type) => type === 'run.applying')).toHaveLength(1);
  });

  it('and a cancellation at once leave the run in one of both ways, never in between', async () => {
    for (let round = 0; round < 3; round += 1) {
      const run = await admitPending({ required: 1 });
      const [reviewed, canceled] = await Promise.all([
        review(reviewers[0]!.caller, run),
        requester.caller.post(`/runs/${run.id}/cancel`),
      ]);
      expect([200, 409]).toContain(reviewed?.status);
      const end = await awaitEnd(run.id);
      // An apply that was over before its worker heard of the cancellation has succeeded, and says so.
      const possible = reviewed?.status === 409 ? ['canceled'] : ['canceled', 'succeeded'];
      expect(canceled?.status === 202 ? possible : ['succeeded']).toContain(end.status);
      expect(await execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    }
  });

  it('can be asked for, which changes nothing about the run', async () => {
    const run = await admitPending({ required: 1 });
    const asked = await requester.caller.post(`/runs/${run.id}/approval/request`, {
      reviewers: [reviewers[0]!.id],
      message: 'please',
    });
    expect([asked.status, asked.body.status]).toEqual([202, 'pending_approval']);
    expect(await storyOf(run.id)).toContain('run.approval_requested');
    await requester.caller.post(`/runs/${run.id}/cancel`);
    await awaitEnd(run.id);
    expect((await requester.caller.post(`/runs/${run.id}/approval/request`, {})).status).toBe(409);
  });
});

describe('a cancellation', () => {
  it.each(['planning', 'applying'])(
    'while %s stops the work and ends the run when the worker says so',
    async (phase) => {
      const gate = newGate();
      const instance = `i-${randomUUID()}`;
      const run = await admit({ instance, variables: phase === 'planning' ? { plan_gate: gate } : { gate } });
      await expect.poll(() => read(run.id), { timeout: 20_000 }).toMatchObject({ status: 'running', phase });
      await expect.poll(() => isClaimed(run.id), { timeout: 20_000 }).toBe(true);
      const canceled = await requester.caller.post(`/runs/${run.id}/cancel`, { reason: 'wrong region' });
      expect(canceled.status).toBe(202);
      expect(canceled.body.status).toMatch(/^cancell?(ing|ed)$/);
      const end = await awaitEnd(run.id);
      expect(end).toMatchObject({
        status: 'canceled',
        status_reason: 'canceled_by_user',
        cancel_reason: 'wrong region',
      });
      expect(end.finished_at).not.toBeNull();
      openGate(gate);
      expect((await awaitEnd((await admit({ instance })).id)).status).toBe('succeeded');
      expect((await read(run.id)).revision).toBe(end.revision);
    },
  );

  it('while it waits for approval ends the run and frees the instance', async () => {
    const run = await admitPending({ required: 1 });
    await requester.caller.post(`/runs/${run.id}/cancel`);
    expect(await awaitEnd(run.id)).toMatchObject({ status: 'canceled', status_reason: 'canceled_by_user' });
    expect(await execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    expect((await review(reviewers[0]!.caller, run)).status).toBe(409);
  });

  it('asked for again changes nothing, until force is added', async () => {
    await system.stopWorker();
    try {
      const run = await admit();
      for (let index = 0; index < 3; index += 1) {
        const answer = await requester.caller.post(`/runs/${run.id}/cancel`, {});
        expect([answer.status, answer.body.status]).toEqual([202, 'canceling']);
      }
      expect((await storyOf(run.id)).filter((type) => type === 'run.cancel_requested')).toHaveLength(1);
      const forced = await requester.caller.post(`/runs/${run.id}/cancel`, { force: true });
      expect(forced.body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
      expect((await requester.caller.post(`/runs/${run.id}/cancel`, { force: true })).status).toBe(409);
    } finally {
      await system.startWorker();
    }
  });

  it.each(['succeeded', 'failed', 'canceled'])('of a run that has %s conflicts', async (status) => {
    const run = await endAs(status);
    for (const body of [{}, { force: true }]) {
      const answer = await requester.caller.post(`/runs/${run.id}/cancel`, body);
      expect([answer.status, answer.body.error]).toEqual([
        409,
        `the run has already ended (${status}): there is nothing to cancel`,
      ]);
    }
    expect((await read(run.id)).revision).toBe(run.revision);
  });

  async function isClaimed(runId: string): Promise<boolean> {
    const rows = await execute(
      'select 1 from run_attempts a join runs r on r.attempt_id = a.id where r.id = ? and a.worker_id is not null',
      runId,
    );
    return rows.length > 0;
  }
});

describe('a requeue', () => {
  it('of a run that has not ended conflicts', async () => {
    const gate = newGate();
    const running = await admit({ variables: { gate } });
    const pending = await admitPending({ required: 1 });
    for (const { id } of [running, pending]) {
      const answer = await requester.caller.post(`/runs/${id}/requeue`);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the run has not ended/)]);
    }
    await requester.caller.post(`/runs/${pending.id}/cancel`);
    openGate(gate);
    await awaitEnd(running.id);
  });

  it.each(['succeeded', 'failed', 'canceled'])(
    'of a run that has %s is a new one with the same version and inputs',
    async (status) => {
      const run = await endAs(status);
      const key = { 'idempotency-key': randomUUID() };
      const answer = await reviewers[0]!.caller.post(`/runs/${run.id}/requeue`, undefined, key);
      expect(answer.status, answer.text).toBe(202);
      expect(answer.body).toMatchObject({
        requeued_from: run.id,
        idempotency_key: key['idempotency-key'],
        template_version: run.template_version,
        variables: run.variables,
        instance_id: run.instance_id,
        operation: run.operation,
        requested_by: { id: reviewers[0]!.id },
      });
      expect(answer.body.id).not.toBe(run.id);
      expect((await reviewers[0]!.caller.post(`/runs/${run.id}/requeue`, undefined, key)).body.id).toBe(answer.body.id);
      if (status === 'canceled') await requester.caller.post(`/runs/${answer.body.id}/cancel`);
      await awaitEnd(answer.body.id);
      expect(await read(run.id)).toMatchObject({ status, revision: run.revision });
    },
  );

  it('gets the secrets that its run got, and shows them as little', async () => {
    const first = await admit({ variables: { token: 'hunter2-hunter2' } });
    const { outputs } = await awaitEnd(first.id);
    const again = await requester.caller.post(`/runs/${first.id}/requeue`);
    expect(again.body.variables.token).toEqual({ sensitive: true });
    expect((await awaitEnd(again.body.id)).outputs).toEqual(outputs);
    expect(outputs.token_length.value).toBeGreaterThan(15);
  });

  it('is refused where the environment was archived meanwhile', async () => {
    const { environmentId } = await addEnvironment(orm, team.teamId);
    const run = await admit({ environment_id: environmentId });
    await awaitEnd(run.id);
    await execute('update environments set archived_at = now() where id = ?', environmentId);
    const answer = await requester.caller.post(`/runs/${run.id}/requeue`);
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the environment is archived/)]);
  });
});

describe('a deletion', () => {
  it('of a run that has not ended conflicts', async () => {
    const gate = newGate();
    const running = await admit({ variables: { gate } });
    const pending = await admitPending({ required: 1 });
    for (const { id } of [running, pending]) {
      const answer = await requester.caller.send('DELETE', `/runs/${id}`);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the run has not ended/)]);
    }
    await requester.caller.post(`/runs/${pending.id}/cancel`);
    openGate(gate);
    expect((await awaitEnd(running.id)).status).toBe('succeeded');
  });

  it('takes the log and the plan, and leaves who did what and why', async () => {
    const key = randomUUID();
    const { environmentId } = await addEnvironment(orm, team.teamId, { required: 1 });
    const body = {
      template_id: templateId,
      environment_id: environmentId,
      instance: 'kept',
      variables: { token: 'secret-of-it' },
    };
    const admitted = await requester.caller.post('/runs', body, { 'idempotency-key': key });
    const pending = await awaitRun(admitted.body.id, 'pending_approval');
    await review(reviewers[0]!.caller, pending);
    const run = await awaitEnd(pending.id);
    expect(await rowsOf('run_log_chunks', run.id)).toBeGreaterThan(0);
    const removed = await requester.caller.send('DELETE', `/runs/${run.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    for (const table of ['run_log_chunks', 'run_plans']) expect(await rowsOf(table, run.id), table).toBe(0);
    const after = await read(run.id);
    expect(after).toMatchObject({
      status: 'succeeded',
      approval: run.approval,
      outputs: run.outputs,
      requested_by: run.requested_by,
    });
    expect(after.deleted_at).not.toBeNull();
    expect(await storyOf(run.id)).toEqual([...(await storyOf(run.id)).slice(0, -1), 'run.deleted']);
    expect((await requester.caller.get(`/runs?environment_id=${environmentId}`)).body.runs).toEqual([]);
    expect((await requester.caller.get(`/instances/${run.instance_id}/outputs`)).body.outputs).toEqual(run.outputs);
    expect((await requester.caller.send('DELETE', `/runs/${run.id}`)).status).toBe(404);
    const again = await requester.caller.post('/runs', body, { 'idempotency-key': key });
    expect([again.status, again.body.id]).toEqual([202, run.id]);
    expect(
      await execute('select 1 from audit_records where resource_id = ? and outcome = ?', run.id, 'committed'),
    ).toHaveLength(3);
  });

  const rowsOf = async (table: string, runId: string) =>
    (await execute(`select 1 from ${table} where run_id = ?`, runId)).length;
});

describe('after all of it', () => {
  it('every story is told in order without a gap, no instance is held, and the engine was told everything', async () => {
    const live = await execute<{ id: string }>('select id from runs where finished_at is null');
    for (const { id } of live) await awaitEnd(id);
    expect(
      await execute(
        'select subject_id from domain_events group by subject_kind, subject_id having max(sequence) <> count(*) or min(sequence) <> 1',
      ),
    ).toEqual([]);
    expect(await execute('select * from instance_slots')).toEqual([]);
    expect(await execute('select 1 from run_plans where artifact is not null')).toEqual([]);
    await expect.poll(() => execute('select target, payload from outbox'), { timeout: 10_000 }).toEqual([]);
    expect(existsSync(trace)).toBe(true);
  });
});

async function endAs(status: string) {
  if (status === 'failed') {
    const broken = await publish(system.administrator, {
      executor: { kind: 'command', apply: [{ name: 'fail', run: ['false'] }] },
    });
    return awaitRun((await admit({ template_id: broken })).id, 'failed');
  }
  const { id } = status === 'canceled' ? await admitPending({ required: 1 }) : await admit();
  if (status === 'canceled') await requester.caller.post(`/runs/${id}/cancel`);
  return awaitRun(id, status);
}
