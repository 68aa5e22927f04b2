import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { join } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let stage: DriftStage;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
  visitor = new Visitor(api.app);
  const { credential } = await api.signIn(stage.tenant.owner);
  visitor.cookie = `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '')}`;
});
afterAll(() => api?.close());

/** Sends the form that a page shows as a browser does: with its hidden fields and its checked boxes, except those that get unchecked. */
async function send(url: string, fields: Record<string, string>, unchecked: readonly string[] = []) {
  const { text, status } = await visitor.get(url);
  expect(status, text).toBe(200);
  const sent = [...text.matchAll(/<input[^>]*type="(?:hidden"|checkbox"[^>]*\schecked\b)[^>]*>/g)].map(([tag]) => [
    /name="([^"]*)"/.exec(tag)?.[1] ?? '',
    /value="([^"]*)"/.exec(tag)?.[1] ?? '',
  ]);
  const kept = sent.filter(([name = '']) => !unchecked.includes(name));
  return visitor.submit(url, { ...Object.fromEntries(kept), ...fields });
}

const until = () => new Date(Date.now() + 24 * 3600_000).toISOString().slice(0, 16);

async function drifted() {
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ input: 'a<b>', size: 1 }, { input: 'c<d>', size: 2 })]);
  const findings = await stage.findings(`monitor_id=${watched.monitor}`);
  const chosen = findings.map(({ id, evidence }) => `findings=${id}:${evidence.id}`).join('&');
  return { ...watched, chosen, ids: findings.map(({ id }) => id) };
}

describe('the page of an instance', () => {
  const checkOf = async (instance: string, by = visitor) => {
    const text = await by.page(`/workloads/instances/${instance}`);
    return /<(?:a|button)[^>]*>(?:<svg[^>]*><use[^>]*><\/use><\/svg>)?(?:Check|Watch) for drift/.exec(text)?.[0];
  };

  it('links to a scan by its monitor, or to the form for a monitor if it has none', async () => {
    const { instance } = await stage.deploy();
    const form = `/drift/monitors/new?instance_id=${instance}`;
    expect(await checkOf(instance)).toMatch(new RegExp(`href="${form.replace('?', '\\?')}".*Watch for drift`));
    expect((await visitor.get(form)).text).toMatch(new RegExp(`value="${instance}" selected`));
    const watched = await stage.watched();
    const scan = `/drift/monitors/${watched.monitor}/scan`;
    expect(await checkOf(watched.instance)).toMatch(new RegExp(`href="${scan}".*Check for drift`));
    expect((await send(scan, {})).location).toBe(`/drift/monitors/${watched.monitor}?done=scanning`);
  });

  it('disables the check for drift, with the reason, for a visitor who may not change monitors', async () => {
    const viewer = await signInViewer();
    for (const { instance } of [await stage.deploy(), await stage.watched()])
      expect(await checkOf(instance, viewer)).toContain('aria-disabled="true"');
  });

  it('offers no check for drift if nothing is deployed', async () => {
    const { owner, environment } = stage.tenant;
    const body = { template_id: stage.template, environment_id: environment, name: 'still-empty' };
    const { id } = await owner.make('/instances', body);
    expect(await checkOf(id)).toBeUndefined();
  });
});

async function signInViewer(): Promise<Visitor> {
  const member = await api.addUser('maintainer');
  await join(stage.tenant, member, 'member', 'viewer');
  const viewer = new Visitor(api.app);
  const { credential } = await api.signIn(member);
  viewer.cookie = `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '')}`;
  return viewer;
}

