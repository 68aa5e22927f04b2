import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetHistory } from '#domain/drift/retention/forget-history.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';
import { forgetOldHistory } from '#worker/background/drift-retention.ts';

const log = pino({ level: 'silent' });
const dayMs = 24 * 3600_000;
const drift = [changed({ input: 'a' }, { input: 'b' })];

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
});
afterAll(() => api?.close());

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
const deps = () => {
  const { orm, transactions, installation } = api.services;
  const driftRetention = { scanDays: 90, findingDays: 365 };
  return { orm, transactions, bindingKey: installation.bindingKey, log, driftRetention };
};
const cutoffs = () => ({ scans: daysAgo(90), findings: daysAgo(365) });
const get = (path: string) => stage.tenant.owner.get(path);
const count = async (sql: string, values: unknown[]) =>
  (await api.rows<{ count: number }>(`select count(*)::int as count from ${sql}`, values))[0]?.count;
const removals = (monitor: string) =>
  api.rows<{ after: { scans: number } }>(
    `select team_id, actor_name, after from audit_records where action = 'drift_monitor.history_expired' and resource_id = ? order by at`,
    [monitor],
  );
const only = async (monitor: string) => (await stage.findings(`monitor_id=${monitor}`))[0]!;
const scansOf = (monitor: string) => count('drift_scans where monitor_id = ?', [monitor]);

/** A monitor with one scan a day, the newest of which began `newest` days ago. */
async function scannedDaily(scans: number, newest = 1) {
  const watched = await stage.watched();
  const runs: string[] = [];
  for (let day = newest + scans - 1; day >= newest; day -= 1)
    runs.push(await stage.scan(watched, [], { at: daysAgo(day) }));
  return { ...watched, runs };
}

describe('scans out of retention', () => {
  it('are removed except the latest 100, with plan, inputs and log of their runs', async () => {
    const { monitor, runs } = await scannedDaily(103, 95);
    const recent = await scannedDaily(3, 1);
    await api.rows(
      `insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
       values (?, 1, now(), gen_random_uuid(), 'detecting', 'stdout', 0, 1, 'x', '')`,
      [runs[0]],
    );
    await forgetOldHistory(deps());
    expect(await scansOf(monitor)).toBe(100);
    expect(await scansOf(recent.monitor)).toBe(3);
    const { body } = await get(`/drift-monitors/${monitor}/scans?limit=200`);
    expect(body.scans.at(-1).run_id).toBe(runs[3]);
    const [gone = '', , , kept = ''] = runs;
    expect((await get(`/runs/${gone}`)).body).toMatchObject({ operation: 'scan', deleted_at: expect.any(String) });
    expect((await get(`/runs/${kept}`)).body).toMatchObject({ deleted_at: null });
    expect(await count('run_plans where run_id = any(array[?, ?]::uuid[])', [gone, kept])).toBe(1);
    expect(await count('run_log_chunks where run_id = ?', [gone])).toBe(0);
    expect(await count(`runs where id = ? and sealed_inputs = ''`, [gone])).toBe(1);
    expect(await removals(monitor)).toEqual([
      { team_id: stage.tenant.team, actor_name: 'retention', after: { scans: 3, findings: 0, evidence: 0 } },
    ]);
    await forgetOldHistory(deps());
    expect(await removals(monitor), 'there is nothing more to remove').toHaveLength(1);
  });

  it('are kept while they are younger than the retention, even if there are more than 100', async () => {
    const watched = await stage.watched();
    for (let scan = 0; scan < 103; scan += 1) await stage.scan(watched, [], { at: daysAgo(89 - scan / 1000) });
    await forgetOldHistory(deps());
    expect(await scansOf(watched.monitor)).toBe(103);
  });

  it('are kept while their results are not recorded', async () => {
    const watched = await scannedDaily(101, 200);
    await api.rows('update drift_scans set recorded_at = null where run_id = ?', [watched.runs[0]]);
    await forgetOldHistory(deps());
    expect(await scansOf(watched.monitor)).toBe(101);
  });

  it('are removed in batches until none is left', async () => {
    const { monitor } = await scannedDaily(105, 95);
    await forgetHistory(deps(), monitor, cutoffs(), { scans: 2, findings: 2 });
    expect(await scansOf(monitor)).toBe(100);
    expect((await removals(monitor)).map(({ after }) => after.scans)).toEqual([2, 2, 1]);
  });

  it('are removed at the next daily removal after the retention', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [], { at: daysAgo(90.5) });
    for (let scan = 0; scan < 100; scan += 1) await stage.scan(watched, [], { at: daysAgo(1 - scan / 1000) });
    await forgetOldHistory(deps());
    expect(await scansOf(watched.monitor)).toBe(101);
    await forgetOldHistory(deps(), new Date(Date.now() + dayMs));
    expect(await scansOf(watched.monitor)).toBe(100);
  });
});

