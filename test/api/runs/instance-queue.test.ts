import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { addTeam, publish } from '#test/support/access/people.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';

let at: RunStage;
beforeAll(async () => {
  at = await startRunStage();
});
afterAll(() => at?.close());

describe('the runs of one instance', () => {
  it('change it one at a time in the order of their admission, and show which run they wait for', async () => {
    const instance = `i-${randomUUID()}`;
    const [gate, nextGate] = [at.newGate(), at.newGate()];
    const first = await at.admit({ instance, variables: { name: 'first', gate } });
    await at.awaitRun(first.id, 'running');
    const second = await at.admit({ instance, variables: { name: 'second', gate: nextGate } });
    const third = await at.admit({ instance, variables: { name: 'third' } });
    const fourth = await at.admit({ instance, variables: { name: 'fourth' } });
    const waits = (code: string, position: number, blocker: string) => ({
      status: 'queued',
      waiting_on: { code, position, blocker },
    });
    await expect.poll(() => at.read(fourth.id)).toMatchObject(waits('instance_busy', 3, first.id));
    expect((await at.read(fourth.id)).revision).toBeGreaterThan(fourth.revision);
    const beside = await at.admit({ variables: { name: 'beside' } });
    const looking = await at.admit({ instance, operation: 'plan' });
    expect((await at.awaitEnd(beside.id)).status).toBe('succeeded');
    expect((await at.awaitEnd(looking.id)).status).toBe('succeeded');
    expect((await at.read(second.id)).status).toBe('queued');
    at.openGate(gate);
    await at.awaitRun(second.id, 'running');
    expect(await at.read(fourth.id)).toMatchObject(waits('instance_busy', 2, second.id));
    at.openGate(nextGate);
    for (const run of [first, second, third, fourth]) expect((await at.awaitEnd(run.id)).status).toBe('succeeded');
    const lines = readFileSync(at.trace, 'utf8')
      .split('\n')
      .filter((line) => /first|second|third|fourth/.test(line));
    expect(lines).toEqual(['first', 'second', 'third', 'fourth'].flatMap((name) => [`begin ${name}`, `end ${name}`]));
  });

  it('get consecutive positions when many are admitted at once', async () => {
    const instance = `i-${randomUUID()}`;
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, n) => at.admit({ instance, variables: { name: `crowd${n}` } })),
    );
    for (const { id } of runs) expect((await at.awaitEnd(id)).status).toBe('succeeded');
    const rows = await at.execute<{ name: string; position: number }>(
      `select variables->>'name' as name, instance_position as position from runs where instance = ? order by instance_position`,
      instance,
    );
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const lines = readFileSync(at.trace, 'utf8')
      .split('\n')
      .filter((line) => line.includes('crowd'));
    expect(lines).toEqual(rows.flatMap(({ name }) => [`begin ${name}`, `end ${name}`]));
  });

  it('keep log lines of a worker whose clock is behind', async () => {
    const gate = at.newGate();
    const run = await at.admit({ variables: { gate } });
    await at.awaitRun(run.id, 'running');
    await expect.poll(() => at.read(run.id)).toMatchObject({ phase: 'applying' });
    const [{ id: attemptId } = { id: '' }] = await at.execute<{ id: string }>(
      'select attempt_id as id from runs where id = ?',
      run.id,
    );
    const content = Buffer.from('said an hour ago\n');
    await appendLog(at.orm.em.fork(), attemptId, {
      sequence: 1_000,
      phase: 'apply',
      stream: 'stdout',
      content,
      firstLine: 1,
      lines: 1,
      checksum: 'none',
      time: new Date(Date.now() - 3_600_000).toISOString(),
    });
    const log = await at.system.administrator.get(`/runs/${run.id}/logs`, { accept: 'text/plain' });
    expect(log.text).toContain('said an hour ago');
    at.openGate(gate);
    await at.awaitEnd(run.id);
    await at.requester.caller.send('DELETE', `/runs/${run.id}`);
    expect(await at.execute('select 1 from run_log_chunks where run_id = ?', run.id)).toEqual([]);
  });

  it('continue after a queued run is canceled or a running one is ended by force', async () => {
    const instance = `i-${randomUUID()}`;
    const holder = await at.admit({ instance, variables: { gate: at.newGate() } });
    await at.awaitRun(holder.id, 'running');
    const [second, third] = [await at.admit({ instance }), await at.admit({ instance })];
    await at.requester.caller.post(`/runs/${second.id}/cancel`);
    expect(await at.awaitEnd(second.id)).toMatchObject({ status: 'canceled', started_at: null });
    expect((await at.read(third.id)).status).toBe('queued');
    const forced = await at.requester.caller.post(`/runs/${holder.id}/cancel`, { force: true });
    expect(forced.body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
    expect((await at.awaitEnd(third.id)).status).toBe('succeeded');
    expect((await at.read(holder.id)).status).toBe('canceled');
  });

  it('are not delayed by a run that waits for a worker of another pool', async () => {
    const elsewhere = await publish(at.system.administrator, { ...at.spec, pool: 'nowhere' });
    const stuck = await at.admit({ template_id: elsewhere });
    await expect.poll(() => at.read(stuck.id)).toMatchObject({ waiting_on: { code: 'no_worker' } });
    expect((await at.awaitEnd((await at.admit()).id)).status).toBe('succeeded');
    await at.requester.caller.post(`/runs/${stuck.id}/cancel`);
    expect((await at.awaitEnd(stuck.id)).status).toBe('canceled');
  });
});

describe('the runs of one team in a pool of several', () => {
  it("wait for the team's share of the slots, and continue as soon as a slot is free", async () => {
    await addTeam(at.orm);
    const pool = { name: 'default', max_team_percent: 1 };
    expect((await at.system.administrator.post('/worker-pools', pool)).status).toBe(201);
    const gate = at.newGate();
    const first = await at.admit({ variables: { gate } });
    await at.awaitRun(first.id, 'running');
    const second = await at.admit();
    await expect.poll(() => at.read(second.id)).toMatchObject({ waiting_on: { code: 'pool_share' } });
    at.openGate(gate);
    for (const { id } of [first, second]) expect((await at.awaitEnd(id)).status).toBe('succeeded');
  });
});

describe('after the tests of the queues', () => {
  it('no run has a gap in its events, no instance is locked, and no message to the engine is left', async () => {
    await at.expectAllSettled();
  });
});
