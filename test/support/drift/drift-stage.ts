import { recordScan } from '#domain/drift/scans/record-scan.ts';
import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '../access/tenancy.ts';
import type { TestApi } from '../api/in-process-api.ts';
import { addRuns } from '../runs/run-rows.ts';
import { addMonitor, addScan, deploy, type Execute } from './drift-rows.ts';

/** A tenant with deployed instances. Scans end as a test says: no worker executes them. */
export class DriftStage {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly template: string;
  readonly execute: Execute;

  constructor(api: TestApi, tenant: Tenant, template: string) {
    this.api = api;
    this.tenant = tenant;
    this.template = template;
    this.execute = (sql, values) => api.rows(sql, values);
  }

  /** Deploys a new instance. */
  async deploy(template = this.template): Promise<{ instance: string; run: string }> {
    const { body, text } = await this.tenant.owner.post('/runs', {
      template_id: template,
      environment_id: this.tenant.environment,
      instance: `i-${newId().slice(-12)}`,
    });
    if (!body?.id) throw new Error(`the run was not admitted: ${text}`);
    await deploy(this.execute, { run: body.id, instance: body.instance_id });
    return { instance: body.instance_id, run: body.id };
  }

  /** Deploys a new instance that has a monitor. */
  async watched() {
    const deployed = await this.deploy();
    const { team, environment } = this.tenant;
    const place = { instance: deployed.instance, team, environment };
    return { ...deployed, monitor: await addMonitor(this.execute, place) };
  }

  /** Records a scan that ended, which found these changes. */
  scan(watched: ScannedMonitor, changes: readonly ResourceChange[], ended: EndedAs = {}): Promise<string> {
    return endScan(this.api, watched, changes, ended);
  }

  /** Adds a scan that ended and found these changes; `record` has it recorded. */
  endScan(watched: ScannedMonitor, changes: readonly ResourceChange[]): Promise<string> {
    return addEndedScan(this.api, watched, changes, {});
  }

  /** Adds a run that has ended as the latest deployment of an instance, and returns its id. */
  async redeploy({ instance, run }: { instance: string; run: string }, operation = 'apply'): Promise<string> {
    const ended = { status: 'succeeded', operation, createdAt: new Date().toISOString() };
    const [later = ''] = await addRuns(this.api, run, [ended]);
    await this.api.rows('update instances set deployed_run_id = ? where id = ?', [later, instance]);
    return later;
  }

  /** Delivers the end of a run. */
  record(runId: string): Promise<void> {
    return recordEnd(this.api, runId);
  }

  async findings(query: string) {
    const { body } = await this.tenant.owner.get(`/drift-findings?${query}`);
    return body.drift_findings as FoundFinding[];
  }
}

interface FoundFinding {
  readonly id: string;
  readonly status: string;
  readonly path: string;
  readonly reason: string;
  readonly revision: number;
  readonly evidence: { readonly id: string };
}

/** A monitor, and a run of its instance of which its scans are copies. */
export interface ScannedMonitor {
  readonly monitor: string;
  readonly run: string;
}

export interface EndedAs {
  readonly status?: 'succeeded' | 'failed' | 'canceled';
  readonly serial?: number;
  readonly at?: Date;
}

/** Adds a scan that ended and found these changes, and has it recorded. Returns its id. */
export async function endScan(
  api: TestApi,
  scanned: ScannedMonitor,
  changes: readonly ResourceChange[],
  ended: EndedAs = {},
): Promise<string> {
  const scan = await addEndedScan(api, scanned, changes, ended);
  await recordEnd(api, scan);
  return scan;
}

/** Adds a scan that ended and that nothing has recorded yet. */
async function addEndedScan(
  api: TestApi,
  { monitor, run }: ScannedMonitor,
  changes: readonly ResourceChange[],
  { status = 'succeeded', serial = 1, at = new Date() }: EndedAs,
): Promise<string> {
  const createdAt = at.toISOString();
  const [scan = ''] = await addRuns(api, run, [{ status, operation: 'scan', createdAt }]);
  await addScan((sql, values) => api.rows(sql, values), { run: scan, monitor, at: createdAt });
  const plan = `insert into run_plans (run_id, digest, executor_digest, changes, state_serial, created_at) values (?, '', '', ?, ?, now())`;
  if (status === 'succeeded') await api.rows(plan, [scan, JSON.stringify(changes), serial]);
  if (status === 'failed') await api.rows(`update runs set status_reason = 'plan_failed' where id = ?`, [scan]);
  return scan;
}

function recordEnd({ services: { orm, transactions } }: TestApi, runId: string): Promise<void> {
  return recordScan(transactions, runId, orm.em.fork());
}

export async function makeDriftStage(api: TestApi): Promise<DriftStage> {
  const tenant = await makeTenant(api);
  const template = await tenant.owner.make('/registry/templates', { name: 'Site', team_id: tenant.team });
  const executor = { kind: 'opentofu', files: { 'main.tf': 'resource "terraform_data" "a" {}' } };
  const answer = await tenant.owner.post(`/registry/templates/${template.id}/versions`, {
    version: '1.0.0',
    spec: { executor },
  });
  if (answer.status !== 201) throw new Error(`the publication answered ${answer.status}: ${answer.text}`);
  return new DriftStage(api, tenant, template.id);
}

/** A resource that somebody changed. */
export function changed(before: object, after: object, address = 'terraform_data.a'): ResourceChange {
  return { address, action: 'update', before: { ...before }, after: { ...after } };
}
