import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { ApiUser, openApi, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let api: TestApi;
let second: TestApi;
let stage: DriftStage;
let elsewhere: ApiUser;
beforeAll(async () => {
  api = await startApi();
  stage = await makeDriftStage(api);
  second = await openApi(api.services.config, pino({ level: 'silent' }));
  const { owner } = stage.tenant;
  elsewhere = new ApiUser(second, owner.credential, owner);
});
afterAll(async () => {
  await second?.close();
  await api?.close();
});

async function drifted() {
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ input: 'a' }, { input: 'b' })]);
  const [finding] = await stage.findings(`monitor_id=${watched.monitor}`);
  if (!finding) throw new Error('the scan opened no finding');
  const body = { evidence_id: finding.evidence.id, expected_revision: finding.revision, direction: 'revert' };
  const path = `/drift-findings/${finding.id}/remediation`;
  return { ...watched, finding: finding.id, remedy: (by = stage.tenant.owner) => by.post(path, body) };
}

/** Ends a run as a worker would have. */
function end(runId: string) {
  return api.rows(
    `update runs set status = 'canceled', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
    [runId],
  );
}

it('50 simultaneous remediations of one finding at two services admit one run, and the others are refused with its id', async () => {
  const { finding, remedy } = await drifted();
  const users = [stage.tenant.owner, elsewhere];
  const answers = await sendAtOnce(50, (number) => remedy(users[number % 2]));
  const admitted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status !== 202);
  expect(admitted).toHaveLength(1);
  const run = admitted[0]?.body.id;
  expect(new Set(refused.map(({ status, headers }) => `${status} ${headers['x-error-code']}`))).toEqual(
    new Set(['409 remediation_running']),
  );
  expect(refused.filter(({ body }) => !body.error.includes(run))).toEqual([]);
  const [{ count } = { count: 0 }] = await api.rows<{ count: number }>(
    'select count(*)::int as count from runs where drift_finding_id = ?',
    [finding],
  );
  expect(count).toBe(1);
});

it('a finding can be remedied again once its run and all repetitions of that run have ended', async () => {
  const { remedy, finding } = await drifted();
  const { body: first } = await remedy();
  const { body: shown } = await stage.tenant.owner.get(`/drift-findings/${finding}`);
  expect(shown.remediation_run_id).toBe(first.id);
  const { body: listed } = await stage.tenant.owner.get(`/drift-findings?monitor_id=${shown.monitor_id}`);
  expect(listed.drift_findings).toMatchObject([{ id: finding, remediation_run_id: first.id }]);
  expect(shown.actions.find(({ name }: { name: string }) => name === 'remediate')).toMatchObject({
    allowed: false,
    reason: expect.stringContaining(first.id),
  });
  await end(first.id);
  const { body: runs } = await stage.tenant.owner.get(`/runs?scope=readable&drift_finding_id=${finding}`);
  expect(runs.runs.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  const { body: repeated, status, text } = await stage.tenant.owner.post(`/runs/${first.id}/requeue`);
  expect(status, text).toBe(202);
  const refused = await remedy();
  expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'remediation_running']);
  expect(refused.body.error).toContain(repeated.id);
  await end(repeated.id);
  expect((await remedy()).status).toBe(202);
});

it('the remediation of one finding does not refuse that of another finding of the same instance', async () => {
  const watched = await stage.watched();
  await stage.scan(watched, [changed({ input: 'a', size: 1 }, { input: 'b', size: 2 })]);
  const findings = await stage.findings(`monitor_id=${watched.monitor}`);
  const answers = await Promise.all(
    findings.map(({ id, revision, evidence }) =>
      stage.tenant.owner.post(`/drift-findings/${id}/remediation`, {
        evidence_id: evidence.id,
        expected_revision: revision,
        direction: 'revert',
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
});
