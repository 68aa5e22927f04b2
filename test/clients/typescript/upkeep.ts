import { setTimeout as sleep } from 'node:timers/promises';
import { answered, signInAsAdministrator } from './session.ts';

/** The undo of one of three runs, a scan that finds drift and its remediation, and a schedule, by the generated client. */

async function until<Found>(read: () => Promise<Found>, isReached: (found: Found) => boolean): Promise<Found> {
  for (let attempts = 0; attempts < 300; attempts += 1) {
    const found = await read();
    if (isReached(found)) return found;
    await sleep(100);
  }
  throw new Error(`it never came to ${isReached}`);
}

const admin = await signInAsAdministrator();
const organization = await answered(admin.POST('/api/v1/organizations', { body: { name: 'Upkeep' } }));
const team = await answered(
  admin.POST('/api/v1/organizations/{orgID}/teams', {
    params: { path: { orgID: organization.id } },
    body: { name: 'Platform' },
  }),
);
const project = await answered(admin.POST('/api/v1/projects', { body: { team_id: team.id, name: 'Machines' } }));
const environment = await answered(
  admin.POST('/api/v1/environments', { body: { project_id: project.id, name: 'Test', kind: 'development' } }),
);
const template = await answered(
  admin.POST('/api/v1/registry/templates', { body: { name: 'Machine', slug: 'machine', team_id: team.id } }),
);
const step = (script: string) => [{ name: 'do', run: ['sh', '-c', script] }];
/** Somebody has made each machine of size 1 bigger. */
const look = `[ "$COORDINATOR_VAR_SIZE" = 1 ] && echo '[{"address":"machine","action":"update","before":{"size":1},"after":{"size":9}}]' > plan.json || echo '[]' > plan.json`;
await answered(
  admin.POST('/api/v1/registry/templates/{id}/versions', {
    params: { path: { id: template.id } },
    body: {
      version: '1.0.0',
      spec: {
        variables: { type: 'object', properties: { size: { type: 'integer' }, name: { type: 'string' } } },
        executor: { kind: 'command', apply: step('true'), detect: step(look) },
      },
    },
  }),
);

const place = { template_id: template.id, environment_id: environment.id, instance: 'machine' };
const readRun = (id: string) => answered(admin.GET('/api/v1/runs/{id}', { params: { path: { id } } }));
async function apply(size: number, name: string) {
  const { id } = await answered(admin.POST('/api/v1/runs', { body: { ...place, variables: { size, name } } }));
  return until(
    () => readRun(id),
    ({ status }) => status === 'succeeded',
  );
}
await apply(1, 'first');
const second = await apply(2, 'first');
const third = await apply(2, 'second');

const checked = await answered(
  admin.POST('/api/v1/runs/{id}/selective-undo/check', {
    params: { path: { id: second.id }, header: { 'Idempotency-Key': crypto.randomUUID() } },
  }),
);
const ofAttempt = { path: { id: checked.id } };
const readAttempt = () => answered(admin.GET('/api/v1/selective-undo/{id}', { params: ofAttempt }));
const ready = await until(readAttempt, ({ state }) => state !== 'checking');
await answered(admin.POST('/api/v1/selective-undo/{id}/candidate-checks', { params: ofAttempt }));
const { candidate } = await until(readAttempt, ({ state }) => state === 'promotable');
const promoted = await answered(
  admin.POST('/api/v1/selective-undo/{id}/promote', {
    params: ofAttempt,
    body: { candidate_digest: candidate?.digest ?? '', accepted_collateral: candidate?.collateral ?? [] },
  }),
);
const undone = await until(
  () => readRun(promoted.id),
  ({ status }) => status === 'succeeded',
);

const monitor = await answered(
  admin.POST('/api/v1/drift-monitors', { body: { instance_id: third.instance_id, schedule: { every: 'PT6H' } } }),
);
const ofMonitor = { path: { id: monitor.id } };
await answered(admin.POST('/api/v1/drift-monitors/{id}/scan', { params: ofMonitor }));
await until(
  () => answered(admin.GET('/api/v1/drift-monitors/{id}', { params: ofMonitor })),
  ({ last_success_at: at }) => at !== null,
);
const { drift_findings: findings } = await answered(
  admin.GET('/api/v1/drift-findings', { params: { query: { monitor_id: monitor.id, status: 'open' } } }),
);
const [finding] = findings;
if (!finding) throw new Error('the scan found nothing');
const remedied = await answered(
  admin.POST('/api/v1/drift-findings/{id}/remediation', {
    params: { path: { id: finding.id } },
    body: { evidence_id: finding.evidence.id, expected_revision: finding.revision, direction: 'revert' },
  }),
);
const waiting = await until(
  () => readRun(remedied.id),
  ({ status }) => status === 'pending_approval',
);

const schedule = await answered(
  admin.POST('/api/v1/schedules', {
    body: {
      team_id: team.id,
      name: 'Every Monday',
      schedule: { cron: '0 18 * * MON', timezone: 'Europe/Berlin' },
      work: { run: { ...place, instance: 'other', operation: 'plan', variables: { size: 3 } } },
    },
  }),
);
const ofSchedule = { path: { id: schedule.id } };
await answered(admin.POST('/api/v1/schedules/{id}/trigger', { params: ofSchedule }));
const started = await until(
  () => answered(admin.GET('/api/v1/schedules/{id}', { params: ofSchedule })),
  ({ last_results: [latest] }) => latest?.outcome === 'started',
);
const paused = await answered(admin.PATCH('/api/v1/schedules/{id}', { params: ofSchedule, body: { enabled: false } }));
const { response: deletion } = await admin.DELETE('/api/v1/schedules/{id}', { params: ofSchedule });

console.log(
  JSON.stringify({
    verdicts: ready.verdicts.map(({ path, verdict }) => ({ path, verdict })),
    undone: { variables: undone.variables, undoes: undone.undoes === second.id },
    finding: { address: finding.address, path: finding.path, before: finding.evidence.before },
    remediation: { operation: waiting.operation, required: waiting.approval.required },
    next: started.next_times.length,
    paused: paused.next_times.length,
    deleted: deletion.status,
  }),
);
