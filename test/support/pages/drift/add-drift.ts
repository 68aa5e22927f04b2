import type { ResourceChange } from '#domain/runs/plans/model.ts';
import type { TestApi } from '../../api/in-process-api.ts';
import { endScan } from '../../drift/drift-stage.ts';
import { required } from '../answers.ts';
import type { People } from '../people.ts';
import type { Place } from '../runs/places.ts';

/** Monitors and findings, by what they show. */
export interface SeededDrift {
  /** Of an instance that has drifted in several places. */
  readonly drifted: string;
  readonly inSync: string;
  readonly failing: string;
  readonly notScanned: string;
  /** Of an environment. */
  readonly ofEnvironment: string;
  readonly openFinding: string;
  readonly suppressedFinding: string;
  readonly wholeFinding: string;
}

const every = { every: 'PT6H' };
const hours = (ago: number) => new Date(Date.now() - ago * 3600_000);

/** Adds monitors of the platform team, with scans of two days. */
export async function addDrift(
  api: TestApi,
  { owner }: People,
  { environment, instances }: { readonly environment: string; readonly instances: readonly Place[] },
): Promise<SeededDrift> {
  const deployed = await findDeployed(api, environment, instances);
  const watch = async (index: number, schedule: object = every) => {
    const { instance, run, serial } = deployed[index] ?? deployed[0]!;
    const answer = await owner.post('/drift-monitors', { instance_id: instance, schedule });
    return { monitor: required(answer, 201).id as string, run, serial };
  };
  const drifted = await watch(0);
  for (const [index, changes] of story.entries())
    await endScan(api, drifted, changes, { serial: drifted.serial, at: hours(6 * (story.length - index)) });
  await endScan(api, drifted, [], { status: 'canceled', at: hours(3) });
  await endScan(api, drifted, latest, { serial: drifted.serial, at: hours(1) });
  const inSync = await watch(1, { cron: '0 6 * * MON-FRI', timezone: 'Europe/Berlin' });
  await endScan(api, inSync, [], { serial: inSync.serial, at: hours(20) });
  const failing = await watch(2);
  await endScan(api, failing, [], { serial: failing.serial, at: hours(12) });
  await endScan(api, failing, [], { status: 'failed', at: hours(6) });
  const notScanned = await watch(3);
  const all = await owner.post('/drift-monitors', { environment_id: environment, schedule: { every: 'P1D' } });
  const findings = await readFindings(api, drifted.monitor);
  const suppressedFinding = findings['tags.owner'] ?? '';
  const until = new Date(Date.now() + 60 * 24 * 3600_000).toISOString();
  const reason = 'The new owner tags by hand until the rename is through.';
  required(
    await owner.post(`/drift-findings/${suppressedFinding}/suppress`, {
      evidence_id: await latestEvidence(api, suppressedFinding),
      reason,
      until,
    }),
    200,
  );
  return {
    drifted: drifted.monitor,
    inSync: inSync.monitor,
    failing: failing.monitor,
    notScanned: notScanned.monitor,
    ofEnvironment: required(all, 201).id,
    openFinding: findings['map_public_ip_on_launch'] ?? '',
    suppressedFinding,
    wholeFinding: findings[''] ?? '',
  };
}

/** Deployed instances of an environment, each with the run that deployed it. */
async function findDeployed(api: TestApi, environment: string, places: readonly Place[]) {
  const ids = places.filter((each) => each.environment.id === environment).map(({ id }) => id);
  return api.rows<{ instance: string; run: string; serial: number }>(
    'select id as instance, deployed_run_id as run, state_serial as serial from instances where id = any(?) and deployed_run_id is not null order by id',
    [`{${ids.join(',')}}`],
  );
}

async function readFindings(api: TestApi, monitor: string): Promise<Record<string, string>> {
  const rows = await api.rows<{ id: string; path: string }>(
    'select id, path from drift_findings where monitor_id = ?',
    [monitor],
  );
  return Object.fromEntries(rows.map(({ id, path }) => [path, id]));
}

/** What whoever suppresses a finding has looked at. */
export async function latestEvidence(api: TestApi, finding: string): Promise<string> {
  const sql = 'select evidence_id as evidence from drift_findings where id = ?';
  const [row] = await api.rows<{ evidence: string }>(sql, [finding]);
  return row?.evidence ?? '';
}

const subnet = (after: object): ResourceChange => ({
  address: 'aws_subnet.private["eu-central-1a"]',
  action: 'update',
  before: {
    cidr_block: '10.20.1.0/24',
    map_public_ip_on_launch: false,
    tags: { owner: 'platform', stage: 'production' },
  },
  after: {
    cidr_block: '10.20.1.0/24',
    map_public_ip_on_launch: false,
    tags: { owner: 'platform', stage: 'production' },
    ...after,
  },
});

const policy = (actions: readonly string[]) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }] }, null, 2);

const endpoint: ResourceChange = {
  address: 'aws_vpc_endpoint.s3',
  action: 'update',
  before: { policy: policy(['s3:GetObject']), service_name: 'com.amazonaws.eu-central-1.s3' },
  after: {
    policy: policy(['s3:GetObject', 's3:PutObject', 's3:DeleteObject']),
    service_name: 'com.amazonaws.eu-central-1.s3',
  },
};

const removed: ResourceChange = {
  address: 'aws_security_group_rule.deny_all',
  action: 'delete',
  before: { type: 'ingress', protocol: '-1', from_port: 0, to_port: 0 },
  after: null,
};

const tagged = subnet({ tags: { owner: 'ada', stage: 'production' } });
const open = subnet({ tags: { owner: 'ada', stage: 'production' }, map_public_ip_on_launch: true });

/** What the scans of two days found, the oldest first. */
const story: readonly (readonly ResourceChange[])[] = [
  [],
  [],
  [tagged],
  [tagged],
  [open, endpoint],
  [open, endpoint],
  [tagged, endpoint],
];
const latest = [open, endpoint, removed];
