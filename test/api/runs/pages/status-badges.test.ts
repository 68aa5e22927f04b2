import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let stage: DriftStage;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
  visitor = await signInVisitor(api, stage.tenant.owner);
});
afterAll(() => api?.close());

/** Ends a run as a reviewer's rejection does. */
async function reject(run: string): Promise<void> {
  const end = `update runs set status = 'canceled', status_reason = 'rejected', waiting_on = null, finished_at = now() where id = ?`;
  await api.rows(end, [run]);
}

/** A page without the texts of its filters. */
async function pageOf(path: string): Promise<string> {
  const { status, text } = await visitor.get(path);
  expect(status, text).toBe(200);
  return text;
}

describe('a run that a reviewer rejected', () => {
  it('is shown as rejected in the results of a search, and the API says why it ended', async () => {
    const { owner, environment } = stage.tenant;
    const body = { template_id: stage.template, environment_id: environment, message: 'numbatsanctuary' };
    const { body: run } = await owner.post('/runs', { ...body, instance: 'numbat' });
    await reject(run.id);
    const found = await owner.get('/search?q=numbatsanctuary');
    expect(found.body.results).toMatchObject([{ id: run.id, context: 'canceled', status_reason: 'rejected' }]);
    expect(await pageOf('/search?q=numbatsanctuary')).toMatch(/>Rejected</);
  });

  it('is shown as rejected in the list of schedules and in the history of its schedule', async () => {
    const { owner, environment, team } = stage.tenant;
    const run = { template_id: stage.template, environment_id: environment, instance: 'scheduled' };
    const schedule = { every: '1h' };
    const { id } = await owner.make('/schedules', { team_id: team, name: 'Hourly', schedule, work: { run } });
    const [time] = nextTimes(schedule, id, new Date(), 1);
    await fireSchedule({ ...api.services, bindingKey: api.services.installation.bindingKey }, id, time!);
    const started = (await owner.get(`/schedules/${id}`)).body.last_results[0].run_id;
    await reject(started);
    expect((await owner.get(`/schedules/${id}`)).body.last_results[0]).toMatchObject({ status_reason: 'rejected' });
    expect(await pageOf('/schedules')).toMatch(/class="status[^>]*>.*?Rejected/s);
    expect(await pageOf(`/schedules/${id}`)).toMatch(/class="status[^>]*>.*?Rejected/s);
  });

  it('is shown as rejected on the page of the drift finding that it should remedy', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ size: 1 }, { size: 2 })]);
    const [finding] = await stage.findings(`monitor_id=${watched.monitor}`);
    const path = `/drift/findings/${finding!.id}`;
    const { location } = await visitor.submit(`${path}/remediation`, {
      ...hiddenFields(await pageOf(`${path}/remediation`)),
      direction: 'revert',
    });
    await reject(location?.split(/[/?]/)[3] ?? '');
    expect(await pageOf(path)).toMatch(/Last remediation.*?class="status[^>]*>.*?Rejected/s);
  });

  it('counts as "Canceled or rejected" in the filter of runs and the chart of the start page', async () => {
    expect(await pageOf('/workloads/runs')).toContain('<span>Canceled or rejected</span>');
    const start = await pageOf('/');
    expect(start).toMatch(/<\/span>Canceled or rejected \d/);
    expect(start).not.toMatch(/>Canceled \d/);
  });
});

describe('a run that has its approvals and waits for something else', () => {
  /** Lets a run wait as one does that has its approvals. */
  async function hold(run: string, code: string): Promise<void> {
    const waiting = { code, since: '2026-01-01T00:00:00Z', position: null, blocker: null };
    const wait = `update runs set status = 'pending_approval', phase = 'approval', waiting_on = ? where id = ?`;
    await api.rows(wait, [JSON.stringify(waiting), run]);
  }

  it.each([
    ['locked', 'Held by a lock'],
    ['quota', 'Waits for its quota'],
  ])('with the code "%s" says what it waits for on each page that shows the status of a run', async (code, words) => {
    const { owner, environment, team } = stage.tenant;
    const run = { template_id: stage.template, environment_id: environment, instance: code, message: `wombat${code}` };
    const schedule = { every: '1h' };
    const { id } = await owner.make('/schedules', { team_id: team, name: code, schedule, work: { run } });
    const [time] = nextTimes(schedule, id, new Date(), 1);
    await fireSchedule({ ...api.services, bindingKey: api.services.installation.bindingKey }, id, time!);
    const started = (await owner.get(`/schedules/${id}`)).body.last_results[0].run_id;
    await hold(started, code);
    const search = `/search?q=wombat${code}`;
    const template = `/catalog/${stage.template}`;
    const pages = [
      '/workloads/runs',
      `/workloads/runs/${started}`,
      '/',
      search,
      '/catalog',
      template,
      '/schedules',
      `/schedules/${id}`,
    ];
    for (const path of pages) expect(await pageOf(path), path).toMatch(new RegExp(`>${words}<`));
    expect((await owner.get(search)).body.results).toMatchObject([{ id: started, waiting_on: { code } }]);
  });

  it('counts as "Needs approval or held" in the filter of runs', async () => {
    expect(await pageOf('/workloads/runs')).toContain('<span>Needs approval or held</span>');
  });
});

function hiddenFields(text: string): Record<string, string> {
  const tags = [...text.matchAll(/<input[^>]*type="hidden"[^>]*>/g)];
  return Object.fromEntries(
    tags.map(([tag]) => [/name="([^"]*)"/.exec(tag)?.[1] ?? '', /value="([^"]*)"/.exec(tag)?.[1] ?? '']),
  );
}
