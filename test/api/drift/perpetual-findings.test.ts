import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
});
afterAll(() => api?.close());

type Watched = Awaited<ReturnType<DriftStage['watched']>>;

const unknown = { unknown: true };
/** The deviation that a scan finds of `input = timestamp()` after an apply that created this value. */
const stamped = (value: string, expectation: 'perpetual' | 'unknown' = 'perpetual') => ({
  ...changed({ input: unknown }, { input: value }),
  expectation,
});
const only = async ({ monitor }: Watched) => {
  const found = await stage.findings(`monitor_id=${monitor}`);
  expect(found).toHaveLength(1);
  return found[0]!;
};
const suppress = async (watched: Watched) => {
  const { id, evidence } = await only(watched);
  const until = new Date(Date.now() + 24 * 3600_000).toISOString();
  const body = { evidence_id: evidence.id, reason: 'it is a timestamp', until };
  const { status, text } = await stage.tenant.owner.post(`/drift-findings/${id}/suppress`, body);
  expect(status, text).toBe(200);
};
/** Scans after an apply, which stores another state. */
const scanAfterApply = async (watched: Watched, ...changes: Parameters<DriftStage['scan']>[1]) => {
  const [row] = await api.rows<{ serial: number }>(
    'update instances set state_serial = state_serial + 1 where id = ? returning state_serial as serial',
    [watched.instance],
  );
  return stage.scan(watched, changes, { serial: Number(row?.serial) });
};

describe('a finding whose value differs at each plan', () => {
  it('is marked as perpetual in its evidence, unlike another deviation', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [stamped('then')]);
    expect(await only(watched)).toMatchObject({
      evidence: { expectation: 'perpetual', before: unknown, after: 'then' },
    });
    await stage.scan(watched, [stamped('then', 'unknown')]);
    expect(await only(watched)).toMatchObject({ evidence: { expectation: 'unknown' } });
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    expect(await only(watched)).toMatchObject({ evidence: { expectation: null } });
  });

  it('stays suppressed when applies create other values, and while the cause of an unknown value is not known', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [stamped('first')]);
    await suppress(watched);
    await scanAfterApply(watched, stamped('second'));
    await scanAfterApply(watched, stamped('third', 'unknown'));
    expect(await only(watched)).toMatchObject({ status: 'suppressed', evidence: { after: 'third' } });
  });

  it('opens again when somebody changed the real value', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [stamped('first')]);
    await suppress(watched);
    await stage.scan(watched, [changed({ input: 'first' }, { input: 'by hand' })]);
    expect(await only(watched)).toMatchObject({
      status: 'open',
      reason: 'other_value',
      evidence: { after: 'by hand' },
    });
  });

  it('has advice on its pages', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [stamped('then')]);
    const { id } = await only(watched);
    const visitor = new Visitor(api.app);
    const { credential } = await api.signIn(stage.tenant.owner);
    visitor.cookie = `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '')}`;
    const advice =
      'The configuration gives this another value at each plan, for example by timestamp(). Add ignore_changes';
    for (const path of ['', '/suppress', '/remediation'])
      expect(await visitor.page(`/drift/findings/${id}${path}`)).toContain(advice);
    expect(await visitor.page(`/drift/monitors/${watched.monitor}`)).toContain(advice);
    expect(await visitor.page(`/drift/findings/${id}/suppress`)).toContain('You accept whatever value an apply makes.');
  });

  it('is counted separately in the event of its scan', async () => {
    const watched = await stage.watched();
    const other = changed({ input: 'a' }, { input: 'b' }, 'terraform_data.other');
    await stage.scan(watched, [stamped('then'), other]);
    const [event] = await api.rows<{ data: object }>(
      `select data from domain_events where subject_id = ? and type = 'drift_monitor.scanned'`,
      [watched.monitor],
    );
    expect(event?.data).toMatchObject({ opened: 2, opened_perpetual: 1 });
  });
});