describe('resolved findings', () => {
  const resolvedDaysAgo = async (days: number) => {
    const watched = await stage.watched();
    await stage.scan(watched, drift, { at: daysAgo(days) });
    await stage.scan(watched, [], { at: daysAgo(days - 1) });
    return { ...watched, finding: (await only(watched.monitor)).id };
  };

  it('resolved findings that were last seen before the retention are removed with their evidence', async () => {
    const old = await resolvedDaysAgo(370);
    const young = await resolvedDaysAgo(300);
    await forgetOldHistory(deps());
    expect((await get(`/drift-findings/${old.finding}`)).status).toBe(404);
    expect(await count('drift_evidence where finding_id = ?', [old.finding])).toBe(0);
    expect((await get(`/drift-findings/${young.finding}`)).body).toMatchObject({ status: 'resolved' });
    expect(await removals(old.monitor)).toMatchObject([{ after: { findings: 1, evidence: 1 } }]);
  });

  it('are kept while a suppression of their value is in force', async () => {
    const { monitor, finding } = await resolvedDaysAgo(370);
    await api.rows(
      `update drift_findings set suppressed_value = observed, suppressed_until = now() + interval '1 day' where id = ?`,
      [finding],
    );
    await forgetHistory(deps(), monitor, cutoffs());
    expect((await get(`/drift-findings/${finding}`)).status).toBe(200);
  });

  it('are removed only if they are resolved, however old an open finding is', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift, { at: daysAgo(700) });
    await forgetOldHistory(deps());
    expect(await only(watched.monitor)).toMatchObject({ status: 'open' });
  });

  it('findings and scans of a monitor that was deleted before the retention are removed whatever they are', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift, { at: daysAgo(700) });
    await api.rows(`update drift_monitors set deleted_at = ? where id = ?`, [daysAgo(100), watched.monitor]);
    await forgetOldHistory(deps());
    expect(await scansOf(watched.monitor)).toBe(0);
    expect(await count('drift_findings where monitor_id = ?', [watched.monitor])).toBe(1);
    await api.rows(`update drift_monitors set deleted_at = ? where id = ?`, [daysAgo(400), watched.monitor]);
    await forgetOldHistory(deps());
    expect(await count('drift_findings where monitor_id = ?', [watched.monitor])).toBe(0);
  });
});

describe('a finding that opens again while it is being removed', () => {
  it('is kept, or the scan opens a new one', async () => {
    for (let round = 0; round < 12; round += 1) {
      const watched = await stage.watched();
      await stage.scan(watched, drift, { at: daysAgo(370) });
      await stage.scan(watched, [], { at: daysAgo(369) });
      const scan = await stage.endScan(watched, drift);
      await Promise.all([stage.record(scan), forgetHistory(deps(), watched.monitor, cutoffs())]);
      const found = await stage.findings(`monitor_id=${watched.monitor}`);
      expect(found).toMatchObject([{ status: 'open', path: 'input' }]);
      const { body } = await get(`/drift-findings/${found[0]!.id}/evidence`);
      expect(body.evidence[0]).toMatchObject({ id: found[0]!.evidence.id, run_id: scan });
    }
  });

  it('is kept if the scan has opened it before its removal gets the lock', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift, { at: daysAgo(370) });
    await stage.scan(watched, [], { at: daysAgo(369) });
    const { id } = await only(watched.monitor);
    let removal: Promise<void> | undefined;
    await api.services.transactions.run(async ({ em }) => {
      await em.execute('select id from drift_monitors where id = ? for update', [watched.monitor]);
      removal = forgetHistory(deps(), watched.monitor, cutoffs());
      await awaitLockWaits(api.services.orm);
      await em.execute(`update drift_findings set status = 'open', last_seen_at = now() where id = ?`, [id]);
    });
    await removal;
    expect(await only(watched.monitor)).toMatchObject({ id, status: 'open' });
  });
});

describe('a command on a finding', () => {
  it('answers 404 if the finding is removed while the command waits for its lock', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift);
    const { id, evidence } = await only(watched.monitor);
    const until = new Date(Date.now() + dayMs).toISOString();
    let answer: Promise<{ status: number }> | undefined;
    await api.services.transactions.run(async ({ em }) => {
      await em.execute('select id from drift_monitors where id = ? for update', [watched.monitor]);
      const body = { evidence_id: evidence.id, reason: 'known', until };
      answer = stage.tenant.owner.post(`/drift-findings/${id}/suppress`, body);
      await awaitLockWaits(api.services.orm);
      await em.execute('delete from drift_evidence where finding_id = ?', [id]);
      await em.execute('delete from drift_findings where id = ?', [id]);
    });
    expect(await answer).toMatchObject({ status: 404 });
  });
});

describe('the evidence of a finding', () => {
  /** Each scan sees another value. */
  async function seen(values: number) {
    const watched = await stage.watched();
    for (let value = 1; value <= values; value += 1)
      await stage.scan(watched, [changed({ input: 0 }, { input: value })]);
    return watched;
  }
  const valuesOf = async (finding: string) => {
    const { body } = await get(`/drift-findings/${finding}/evidence?limit=200`);
    return body.evidence.map(({ after }: { after: number }) => after) as number[];
  };
  const downFrom = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

  it('is kept for the first observation and the latest 50', async () => {
    const { monitor } = await seen(54);
    expect(await valuesOf((await only(monitor)).id)).toEqual([...downFrom(54, 5), 1]);
  });

  it('is kept if a suppression or a remediation names it', async () => {
    const watched = await seen(2);
    const { id, evidence } = await only(watched.monitor);
    const until = new Date(Date.now() + dayMs).toISOString();
    const suppression = { evidence_id: evidence.id, reason: 'known', until };
    expect((await stage.tenant.owner.post(`/drift-findings/${id}/suppress`, suppression)).status).toBe(200);
    await stage.scan(watched, [changed({ input: 0 }, { input: 3 })]);
    const present = await only(watched.monitor);
    const answer = await stage.tenant.owner.post(`/drift-findings/${id}/remediation`, {
      evidence_id: present.evidence.id,
      expected_revision: present.revision,
      direction: 'revert',
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    for (let value = 4; value <= 56; value += 1) await stage.scan(watched, [changed({ input: 0 }, { input: value })]);
    expect(await valuesOf(id)).toEqual([...downFrom(56, 7), 3, 2, 1]);
  });
});
