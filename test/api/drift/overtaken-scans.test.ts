import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleDriftEvent } from '#domain/drift/follow-events.ts';
import type { readEvent } from '#domain/shared/events/event-store.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
});
afterAll(() => api?.close());

const drift = [changed({ input: 'a' }, { input: 'b' })];
const scansOf = async (monitor: string) =>
  (await stage.tenant.owner.get(`/drift-monitors/${monitor}/scans`)).body.scans;
const monitorOf = async (id: string) => (await stage.tenant.owner.get(`/drift-monitors/${id}`)).body;

describe('a scan whose end is recorded after another deployment', () => {
  it('opens no finding, and its history says that it was overtaken', async () => {
    const watched = await stage.watched();
    const scan = await stage.endScan(watched, drift);
    await stage.redeploy(watched);
    await stage.record(scan);
    expect(await stage.findings(`monitor_id=${watched.monitor}`)).toEqual([]);
    expect(await scansOf(watched.monitor)).toMatchObject([{ run_id: scan, status_reason: 'overtaken', found: null }]);
    expect(await monitorOf(watched.monitor)).toMatchObject({ scan_run_id: null, last_success_at: null });
  });

  it('opens no finding if the state of its instance has changed since the scan ended', async () => {
    const watched = await stage.watched();
    const scan = await stage.endScan(watched, drift);
    await api.rows('update instances set state_serial = state_serial + 1 where id = ?', [watched.instance]);
    await stage.record(scan);
    expect(await stage.findings(`monitor_id=${watched.monitor}`)).toEqual([]);
    expect(await scansOf(watched.monitor)).toMatchObject([{ run_id: scan, status_reason: 'overtaken' }]);
  });

  it('resolves no earlier finding', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift);
    const clean = await stage.endScan(watched, []);
    await stage.redeploy(watched);
    await stage.record(clean);
    expect(await stage.findings(`monitor_id=${watched.monitor}`)).toMatchObject([{ status: 'open' }]);
  });
});

describe('the end of a destroy', () => {
  /** Delivers the end of a run, as the outbox does. */
  async function deliverEnd(runId: string): Promise<void> {
    const { orm, transactions } = api.services;
    const event = { type: 'run.finished', subject: { kind: 'run', id: runId } };
    await handleDriftEvent({ orm, transactions }, event as NonNullable<Awaited<ReturnType<typeof readEvent>>>);
  }

  it('resolves earlier findings', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift);
    await deliverEnd(await stage.redeploy(watched, 'destroy'));
    expect(await stage.findings(`monitor_id=${watched.monitor}`)).toMatchObject([
      { status: 'resolved', reason: 'destroyed' },
    ]);
  });

  it('the end of a destroy that is delivered late resolves findings from before it, and none of the following deployment', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [...drift, changed({ size: 1 }, { size: 2 }, 'terraform_data.old')]);
    const destroy = await stage.redeploy(watched, 'destroy');
    await stage.redeploy(watched);
    // As if a scan of the new deployment had seen one of the two.
    await api.rows(
      `update drift_evidence set deployed_run_id = (select deployed_run_id from instances where id = ?) where id =
         (select evidence_id from drift_findings where monitor_id = ? and path = 'input')`,
      [watched.instance, watched.monitor],
    );
    await deliverEnd(destroy);
    const found = await stage.findings(`monitor_id=${watched.monitor}`);
    expect(found.map(({ path, status }) => `${path} ${status}`).sort()).toEqual(['input open', 'size resolved']);
  });
});
