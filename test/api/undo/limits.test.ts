import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCollateralRefusal } from '#domain/undo/attempts/collateral.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
beforeAll(async () => {
  stage = await startUndoStage();
});
afterAll(() => stage?.api.close());

async function twoRuns() {
  const place = stage.place();
  await stage.deploy({ ...place, variables: { a: 1 } });
  return { place, second: await stage.deploy({ ...place, variables: { a: 2 } }) };
}

/** A promoted run whose candidate touched `thing.a` and, as collateral, `thing.b`. */
async function promoted() {
  const { place, second } = await twoRuns();
  return { place, run: await stage.undo(second, ['thing.a', 'thing.b']) };
}

const endOf = async (run: string) => {
  const { status, status_reason: reason } = (await stage.tenant.owner.get(`/runs/${run}`)).body;
  return [status, reason];
};

describe('the run of an undo', () => {
  test('ends as stale if its plan touches a resource that was not accepted', async () => {
    const { run } = await promoted();
    expect(await stage.planOnly(run, ['thing.a', 'thing.b', 'thing.c'])).toEqual({ kind: 'end' });
    expect(await endOf(run)).toEqual(['failed', 'stale']);
  });

  test('ends as stale if its plan does something else to an accepted resource', async () => {
    const { run } = await promoted();
    expect(await stage.planOnly(run, ['thing.b'], 'delete')).toEqual({ kind: 'end' });
    expect(await endOf(run)).toEqual(['failed', 'stale']);
  });

  test('ends as stale if its plan changes an output that was not accepted', async () => {
    const { run } = await promoted();
    expect(await stage.planOnly(run, ['thing.a', 'thing.b', 'output.url'])).toEqual({ kind: 'end' });
    expect(await endOf(run)).toEqual(['failed', 'stale']);
  });

  test('continues if its plan changes an output as the plan of the candidate did', async () => {
    const { second } = await twoRuns();
    const run = await stage.undo(second, ['thing.a', 'output.url']);
    await stage.apply(run, ['thing.a', 'output.url']);
    expect(await endOf(run)).toEqual(['succeeded', null]);
  });

  test('continues if its plan touches less than was accepted', async () => {
    const { run } = await promoted();
    await stage.apply(run, ['thing.a']);
    expect(await endOf(run)).toEqual(['succeeded', null]);
  });

  test('is limited to what was accepted if it is requeued, or copied with the same inputs', async () => {
    const { place, run } = await promoted();
    await stage.tenant.owner.post(`/runs/${run}/cancel`, { force: true });
    await stage.next(run);
    await stage.api.rows('update instances set state_serial = state_serial + 1 where name = ?', [place.instance]);
    const named = { operation: 'apply', instance: place.instance, replace: [], variables: { a: 1 } };
    const repetitions = [
      ['requeue'],
      ['copy'],
      ['copy', { ...named, version: '2.0.0' }],
      ['copy', { version: 'latest' }],
    ];
    for (const [again, body] of repetitions) {
      const answer = await stage.tenant.owner.post(`/runs/${run}/${again}`, body);
      expect(await stage.next(answer.body.id), JSON.stringify([again, body])).toEqual({ kind: 'end' });
      expect(await endOf(answer.body.id), JSON.stringify([again, body])).toEqual(['failed', 'stale']);
    }
  });

  test('is limited to what was accepted if a copy omits a variable that the environment has with the same value', async () => {
    const environment = await stage.tenant.owner.make('/environments', {
      project_id: stage.tenant.project,
      name: 'With defaults',
      kind: 'development',
    });
    const place = stage.place(environment.id);
    await stage.deploy({ ...place, variables: { a: 1, token: 'one' } });
    const second = await stage.deploy({ ...place, variables: { a: 2, token: 'one' } });
    const run = await stage.undo(second);
    await stage.tenant.owner.post(`/runs/${run}/cancel`, { force: true });
    await stage.next(run);
    await stage.api.rows('update instances set state_serial = state_serial + 1 where name = ?', [place.instance]);
    const set = (value: number) =>
      stage.tenant.owner.put(`/environments/${environment.id}/variables/a`, { value, category: 'template' });
    const copyWith = async (token: string) => {
      const changes = { omit: ['a'], variables: { token } };
      const { status, body, text } = await stage.tenant.owner.post(`/runs/${run}/copy`, changes);
      expect(status, text).toBe(202);
      const next = await stage.next(body.id);
      if (next.kind !== 'end') await stage.tenant.owner.post(`/runs/${body.id}/cancel`, { force: true });
      if (next.kind !== 'end') await stage.next(body.id);
      return next.kind === 'end' ? endOf(body.id) : 'begun';
    };
    expect((await set(1)).status).toBeLessThan(300);
    expect(await copyWith('one')).toEqual(['failed', 'stale']);
    expect(await copyWith('another')).toBe('begun');
    expect((await set(9)).status).toBeLessThan(300);
    expect(await copyWith('one')).toBe('begun');
  });

  test('is not limited if a copy has other values', async () => {
    const { place, run } = await promoted();
    await stage.tenant.owner.post(`/runs/${run}/cancel`, { force: true });
    await stage.next(run);
    await stage.api.rows('update instances set state_serial = state_serial + 1 where name = ?', [place.instance]);
    const { body } = await stage.tenant.owner.post(`/runs/${run}/copy`, { variables: { a: 7 } });
    await stage.apply(body.id, ['thing.z']);
    expect(await endOf(body.id)).toEqual(['succeeded', null]);
  });
});

