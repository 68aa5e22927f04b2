import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { v5 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makePartitions } from '#database/partitions.ts';
import { endLostAssemblyRun } from '#domain/assemblies/runs/steps/reconcile.ts';
import { forgetHistory } from '#domain/drift/retention/forget-history.ts';
import { startScheduledScan } from '#domain/drift/scans/scheduled-scans.ts';
import { openCheckSources } from '#domain/registry/checks/module-sources.ts';
import { monthlyRetentions } from '#domain/retention.ts';
import { rotateAllKeys } from '#domain/rotate-keys.ts';
import { recordRefusedState } from '#domain/runs/attempts/refused-state.ts';
import { endLostRun } from '#domain/runs/steps/reconcile.ts';
import { newId } from '#domain/shared/ids.ts';
import { removeExpiredMonths } from '#domain/shared/retention/monthly-retention.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { systemActions } from '#domain/system-actions.ts';
import { continueUndoAfterRun } from '#domain/undo/attempts/finished-run.ts';
import { disableWebhook } from '#domain/webhooks/disabling.ts';
import { removeDeadWorker, reportReturn } from '#domain/workers/loss.ts';
import { recordHeartbeat } from '#domain/workers/store.ts';
import { keepSigningKeys } from '#domain/workload-identity/signing-keys/rotation.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';
import { createTestConfig } from '#test/support/config.ts';
import { addFinding, addMonitor, deploy, type Execute } from '#test/support/drift/drift-rows.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';
import { keepUpDrift } from '#worker/background/drift-upkeep.ts';
import { expireInstances } from '#worker/background/expiry.ts';
import { reportSilentWorkers } from '#worker/background/worker-supervision.ts';

const log = pino({ level: 'silent' });
let api: TestApi;
let steps: RunSteps;
let tenant: Tenant;
let worker: string;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1,127.0.0.9' });
  steps = new RunSteps(api, await api.addUser('admin'));
  tenant = await makeTenant(api, { ttl: '1h' });
});
afterAll(() => api?.close());
beforeEach(async () => {
  worker = await steps.worker('none');
});

const deps = () => {
  const { orm, transactions, keyRing, installation } = api.services;
  return { orm, transactions, keyRing, log, bindingKey: installation.bindingKey };
};
const instanceOf = async (run: string) =>
  (await api.rows<{ id: string }>('select instance_id as id from runs where id = ?', [run]))[0]?.id ?? '';
const inEnvironment = () => ({ environment_id: tenant.environment, instance: randomUUID().slice(0, 8) });

/** What the audit holds of an action and a resource. */
function recordsOf(action: string, resource: string) {
  return api.rows(
    `select actor_type, actor_name, resource_type, organization_id, team_id, outcome, after from audit_records
      where action = ? and resource_id = ?`,
    [action, resource],
  );
}

const ofTenant = (resourceType: string, actor: string) => ({
  actor_type: 'system',
  actor_name: actor,
  resource_type: resourceType,
  organization_id: tenant.organization,
  team_id: tenant.team,
  outcome: 'committed',
});
const ofInstallation = (resourceType: string, actor: string) => ({
  ...ofTenant(resourceType, actor),
  organization_id: null,
  team_id: null,
});