describe('the pages of monitors', () => {
  it('create a monitor, change its interval to set times, and delete it', async () => {
    const { instance } = await stage.deploy();
    const made = await send('/drift/monitors/new', { instance_id: instance, 'schedule.every': '2h' });
    expect(made.location, made.text).toMatch(/^\/drift\/monitors\/[^/]+\?done=created$/);
    const path = made.location?.split('?')[0] ?? '';
    expect((await visitor.get(path)).text).toMatch(/every 2 hours[\s\S]*No open findings[\s\S]*No scan has run yet/);
    const fields = {
      'schedule.every': '',
      'schedule.cron': '0 6 * * *',
      'schedule.timezone': 'Europe/Berlin',
    };
    const edited = await send(`${path}/edit`, fields);
    expect(edited.status, edited.text).toBe(303);
    expect((await visitor.get(path)).text).toContain('every day at 06:00, Europe/Berlin');
    expect((await send(`${path}/delete`, {})).location).toBe('/drift?tab=monitors&done=deleted');
  });

  it('keep a monitor enabled when another field is saved, and disable it when its box is unchecked', async () => {
    const { monitor } = await stage.watched();
    const path = `/drift/monitors/${monitor}`;
    const isEnabled = async () => (await stage.tenant.owner.get(`/drift-monitors/${monitor}`)).body.enabled;
    expect((await send(`${path}/edit`, { 'schedule.every': '12h' })).location).toBe(`${path}?done=saved`);
    expect(await isEnabled()).toBe(true);
    expect((await send(`${path}/edit`, { 'schedule.every': '12h' }, ['enabled'])).location).toBe(`${path}?done=saved`);
    expect(await isEnabled()).toBe(false);
    expect(await visitor.page(`${path}/edit`)).not.toMatch(/name="enabled"[^>]*\schecked\b/);
  });

  it('refuse a second monitor of an instance with a link to the existing one', async () => {
    const { instance, monitor } = await stage.watched();
    const refused = await send('/drift/monitors/new', { instance_id: instance, 'schedule.every': '2h' });
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(
      new RegExp(`has a drift monitor already \\(the <a href="/drift/monitors/${monitor}">`),
    );
  });

  it('keep what was typed, and say at the field what is wrong with a schedule', async () => {
    const { instance } = await stage.deploy();
    const { status, text } = await send('/drift/monitors/new', {
      instance_id: instance,
      'schedule.every': '',
      'schedule.cron': '0 6 * *',
    });
    expect(status).toBe(400);
    expect(text).toContain('value="0 6 * *"');
    expect(text).toMatch(/cron/);
  });

  it('refuse both an interval and a cron expression, and show the interval in short form', async () => {
    const { instance } = await stage.deploy();
    expect((await visitor.get('/drift/monitors/new')).text).toContain('value="6h"');
    const both = { instance_id: instance, 'schedule.every': '6h', 'schedule.cron': '0 6 * * *' };
    const { status, text } = await send('/drift/monitors/new', both);
    expect(status).toBe(400);
    expect(text).toContain('leave one of them empty');
  });

  it('without open findings say whether there is no monitor, no scan result or no deviation', async () => {
    const other = await makeDriftStage(api);
    const theirs = new Visitor(api.app);
    const { credential } = await api.signIn(other.tenant.owner);
    theirs.cookie = `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '')}`;
    expect((await theirs.get('/drift')).text).toContain('There is no monitor yet');
    const watched = await other.watched();
    const page = () => theirs.page(`/drift/monitors/${watched.monitor}`);
    const list = async () => (await theirs.get('/drift')).text;
    expect(await page()).toContain('No scan has run yet.');
    expect(await list()).toContain('There may be drift: 1 monitor of 1 had no complete scan yet.');
    await other.scan(watched, []);
    expect(await page()).toContain('The last scan found no drift');
    expect(await page()).toContain('In sync');
    expect(await list()).toContain('The last complete scans found no drift. The monitors show when they ran.');
    await other.watched();
    expect(await list()).toContain('There may be more drift: 1 monitor of 2 had no complete scan yet.');
    await other.redeploy(watched, 'destroy');
    for (const said of ['A run changed the instance after it', 'Cannot be scanned', 'The instance changed after it.'])
      expect(await page()).toContain(said);
    expect(await page()).not.toContain('In sync');
    await other.scan(watched, [], { status: 'failed' });
    expect(await page()).toContain('There may be drift');
  });

  it('show a viewer why findings cannot be suppressed and ignore rules cannot be added', async () => {
    const { monitor } = await drifted();
    const viewer = await signInViewer();
    const path = `/drift/monitors/${monitor}`;
    const disabled = (label: string) => new RegExp(`aria-disabled="true"[^>]*>${label}`);
    expect((await viewer.get(path)).text).toMatch(disabled('Suppress selected'));
    expect((await viewer.get(`${path}?tab=rules`)).text).toMatch(disabled('Edit rules'));
    expect((await viewer.get(`/drift?team_id=${stage.tenant.team}`)).text).toMatch(
      /aria-disabled="true"[^>]*>(<svg.*?<\/svg>)?New monitor/s,
    );
  });

  it('start a scan, and show the monitor that is scanning', async () => {
    const { monitor } = await stage.watched();
    expect((await send(`/drift/monitors/${monitor}/scan`, {})).location).toBe(
      `/drift/monitors/${monitor}?done=scanning`,
    );
    expect((await visitor.get(`/drift/monitors/${monitor}`)).text).toContain('Scanning');
  });

  it('read one ignore rule from each line', async () => {
    const { monitor } = await stage.watched();
    const path = `/drift/monitors/${monitor}`;
    const rules = 'aws_instance.web["a b"] tags.*\nterraform_data.*';
    expect((await send(`${path}/ignore-rules`, { rules })).status).toBe(303);
    const { body } = await stage.tenant.owner.get(`/drift-monitors/${monitor}/ignore-rules`);
    expect(body.rules).toEqual([
      { address: 'aws_instance.web["a b"]', path: 'tags.*' },
      { address: 'terraform_data.*', path: '*' },
    ]);
  });
});