describe('a check of an undo', () => {
  test('fails if its scan left no plan', async () => {
    const { second } = await twoRuns();
    const { id, baseline_run_id: scan } = await stage.check(second);
    await stage.endScan(scan, { hasPlan: false });
    expect(await stage.read(id)).toMatchObject({ state: 'failed', problem: { code: 'scan_failed', run_id: scan } });
  });

  test('is refused while three others of the instance have not ended', async () => {
    const { second } = await twoRuns();
    const checks = [await stage.check(second), await stage.check(second), await stage.check(second)];
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const more = () => stage.tenant.owner.post(`/runs/${second}/selective-undo/check`, undefined, headers);
    const refused = await more();
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'undo_check_running']);
    await stage.endScan(checks[0].baseline_run_id);
    expect((await more()).status, 'with the same key, since a refusal binds nothing').toBe(202);
  });

  test('is blocked if the run changed more paths than the limit', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const size = Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`key${index}`, index]));
    const large = await stage.deploy({ ...place, variables: { a: 1, size } });
    expect(await stage.check(large)).toMatchObject({
      state: 'blocked',
      verdicts: [],
      problem: { code: 'too_many_paths', message: expect.stringContaining('5002 paths') },
    });
  });

  test('is blocked if the runs to compare have more inputs than the limit', async () => {
    const { second } = await twoRuns();
    const grow = `update runs set sealed_inputs = convert_to(repeat('x', 33554433), 'UTF8') where id = ?`;
    await stage.api.rows(grow, [second]);
    expect(await stage.check(second)).toMatchObject({ state: 'blocked', problem: { code: 'too_many_runs' } });
  });

  test('has a digest for its candidate that reveals nothing about other attempts', async () => {
    const { second } = await twoRuns();
    const [one, other] = [await stage.checked(second), await stage.checked(second)];
    expect(one.candidate.variables).toEqual(other.candidate.variables);
    expect(one.candidate.digest).not.toBe(other.candidate.digest);
  });
});

describe('a candidate check', () => {
  const addresses = (count: number, name = 'thing.b') => Array.from({ length: count }, (_, index) => `${name}${index}`);

  test('passes with as much collateral as a promotion can accept', async () => {
    const { second } = await twoRuns();
    const attempt = await stage.checkCandidate((await stage.checked(second)).id, ['thing.a', ...addresses(10_000)]);
    expect(attempt).toMatchObject({ state: 'promotable', problem: null });
    expect(attempt.candidate.collateral).toHaveLength(10_000);
    const answer = await stage.promote(attempt);
    expect(answer.status, answer.text.slice(0, 300)).toBe(202);
  });

  test.each([
    ['more resources than a promotion can accept', addresses(10_001), 'accept 10000 at most'],
    ['addresses that are too large together', addresses(200, `thing.${'b'.repeat(4_000)}`), 'more than 768 KiB'],
  ])('fails if the collateral has %s, with that cause', async (_, touches, cause) => {
    const { second } = await twoRuns();
    const attempt = await stage.checkCandidate((await stage.checked(second)).id, ['thing.a', ...touches]);
    const problem = { code: 'too_much_collateral', message: expect.stringContaining(cause) };
    expect(attempt).toMatchObject({ state: 'ready', problem, candidate: { collateral: null } });
    const refused = await stage.promote(attempt);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'undo_not_ready']);
  });
});

test('the refusal of a promotion with thousands of wrong addresses names the first ones and counts the others', () => {
  const addresses = Array.from({ length: 20_000 }, (_, index) => `thing.a${index}`);
  const { message = '' } = findCollateralRefusal(addresses, addresses.slice(0, -1)) ?? {};
  expect(message).toMatch(/lacks thing\.a19999$/);
  const all = findCollateralRefusal(addresses, [])?.message ?? '';
  expect(all).toContain('and 19990 more');
  expect(all.length).toBeLessThan(4_000);
});