describe('a system action leaves one audit record with the owners of its target', () => {
  it('a run that nobody reviews within the time for approval leaves one audit record with its owners', async () => {
    const approval = { required: 1, when: 'always' };
    const { runId, attemptId } = await steps.planning(worker, 'none', inEnvironment(), { approval });
    await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
    expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
    await api.rows(`update runs set approval_expires_at = now() - interval '1 second' where id = ?`, [runId]);
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await recordsOf('run.approval_timed_out', runId)).toMatchObject([
      { ...ofTenant('runs', 'approval timeout'), after: { status: 'timed_out' } },
    ]);
  });

  it('a run whose workflow the engine has lost leaves one audit record with its owners', async () => {
    const runId = await steps.admit(inEnvironment());
    expect(await endLostRun(deps(), runId), 'the workflow is still to be started').toBe(false);
    await api.rows('delete from outbox');
    expect(await Promise.all([1, 2, 3].map(() => endLostRun(deps(), runId)))).toEqual(
      expect.arrayContaining([true, false, false]),
    );
    expect(await recordsOf('run.engine_lost', runId)).toMatchObject([
      { ...ofTenant('runs', 'reconciliation'), after: { status: 'failed', reason: 'engine_lost' } },
    ]);
    const events = await api.rows(
      `select type, actor_name, organization_id, team_id from domain_events where subject_id = ? order by sequence desc limit 1`,
      [runId],
    );
    const owners = { organization_id: tenant.organization, team_id: tenant.team };
    expect(events).toEqual([{ type: 'run.finished', actor_name: 'reconciliation', ...owners }]);
  });

  it('an assembly run whose workflow the engine has lost leaves one audit record with its owners', async () => {
    const template = await addTemplate(tenant.owner, { team: tenant.team });
    const path = await addAssembly(tenant, { nodes: { hello: { template: template.slug } } });
    await tenant.owner.make(`${path}/publish`, { version: '1.0.0' });
    const { body: run } = await tenant.owner.post(`${path}/runs`, { environment_id: tenant.environment });
    const lost = { id: run.id, workflowId: run.idempotency_key };
    expect(await endLostAssemblyRun(deps(), lost), 'the workflow is still to be started').toBe(false);
    await api.rows('delete from outbox');
    const resumed = { ...lost, workflowId: newId() };
    expect(await endLostAssemblyRun(deps(), resumed), 'another workflow drives it by now').toBe(false);
    expect(await Promise.all([1, 2].map(() => endLostAssemblyRun(deps(), lost)))).toEqual(
      expect.arrayContaining([true, false]),
    );
    expect(await recordsOf('assembly_run.engine_lost', run.id)).toMatchObject([
      { ...ofTenant('assembly_runs', 'reconciliation'), after: { status: 'failed', reason: 'engine_lost' } },
    ]);
    const { body: ended } = await tenant.owner.get(`${path}/runs/${run.id}`);
    expect(ended).toMatchObject({ status: 'failed', nodes: { hello: 'canceled' } });
  });

  it('a scan, a candidate check and the run that undoes another leave one audit record with their owners when they have ended', async () => {
    const [undone, scan, plan, undo] = await Promise.all([1, 2, 3, 4].map(() => steps.admit(inEnvironment())));
    const attempt = newId();
    await api.rows(
      `insert into selective_undo_attempts (id, run_id, instance_id, state, verdicts, changes, state_serial, baseline_run_id,
          promoted_run_id, requested_by_id, requested_by_type, requested_by_name, created_at)
        select ?, id, instance_id, 'checking', '[]', '[]', 0, ?, ?, gen_random_uuid(), 'user', 'Ana', now() from runs where id = ?`,
      [attempt, scan, undo, undone],
    );
    await api.rows(
      `insert into selective_undo_candidate_checks (id, attempt_id, run_id, state, requested_by_id, requested_by_type,
          requested_by_name, created_at) values (gen_random_uuid(), ?, ?, 'checking', gen_random_uuid(), 'user', 'Ana', now())`,
      [attempt, plan],
    );
    await api.rows(`update runs set status = 'succeeded', undoes = ? where id = ?`, [undone, undo]);
    const hear = async (run = '') => {
      const event = { id: newId(), subject: { kind: 'run', id: run } };
      for (let repeat = 0; repeat < 2; repeat += 1) await continueUndoAfterRun(deps(), event);
    };
    await hear(scan);
    expect(await recordsOf('selective_undo.checked', attempt)).toMatchObject([
      { ...ofTenant('selective_undo', 'selective undo'), after: { state: 'failed', problem: 'scan_failed' } },
    ]);
    await api.rows(`update selective_undo_attempts set state = 'candidate_checking' where id = ?`, [attempt]);
    await hear(plan);
    expect(await recordsOf('selective_undo.candidate_checked', attempt)).toMatchObject([
      { ...ofTenant('selective_undo', 'selective undo'), after: { state: 'ready', problem: 'plan_failed' } },
    ]);
    await hear(undo);
    expect(await recordsOf('run.undone', undone ?? '')).toMatchObject([
      { ...ofTenant('runs', 'selective undo'), after: { undone_by: undo } },
    ]);
  });

  it('a state of an ended attempt leaves one audit record with its owners when it is recovered, and when it is refused', async () => {
    const { runId, attemptId } = await steps.applying(worker, 'none', inEnvironment());
    await tenant.owner.post(`/runs/${runId}/cancel`, { force: true });
    expect(await steps.keep({ attemptId })).toBe('late');
    expect(await steps.keep({ attemptId })).toBe('kept');
    const instance = await instanceOf(runId);
    expect(await recordsOf('instance.state_recovered', instance)).toMatchObject([
      { ...ofTenant('instances', 'state recovery'), after: { serial: 1, run_id: runId } },
    ]);
    const refused = {
      attemptId,
      write: 2,
      digest: 'sha256:0',
      file: 'a.refused',
      workerId: worker,
      problem: 'too large',
    };
    for (let repeat = 0; repeat < 2; repeat += 1)
      await api.services.transactions.run((tx) => recordRefusedState(tx, refused));
    expect(await recordsOf('instance.state_refused', instance)).toMatchObject([
      {
        ...ofTenant('instances', 'state recovery'),
        after: { run_id: runId, attempt_id: attemptId, file: 'a.refused' },
      },
    ]);
  });

  it("an instance that outlives its environment's time to live leaves one audit record with its owners", async () => {
    const spec = {
      executor: { kind: 'command', apply: [{ name: 'a', run: ['true'] }], destroy: [{ name: 'd', run: ['true'] }] },
    };
    const runId = await steps.admit(inEnvironment(), spec);
    const instance = await instanceOf(runId);
    await api.rows(
      `update runs set status = 'succeeded', phase = 'finished', created_at = now() - interval '3 hours',
              finished_at = now() - interval '2 hours' where id = ?`,
      [runId],
    );
    await api.rows('update instances set resource_count = 1, deployed_run_id = ? where id = ?', [runId, instance]);
    await Promise.all([1, 2, 3].map(() => expireInstances(deps())));
    expect(await recordsOf('instance.expired', instance)).toMatchObject([ofTenant('instances', 'time to live')]);
    const events = await api.rows(`select type, actor_name, team_id from domain_events where subject_id = ?`, [
      instance,
    ]);
    expect(events).toEqual([{ type: 'instance.expired', actor_name: 'time to live', team_id: tenant.team }]);
  });

  it('a system action leaves one audit record even if somebody has used a key that is derived from what they can read', async () => {
    const spec = {
      executor: { kind: 'command', apply: [{ name: 'a', run: ['true'] }], destroy: [{ name: 'd', run: ['true'] }] },
    };
    const runId = await steps.admit(inEnvironment(), spec);
    const instance = await instanceOf(runId);
    for (const purpose of ['time-to-live', 'engine-lost', 'instance.expired', 'run.engine_lost']) {
      await api.rows(
        `insert into command_receipts (key, principal_id, operation, binding, audit_record_id, created_at, status)
         values (?, ?, 'runs.create', '', ?, now(), 202)`,
        [v5(purpose, runId), tenant.owner.id, newId()],
      );
    }
    await api.rows(
      `update runs set status = 'succeeded', phase = 'finished', created_at = now() - interval '3 hours',
              finished_at = now() - interval '2 hours' where id = ?`,
      [runId],
    );
    await api.rows('update instances set resource_count = 1, deployed_run_id = ? where id = ?', [runId, instance]);
    await expireInstances(deps());
    expect(await recordsOf('instance.expired', instance)).toHaveLength(1);
  });

  it('a monitor that scans at the times of its schedule leaves one audit record with its owners for each time', async () => {
    const detect = [{ name: 'look', run: ['true'] }];
    const spec = { executor: { kind: 'command', apply: [{ name: 'a', run: ['true'] }], detect } };
    const run = await steps.admit(inEnvironment(), spec);
    const place = { instance: await instanceOf(run), team: tenant.team, environment: tenant.environment };
    const execute: Execute = (sql, values) => api.rows(sql, values);
    await deploy(execute, { run, instance: place.instance });
    const monitor = await addMonitor(execute, place);
    const { evaluator } = api.services;
    const at = new Date('2026-11-23T06:00:00Z');
    await api.rows(`update settings set document = '{"features": {"drift": {"enabled": false, "reason": "a move"}}}'`);
    await startScheduledScan({ ...deps(), evaluator }, monitor, new Date('2026-11-23T00:00:00Z'));
    expect(await recordsOf('drift_monitor.scan_started', monitor), 'drift detection is off').toHaveLength(0);
    expect(await api.rows('select last_failure as last from drift_monitors where id = ?', [monitor])).toMatchObject([
      { last: { code: 'feature_disabled', message: expect.stringContaining('a move') } },
    ]);
    await api.rows(`update settings set document = '{}'`);
    await Promise.all([1, 2, 3].map(() => startScheduledScan({ ...deps(), evaluator }, monitor, at)));
    expect(await recordsOf('drift_monitor.scan_started', monitor)).toMatchObject([
      ofTenant('drift_monitors', 'drift detection'),
    ]);
    await startScheduledScan({ ...deps(), evaluator }, monitor, new Date('2026-11-23T12:00:00Z'));
    expect(await recordsOf('drift_monitor.scan_started', monitor), 'the first scan is under way').toHaveLength(1);
    const { body } = await tenant.owner.get(`/drift-monitors/${monitor}/scans`);
    expect(body.scans).toMatchObject([{ trigger: 'schedule', status: 'queued', found: null }]);
  });

  it('a suppression whose time is over leaves one audit record with its owners', async () => {
    const run = await steps.admit(inEnvironment());
    const place = { instance: await instanceOf(run), team: tenant.team, environment: tenant.environment };
    const execute: Execute = (sql, values) => api.rows(sql, values);
    const monitor = await addMonitor(execute, place);
    const { finding } = await addFinding(execute, { ...place, monitor, run });
    await api.rows(
      `update drift_findings set status = 'suppressed', reason = 'suppressed', suppressed_value = observed, suppression_reason = 'known',
         suppressed_by_name = 'Ada', suppressed_until = now() - interval '1 second' where id = ?`,
      [finding],
    );
    await Promise.all([1, 2].map(() => keepUpDrift(deps())));
    expect(await recordsOf('drift_finding.suppression_ended', finding)).toMatchObject([
      { ...ofTenant('drift_findings', 'drift detection'), after: { status: 'open' } },
    ]);
    const { body } = await tenant.owner.get(`/drift-findings/${finding}`);
    expect(body).toMatchObject({ status: 'open', reason: 'suppression_ended', suppression: null });
  });

  it('findings of a monitor that go out of retention leave one audit record with their owners', async () => {
    const run = await steps.admit(inEnvironment());
    const place = { instance: await instanceOf(run), team: tenant.team, environment: tenant.environment };
    const execute: Execute = (sql, values) => api.rows(sql, values);
    const monitor = await addMonitor(execute, place);
    const { finding } = await addFinding(execute, { ...place, monitor, run });
    await api.rows(
      `update drift_findings set status = 'resolved', last_seen_at = now() - interval '2 days' where id = ?`,
      [finding],
    );
    const yesterday = new Date(Date.now() - 24 * 3600_000);
    const cutoffs = { scans: yesterday, findings: yesterday };
    await Promise.all([1, 2, 3].map(() => forgetHistory(deps(), monitor, cutoffs)));
    expect(await recordsOf('drift_monitor.history_expired', monitor)).toMatchObject([
      { ...ofTenant('drift_monitors', 'retention'), after: { scans: 0, findings: 1, evidence: 1 } },
    ]);
  });

  it('a webhook whose endpoint is gone leaves one audit record with its owners', async () => {
    const wanted = { team_id: tenant.team, name: 'Chat', url: 'http://127.0.0.9:9/', events: ['*'] };
    const { id } = await tenant.owner.make('/admin/webhooks', wanted);
    await Promise.all([1, 2].map(() => disableWebhook(deps(), id, 'gone')));
    expect(await recordsOf('webhook.disabled', id)).toMatchObject([
      { ...ofTenant('webhooks', 'webhook delivery'), after: { enabled: false, reason: 'gone' } },
    ]);
  });

  it('a notification channel whose project gets another owner leaves one audit record with its owners', async () => {
    const { owner, organization, team } = tenant;
    const project = await owner.make('/projects', { team_id: team, name: 'Moving' });
    const config = { recipients: ['ops@example.com'] };
    const wanted = { project_id: project.id, name: 'On call', kind: 'email', config };
    const { id } = await owner.make('/admin/notification-channels', wanted);
    const other = await owner.make(`/organizations/${organization}/teams`, { name: 'Takes it' });
    expect((await owner.post(`/projects/${project.id}/transfer`, { team_id: other.id })).status).toBe(200);
    expect(await recordsOf('notification_channel.disabled', id)).toMatchObject([
      {
        ...ofTenant('notification_channels', 'transfer'),
        team_id: other.id,
        after: { enabled: false, reason: 'transferred' },
      },
    ]);
  });

  it('a check of a template that opens the private modules of an environment leaves one audit record with its owners', async () => {
    const { owner, team, environment } = tenant;
    const config = { url: 'https://127.0.0.1:9/acme/' };
    const wanted = { name: 'modules', kind: 'git', config, credentials: { token: 'a-token-of-acme' } };
    const { id } = await (await api.addUser('admin')).make('/admin/connections', { ...wanted, team_id: team });
    await owner.put(`/environments/${environment}/connections`, { modules: { connection_id: id } });
    const template = await owner.make('/registry/templates', { name: 'Private', team_id: team });
    const spec = { executor: { kind: 'opentofu', files: { 'main.tf': '' } } };
    const body = { version: '1.0.0', spec, check_environment_id: environment };
    await owner.make(`/registry/templates/${template.id}/versions`, body);
    const [check] = await api.rows<{ id: string }>('select id from template_checks where template_id = ?', [
      template.id,
    ]);
    const { transactions, keyRing } = api.services;
    await transactions.run((tx) => openCheckSources(tx, keyRing, check?.id ?? ''));
    expect(await recordsOf('connection.used', id)).toMatchObject([
      { ...ofTenant('connections', 'template checks'), after: { template_id: template.id, name: 'modules' } },
    ]);
  });

  it('a worker leaves one audit record with its owners each time that its heartbeats stop, and when they come again', async () => {
    const silence = () =>
      api.rows(`update workers set heartbeat_at = now() - interval '31 seconds' where id = ?`, [worker]);
    const isLost = async () =>
      (await api.rows<{ lost: boolean }>('select lost_at is not null as lost from workers where id = ?', [worker]))[0];
    await reportSilentWorkers(deps());
    expect(await recordsOf('worker.lost', worker)).toEqual([]);
    await silence();
    await Promise.all([1, 2, 3].map(() => reportSilentWorkers(deps())));
    expect(await recordsOf('worker.lost', worker)).toMatchObject([
      { ...ofInstallation('workers', 'worker supervision'), after: { host: 'here', pools: ['default'] } },
    ]);
    expect(await isLost()).toEqual({ lost: true });
    expect(await reportReturn(deps(), worker)).toBe(false);
    const heartbeat = await recordHeartbeat(api.services.orm.em.fork(), { id: worker, draining: false, tools: [] });
    expect(heartbeat).toEqual({ state: 'registered', isReportedLost: true, wasSilent: true });
    const reported = await Promise.all([1, 2].map(() => reportReturn(deps(), worker)));
    expect(reported.sort()).toEqual([false, true]);
    expect(await isLost()).toEqual({ lost: false });
    expect(await recordsOf('worker.returned', worker)).toMatchObject([
      { ...ofInstallation('workers', 'worker supervision'), after: { host: 'here', pools: ['default'] } },
    ]);
    await silence();
    await reportSilentWorkers(deps());
    expect(await recordsOf('worker.lost', worker)).toHaveLength(2);
    const events = await api.rows('select type, sequence from domain_events where subject_id = ? order by sequence', [
      worker,
    ]);
    expect(events).toEqual(
      ['worker.lost', 'worker.returned', 'worker.lost'].map((type, index) => ({ type, sequence: index + 1 })),
    );
  });

  it('a key that has signed long enough leaves one audit record with its owners', async () => {
    const id = await keepSigningKeys({ ...deps(), signingKeyDays: 90 });
    expect(await recordsOf('signing_key.created', id ?? '')).toMatchObject([
      { ...ofInstallation('signing_keys', 'key rotation'), after: { key_id: expect.any(String) } },
    ]);
  });

  it('a worker whose process has ended without deregistering leaves one audit record with its owners', async () => {
    for (let repeat = 0; repeat < 2; repeat += 1) await removeDeadWorker(deps(), worker);
    expect(await recordsOf('worker.lost', worker)).toMatchObject([ofInstallation('workers', 'worker supervision')]);
    expect(await api.rows('select 1 from workers where id = ?', [worker])).toEqual([]);
  });

  it.each([
    ['audit_records', monthlyRetentions.audit],
    ['events', monthlyRetentions.events],
    ['run_logs', monthlyRetentions.run_logs],
    ['run_plans', monthlyRetentions.run_plans],
  ])(
    'a month of %s that goes out of retention leaves one audit record with its owners',
    async (resource, retention) => {
      const { orm } = api.services;
      const month = '2021-02';
      await makePartitions(orm.em.fork(), new Date(`${month}-03T00:00:00Z`));
      const now = new Date('2021-06-15T00:00:00Z');
      expect(await removeExpiredMonths(orm.em.fork(), deps(), retention, 90, now)).toEqual([month]);
      expect(await recordsOf(retention.action, month)).toMatchObject([
        { ...ofInstallation(resource, 'retention'), after: { records: 0, retention_days: 90 } },
      ]);
    },
  );
});