describe('the pages of findings', () => {
  it('show the environment of an instance, because environments may have instances with the same name', async () => {
    const { monitor, instance, ids } = await drifted();
    const [{ name = '', environment = '' } = {}] = await api.rows<{ name: string; environment: string }>(
      'select i.name, e.name as environment from instances i join environments e on e.id = i.environment_id where i.id = ?',
      [instance],
    );
    const inPlace = `${name} in ${environment}`;
    const beside = new RegExp(`>${name}</a> <span class="muted">in <span class="foreign">${environment}</span>`);
    const show = async (path: string) => (await visitor.get(path)).text;
    expect(await show(`/drift?instance_id=${instance}`)).toMatch(beside);
    expect(await show('/drift?tab=monitors')).toContain(inPlace);
    const onMonitor = await show(`/drift/monitors/${monitor}`);
    expect(onMonitor).toMatch(beside);
    expect(onMonitor).toContain(`Monitor of ${inPlace}`);
    expect(await show(`/drift/monitors/${monitor}/edit`)).toContain(`Edit the monitor of ${inPlace}`);
    expect(await show('/drift/monitors/new')).toContain(`>${inPlace}</option>`);
    const onFinding = await show(`/drift/findings/${ids[0]}`);
    expect(onFinding).toMatch(beside);
    expect(onFinding).toContain(`>${inPlace}</a>`);
  });

  it('show which value was expected and which was found, even if there is none', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ size: 1, gone: 'x' }, { size: 2, more: 'y' })]);
    const { text } = await visitor.get(`/drift/monitors/${watched.monitor}`);
    const words = text.replaceAll(/<[^>]*>/g, '');
    for (const sides of [
      'Expected 1 Found 2',
      'Expected &quot;x&quot; Found nothing',
      'Expected nothing Found &quot;y&quot;',
    ])
      expect(words).toContain(sides);
  });

  it('explain the symbols if longer values are compared', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a\nb' }, { input: 'a\nc' })]);
    expect((await visitor.get(`/drift/monitors/${watched.monitor}`)).text).toContain('Expected −, found +');
  });

  it('list findings by resource, with both values as text', async () => {
    const { monitor } = await drifted();
    const { text } = await visitor.get(`/drift/monitors/${monitor}`);
    expect(text).toMatch(/terraform_data\.a[\s\S]*a&lt;b&gt;[\s\S]*c&lt;d&gt;/);
  });

  it('suppress all selected findings, and reopen one', async () => {
    const { ids, chosen } = await drifted();
    const url = `/drift/findings/suppress?${chosen}`;
    const sent = await send(url, { reason: 'known', until: until() });
    expect(sent.location, sent.text).toBe('/drift?done=suppressed');
    const one = `/drift/findings/${ids[0]}`;
    expect((await visitor.get(one)).text).toContain('known');
    expect((await send(`${one}/reopen`, { reason: 'not right' })).location).toBe(`${one}?done=reopened`);
  });

  it('request a run that reverts a deviation', async () => {
    const { ids } = await drifted();
    const { location, text } = await send(`/drift/findings/${ids[0]}/remediation`, { direction: 'revert' });
    expect(location, text).toMatch(/^\/workloads\/runs\//);
  });

  it('show the progress of the remediation run, and that only a scan confirms its result', async () => {
    const { ids } = await drifted();
    const page = `/drift/findings/${ids[0]}`;
    expect(await visitor.page(page)).not.toContain('Last remediation');
    const { location } = await send(`${page}/remediation`, { direction: 'revert' });
    const run = location?.split(/[/?]/)[3] ?? '';
    const shown = new RegExp(`Last remediation[\\s\\S]*/workloads/runs/${run}"[\\s\\S]*Queued`);
    expect((await visitor.get(page)).text).toMatch(shown);
    // Scans of the stage end a little in the future.
    const end = `update runs set status = 'succeeded', waiting_on = null, finished_at = now() + interval '1 hour' where id = ?`;
    await api.rows(end, [run]);
    expect((await visitor.get(page)).text).toContain('The next scan shows whether it worked.');
  });
});
