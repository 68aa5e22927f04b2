import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';
import { addRuns } from '#test/support/runs/run-rows.ts';
import { keepUpDrift } from '#worker/background/drift-upkeep.ts';

let api: TestApi;
let stage: DriftStage;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
});
afterAll(() => api?.close());

const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString();
const read = async (id: string) => (await stage.tenant.owner.get(`/drift-findings/${id}`)).body;
const only = async (monitor: string) => {
  const found = await stage.findings(`monitor_id=${monitor}`);
  expect(found).toHaveLength(1);
  return found[0]!;
};
const toSeen = ({ id, evidence }: { id: string; evidence: { id: string } }) => ({ id, evidence_id: evidence.id });
const suppress = async (id: string, until = inDays(1)) => {
  const body = { evidence_id: (await read(id)).evidence.id, reason: 'known', until };
  return stage.tenant.owner.post(`/drift-findings/${id}/suppress`, body);
};

describe('a list with large values', () => {
  const readAll = async (path: string, member: string) => {
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, text } = await stage.tenant.owner.get(`${path}${cursor === '' ? '' : `cursor=${cursor}`}`);
      expect(text.length).toBeLessThan(1.1 * 1024 * 1024);
      pages.push(body[member].map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    return pages;
  };

  it('a list of findings or of evidence with large values continues with its cursor after 1 MiB, and omits nothing', async () => {
    const watched = await stage.watched();
    const value = (letter: string) => letter.repeat(200_000);
    const wide = (letter: string) =>
      Array.from({ length: 7 }, (_, index) => changed({ input: 0 }, { input: value(letter) }, `thing.n${index}`));
    for (const letter of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await stage.scan(watched, wide(letter));
    const findings = await readAll(`/drift-findings?monitor_id=${watched.monitor}&`, 'drift_findings');
    expect(findings.map((page) => page.length)).toEqual([5, 2]);
    expect(new Set(findings.flat()).size).toBe(7);
    const evidence = await readAll(`/drift-findings/${findings[0]?.[0]}/evidence?`, 'evidence');
    expect(evidence.map((page) => page.length)).toEqual([5, 2]);
    expect(new Set(evidence.flat()).size).toBe(7);
  });
});

describe('a scan', () => {
  it('opens one finding for each path that differs, with evidence of the expected and the actual value', async () => {
    const watched = await stage.watched();
    const scan = await stage.scan(watched, [
      changed({ input: 'a', tags: { x: '1' } }, { input: 'b', tags: { x: '2' } }),
    ]);
    const found = await stage.findings(`monitor_id=${watched.monitor}`);
    expect(found.map(({ path }) => path).sort()).toEqual(['input', 'tags.x']);
    const input = found.find(({ path }) => path === 'input')!;
    expect(await read(input.id)).toMatchObject({
      status: 'open',
      reason: 'observed',
      seen_count: 1,
      last_run_id: scan,
      evidence: { before: 'a', after: 'b', state_serial: 1, run_id: scan, template_version: '1.0.0' },
    });
  });

  it('a scan that sees the same value again adds no evidence, and one that sees another value does', async () => {
    const watched = await stage.watched();
    for (const after of ['b', 'b', 'c']) await stage.scan(watched, [changed({ input: 'a' }, { input: after })]);
    const { id } = await only(watched.monitor);
    expect(await read(id)).toMatchObject({ seen_count: 3, status: 'open', evidence: { after: 'c' } });
    const { body } = await stage.tenant.owner.get(`/drift-findings/${id}/evidence`);
    expect(body.evidence.map(({ after }: { after: string }) => after)).toEqual(['c', 'b']);
  });

  it('a scan that sees the same value after another deployment adds evidence, even if the state has the same serial', async () => {
    const watched = await stage.watched();
    const drift = [changed({ input: 'a' }, { input: 'b' })];
    const first = await stage.scan(watched, drift);
    const [later = ''] = await addRuns(api, watched.run, [
      { status: 'succeeded', createdAt: new Date().toISOString() },
    ]);
    await api.rows('update instances set deployed_run_id = ? where id = ?', [later, watched.instance]);
    const second = await stage.scan(watched, drift);
    const { id } = await only(watched.monitor);
    const { body } = await stage.tenant.owner.get(`/drift-findings/${id}/evidence`);
    expect(body.evidence.map(({ run_id: run }: { run_id: string }) => run)).toEqual([second, first]);
  });

  it('a scan that no longer sees a deviation resolves its finding, which opens again when the deviation is back', async () => {
    const watched = await stage.watched();
    const drift = [changed({ input: 'a' }, { input: 'b' })];
    await stage.scan(watched, drift);
    const { id } = await only(watched.monitor);
    await stage.scan(watched, []);
    expect(await read(id)).toMatchObject({ status: 'resolved', reason: 'gone' });
    await stage.scan(watched, drift);
    expect(await read(id)).toMatchObject({ status: 'open', seen_count: 2 });
  });

  it('a scan with more deviations than the limit changes no finding, and the monitor says so', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const gone = Array.from({ length: 5_001 }, (_, index) => changed({ input: 1 }, { input: 2 }, `thing.n${index}`));
    await stage.scan(watched, gone);
    expect(await only(watched.monitor)).toMatchObject({ status: 'open', path: 'input' });
    const { body } = await stage.tenant.owner.get(`/drift-monitors/${watched.monitor}`);
    expect(body.last_failure).toMatchObject({ code: 'too_many_deviations', message: expect.stringContaining('5001') });
  });

  it('a scan that fails resolves nothing, and the monitor says why', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const failed = await stage.scan(watched, [], { status: 'failed' });
    expect(await only(watched.monitor)).toMatchObject({ status: 'open' });
    const { body: monitor } = await stage.tenant.owner.get(`/drift-monitors/${watched.monitor}`);
    expect(monitor).toMatchObject({ open_findings: 1, scan_run_id: null, last_failure: { run_id: failed } });
    expect(monitor.last_success_at).not.toBeNull();
    const { body } = await stage.tenant.owner.get(`/drift-monitors/${watched.monitor}/scans`);
    expect(body.scans).toMatchObject([
      { run_id: failed, status: 'failed', found: null },
      { status: 'succeeded', found: 1, opened: 1, resolved: 0 },
    ]);
  });

  it('is recorded once, even if the end of its run is delivered several times', async () => {
    const watched = await stage.watched();
    const scan = await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    await Promise.all([1, 2, 3].map(() => stage.record(scan)));
    expect(await read((await only(watched.monitor)).id)).toMatchObject({ seen_count: 1 });
  });

  it('ignores what ignore rules match, and resolves the findings that a new rule matches', async () => {
    const watched = await stage.watched();
    const drift = [changed({ input: 'a', tags: { x: '1' } }, { input: 'a', tags: { x: '2' } })];
    await stage.scan(watched, drift);
    const { id } = await only(watched.monitor);
    const rules = [{ address: 'terraform_data.*', path: 'tags.*' }];
    const path = `/drift-monitors/${watched.monitor}/ignore-rules`;
    expect((await stage.tenant.owner.put(path, { rules })).body).toMatchObject({ rules });
    await stage.scan(watched, drift);
    expect(await read(id)).toMatchObject({ status: 'resolved', reason: 'ignored' });
  });

  it('a scan that sees another secret shows that it differs, and never its value', async () => {
    const watched = await stage.watched();
    const secret = { sensitive: true };
    await stage.scan(watched, [
      {
        ...changed({ token: secret }, { token: secret }),
        sensitivePaths: [{ path: ['token'], changed: true }],
      },
    ]);
    const { id } = await only(watched.monitor);
    expect(await read(id)).toMatchObject({
      path: 'token',
      evidence: { before: secret, after: secret, sensitive: true },
    });
  });
});