describe('the encryption of the secrets with a new key', () => {
  it('is recorded in the audit once it has encrypted something', async () => {
    const { orm, keyRing } = api.services;
    const newest = { id: 'newest', key: Buffer.alloc(32, 9) };
    await rotateAllKeys({ orm, keyRing }, () => undefined);
    expect(await api.rows(`select 1 from audit_records where action = 'secrets.resealed'`)).toEqual([]);
    const ring = new KeyRing([newest, ...createTestConfig('postgres://unused').secretKeys]);
    expect(await rotateAllKeys({ orm, keyRing: ring }, () => undefined)).toBe(0);
    expect(await api.rows(`select resource_type, after from audit_records where action = 'secrets.resealed'`)).toEqual([
      { resource_type: 'secrets', after: { sealed: expect.any(Number), left: 0 } },
    ]);
  });
});

describe('the list of system actions', () => {
  it("has exactly the actions that this file's tests recorded", async () => {
    const rows = await api.rows<{ action: string; actor_name: string }>(
      `select distinct action, actor_name from audit_records where actor_type = 'system'`,
    );
    const declared = Object.entries(systemActions).map(([action, { actor }]) => ({ action, actor_name: actor }));
    const byAction = (one: { action: string }, other: { action: string }) => (one.action < other.action ? -1 : 1);
    expect(rows.sort(byAction)).toEqual(declared.sort(byAction));
  });
});
