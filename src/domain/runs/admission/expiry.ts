import type { Em } from '#database/database.ts';
import { systemAction } from '#domain/audit/system-actions.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import type { Change } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { deriveId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { Run } from '../entity.ts';
import { admitRun } from './admission.ts';
import { openInputs } from './inputs.ts';
import { buildRun, type ResolvedRun } from './resolve.ts';
import { type AdmissionTarget, findAdmissionTarget } from './target.ts';

/** An instance that has outlived its environment's time to live, and the run that deployed it as it is. */
export interface ExpiredInstance {
  readonly id: string;
  readonly templateId: string;
  readonly environmentId: string;
  readonly deployedRunId: string;
}

export interface ExpiryDeps {
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly bindingKey: Buffer;
}

/** Due once: whatever comes of the run that destroys it, the next one is due only after another deployment. */
const due = `
  select i.id, i.template_id as "templateId", i.environment_id as "environmentId", i.deployed_run_id as "deployedRunId"
    from environments e join instances i on i.environment_id = e.id join runs r on r.id = i.deployed_run_id
         join template_versions v on v.id = r.template_version_id
   where e.ttl_seconds is not null and e.deleted_at is null and i.resource_count > 0
     and r.finished_at + make_interval(secs => e.ttl_seconds) <= clock_timestamp()
     and (v.spec #>> '{executor,kind}' <> 'command' or v.spec #> '{executor,destroy}' is not null)
     and not exists (select 1 from runs x where x.instance_id = i.id
                       and (x.finished_at is null or (x.requested_by_type = 'system' and x.created_at >= r.finished_at)))`;

/** The next instances, by id, that are due for destruction and in nobody's use. */
export function findExpired(em: Em, { after, limit }: { after: string; limit: number }): Promise<ExpiredInstance[]> {
  return em.execute<ExpiredInstance[]>(`${due} and i.id > ? order by i.id limit ?`, [after, limit]);
}

/**
 * Admits the run that destroys an expired instance with what it was deployed with: a run like any other, that waits for
 * the approvals which its environment asks for.
 * @throws Conflict where it is not due any more, or something it needs is archived
 */
export async function destroyExpired(deps: ExpiryDeps, expired: ExpiredInstance): Promise<void> {
  const command = {
    // One key for one deployment: it is the run's workflow as well.
    key: deriveId('time-to-live', expired.deployedRunId),
    caller: systemPrincipal('time to live'),
    ...{
      operation: 'instances.expire',
      audit: systemAction('instance.expired'),
      target: { id: expired.id },
      input: {},
    },
    ...{ locks: [], request: { requestId: null, address: null } },
  };
  await runCommand(deps.transactions, deps.bindingKey, command, {
    find: (tx) => findAdmissionTarget(tx.em, expired, true),
    act: (tx, _caller, target) => admitDestruction(tx, deps, expired, { key: command.key, target }),
  });
}

async function admitDestruction(
  tx: Transaction,
  { keyRing }: ExpiryDeps,
  expired: ExpiredInstance,
  { key, target }: { key: string; target: AdmissionTarget | undefined },
): Promise<Change> {
  const { id, deployedRunId } = expired;
  const isDue = await tx.em.execute<unknown[]>(`${due} and i.id = ? and r.id = ? for update of i`, [id, deployedRunId]);
  if (!target || isDue.length === 0) throw new Conflict('the instance is not due for destruction any more');
  const deployed = await tx.em.findOneOrFail(Run, { id: deployedRunId });
  const resolve = () => resolveDestruction(tx.em, keyRing, target, deployed);
  const run = await admitRun(
    tx,
    key,
    target,
    { instance: deployed.instance, resolve },
    systemPrincipal('time to live'),
  );
  return { id, after: { runId: run.id }, revision: run.revision };
}

async function resolveDestruction(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  deployed: Run,
): Promise<ResolvedRun> {
  const version = await loadVersionById(em, deployed.templateVersionId);
  return buildRun(keyRing, target, version, {
    ...{ operation: 'destroy', replace: [], instance: deployed.instance, requeuedFrom: null },
    message: "The environment's time to live has passed.",
    shown: deployed.variables,
    inputs: openInputs(keyRing, deployed.id, deployed.sealedInputs),
  });
}