describe('a suppressed finding', () => {
  async function suppressed(until?: string) {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const { id } = await only(watched.monitor);
    const answer = await suppress(id, until);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ status: 'suppressed', suppression: { reason: 'known' } });
    return { ...watched, id };
  }

  it('stays suppressed while scans see the same value, and opens when one sees another', async () => {
    const { id, ...watched } = await suppressed();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    expect(await read(id)).toMatchObject({ status: 'suppressed' });
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'c' })]);
    expect(await read(id)).toMatchObject({ status: 'open', reason: 'other_value', suppression: null });
  });

  it('opens again when the suppression expires, even if no worker ran then', async () => {
    const { id } = await suppressed();
    await api.rows(`update drift_findings set suppressed_until = now() - interval '3 days' where id = ?`, [id]);
    const { orm, transactions, installation, log } = api.services;
    await keepUpDrift({ orm, transactions, log, bindingKey: installation.bindingKey });
    expect(await read(id)).toMatchObject({ status: 'open', reason: 'suppression_ended' });
  });

  it('opens again when the suppression expires, although another finding could not be opened', async () => {
    const ids = [(await suppressed()).id, (await suppressed()).id];
    const over = `update drift_findings set suppressed_until = now() - interval '3 days' where id in (?, ?)`;
    await api.rows(over, ids);
    const { orm, transactions, installation, log } = api.services;
    let calls = 0;
    const failing = new Proxy(transactions, {
      get: (target, name) => {
        if (name === 'run' && ++calls === 1) return () => Promise.reject(new Error('the first one fails'));
        const member = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await keepUpDrift({ orm, transactions: failing, log, bindingKey: installation.bindingKey });
    const statuses = await Promise.all(ids.map(async (id) => (await read(id)).status));
    expect(statuses.sort()).toEqual(['open', 'suppressed']);
  });

  it('opens again when somebody reopens it, and shows the reason', async () => {
    const { id } = await suppressed();
    const answer = await stage.tenant.owner.post(`/drift-findings/${id}/reopen`, { reason: 'not right' });
    expect(answer.body).toMatchObject({ status: 'open', reason: 'reopened', reopen_reason: 'not right' });
  });

  it.each([
    ['is past', -1],
    ['is more than a year away', 400],
  ])('cannot be suppressed until a time that %s', async (_when, days) => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const { id } = await only(watched.monitor);
    expect(await suppress(id, inDays(days))).toMatchObject({ status: 400 });
  });
});

it('suppressing several findings at once suppresses all of them, or none if one belongs to another tenant', async () => {
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ a: 1, b: 1 }, { a: 2, b: 2 })]);
  const seen = (await stage.findings(`monitor_id=${watched.monitor}`)).map(toSeen);
  const body = { reason: 'known', until: inDays(1) };
  const other = await makeDriftStage(api);
  const foreign = await other.watched();
  await other.scan(foreign, [changed({ a: 1 }, { a: 2 })]);
  const [hidden] = await other.findings(`monitor_id=${foreign.monitor}`);
  const refused = await stage.tenant.owner.post('/drift-findings/suppress', {
    findings: [...seen, toSeen(hidden!)],
    ...body,
  });
  expect(refused.status).toBe(404);
  expect(await stage.findings(`monitor_id=${watched.monitor}&status=suppressed`)).toEqual([]);
  const done = await stage.tenant.owner.post('/drift-findings/suppress', { findings: seen, ...body });
  expect(done.status, done.text).toBe(200);
  expect(await stage.findings(`monitor_id=${watched.monitor}&status=suppressed`)).toHaveLength(2);
  const recorded = await api.rows<{ id: string }>(
    `select resource_id as id from audit_records where action = 'drift_finding.suppressed' and resource_id in (?, ?) and after ->> 'status' = 'suppressed'`,
    seen.map(({ id }) => id),
  );
  expect(recorded.map(({ id }) => id).sort(), 'each has a record of its own').toEqual(seen.map(({ id }) => id).sort());
});

describe('a newer value of a finding than the one that a user has seen', () => {
  it('is not suppressed by a request with the older evidence, which answers 409', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const seen = toSeen(await only(watched.monitor));
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'c' })]);
    const body = { reason: 'known', until: inDays(1) };
    const { owner } = stage.tenant;
    const answers = [
      await owner.post(`/drift-findings/${seen.id}/suppress`, { evidence_id: seen.evidence_id, ...body }),
      await owner.post('/drift-findings/suppress', { findings: [seen], ...body }),
      await owner.post('/drift-findings/suppress', { findings: [toSeen(await only(watched.monitor)), seen], ...body }),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual(
      answers.map(() => [409, 'evidence_stale']),
    );
    expect(await only(watched.monitor)).toMatchObject({ status: 'open' });
  });

  it('is suppressed by a request without evidence, for one finding or several', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a', size: 1 }, { input: 'b', size: 2 })]);
    const { owner } = stage.tenant;
    const { drift_findings: findings } = (await owner.get(`/drift-findings?monitor_id=${watched.monitor}`)).body;
    const [one, other] = findings.map(({ id }: { id: string }) => id);
    const body = { reason: 'known', until: inDays(1) };
    expect((await owner.post(`/drift-findings/${one}/suppress`, body)).status).toBe(200);
    expect((await owner.post('/drift-findings/suppress', { ids: [other], ...body })).status).toBe(200);
    expect((await read(other)).status).toBe('suppressed');
    const both = await owner.post('/drift-findings/suppress', { ids: [one], findings: [{ id: other }], ...body });
    expect([both.status, both.body.error]).toEqual([400, expect.stringContaining('exactly one of ids and findings')]);
  });
});

describe('a remediation', () => {
  async function drifted() {
    const watched = await stage.watched();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
    const { id } = await only(watched.monitor);
    const { evidence, revision } = await read(id);
    const body = { evidence_id: evidence.id, expected_revision: revision, direction: 'revert' };
    const remedy = (change: object = {}) =>
      stage.tenant.owner.post(`/drift-findings/${id}/remediation`, { ...body, ...change });
    return { ...watched, id, body, remedy };
  }

  it.each([
    ['revert', 'apply'],
    ['adopt', 'refresh'],
  ])(
    "a remediation by %s admits a run of the operation %s that needs another user's approval",
    async (direction, operation) => {
      const { id, remedy, instance } = await drifted();
      const answer = await remedy({ direction });
      expect(answer.status, answer.text).toBe(202);
      expect(answer.body).toMatchObject({
        operation,
        drift_finding_id: id,
        instance_id: instance,
        template_version: '1.0.0',
      });
      expect(answer.body.approval.required).toBe(1);
      const [pin] = await api.rows('select approval_allow_self, expected_state_serial from runs where id = ?', [
        answer.body.id,
      ]);
      expect(pin).toEqual({ approval_allow_self: false, expected_state_serial: 1 });
    },
  );

  it('may not be approved by the requesters of the run that it repeats and of earlier runs that were requeued', async () => {
    const { remedy, run: deployed } = await drifted();
    const first = await api.addUser('operator');
    await join(stage.tenant, first, 'member', 'admin');
    const [requeued = ''] = await addRuns(api, deployed, [
      { status: 'succeeded', createdAt: new Date().toISOString(), requestedBy: first.id },
    ]);
    await api.rows('update runs set responsible_user_id = ? where id = ?', [first.id, requeued]);
    await api.rows('update runs set requeued_from = ? where id = ?', [requeued, deployed]);
    const { body } = await remedy();
    const [row] = await api.rows<{ authors: { id: string }[] }>('select authors from runs where id = ?', [body.id]);
    expect(row?.authors.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, stage.tenant.owner.id]));
  });

  it('is refused once there is newer evidence, another state, or a change of the finding', async () => {
    const { remedy, id, instance, body, ...watched } = await drifted();
    await stage.scan(watched, [changed({ input: 'a' }, { input: 'c' })]);
    expect((await remedy()).headers['x-error-code']).toBe('evidence_stale');
    const { evidence, revision } = await read(id);
    const latest = { evidence_id: evidence.id };
    expect((await remedy(latest)).headers['x-error-code']).toBe('stale_revision');
    await api.rows('update instances set state_serial = 2 where id = ?', [instance]);
    expect((await remedy({ ...latest, expected_revision: revision })).headers['x-error-code']).toBe('evidence_stale');
  });
});

it('an instance with open findings is shown as drifted, and lists can be filtered by that', async () => {
  const [drifted, other] = [await stage.watched(), await stage.watched()];
  await stage.scan(drifted, [changed({ input: 'a' }, { input: 'b' })]);
  const { body } = await stage.tenant.owner.get(`/instances/${drifted.instance}`);
  expect(body.drifted).toBe(true);
  const idsOf = async (flag: boolean) =>
    (await stage.tenant.owner.get(`/instances?drifted=${flag}&limit=200`)).body.instances.map(
      ({ id }: { id: string }) => id,
    );
  const [yes, no] = [await idsOf(true), await idsOf(false)];
  expect([yes.includes(drifted.instance), no.includes(drifted.instance)]).toEqual([true, false]);
  expect([yes.includes(other.instance), no.includes(other.instance)]).toEqual([false, true]);
  await stage.scan(drifted, []);
  expect((await stage.tenant.owner.get(`/instances/${drifted.instance}`)).body.drifted).toBe(false);
});

it('findings and monitors of another tenant are hidden', async () => {
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
  const { id } = await only(watched.monitor);
  const { owner } = await makeTenant(api);
  for (const path of [`/drift-findings/${id}`, `/drift-findings/${id}/evidence`, `/drift-monitors/${watched.monitor}`])
    expect((await owner.get(path)).status, path).toBe(404);
  expect((await owner.get('/drift-findings')).body.drift_findings).toEqual([]);
  expect((await owner.get(`/drift-findings?monitor_id=${watched.monitor}`)).body.drift_findings).toEqual([]);
});
