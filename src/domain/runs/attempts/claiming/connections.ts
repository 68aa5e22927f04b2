import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { type AttemptDelivery, deliverToAttempt } from '#domain/connections/attempt-delivery.ts';
import { ConnectionRefused } from '#domain/connections/bindings/errors.ts';
import type { UsedConnection } from '#domain/connections/bindings/model.ts';
import { type RunPlace, resolveConnections } from '#domain/connections/bindings/resolve.ts';
import { type EffectiveBinding, phasesOf } from '#domain/connections/bindings/store.ts';
import { CredentialsUnavailable } from '#domain/connections/errors.ts';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { type BoundSource, readModuleSources } from '#domain/connections/module-sources/module-sources.ts';
import { db, prepare } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { sharePrincipals } from '#domain/shared/access/authority-lock.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { EnvironmentRequired, IssuerUnknown, SigningKeyUnavailable } from '#domain/workload-identity/errors.ts';
import type { Run, RunAttempt } from '../../entity.ts';
import { ConnectionsRefused } from '../../errors.ts';
import type { WaitingAttempt } from './waiting-attempt-store.ts';

/** Everything that connections provide to an attempt. It stays in the worker and its executor: never store or log it. */
export interface DeliveredConnections extends AttemptDelivery {
  readonly moduleSources: readonly ModuleSource[];
}

/** The attempt that gets connections, and its worker. */
interface Recipient {
  readonly run: Run;
  readonly attempt: RunAttempt;
  readonly spec: TemplateSpec;
  readonly workerId: string;
  /** Whether anything is bound where the run is. */
  readonly isBound: boolean;
  /** The origin that tokens name as their issuer; null if it is not known. */
  readonly issuer: string | null;
}

/**
 * Takes share locks, until the commit, on what `deliverConnections` relies on: the bindings that the attempt's run may get, and the
 * authority of those who made them. Call it before the attempt is claimed, because principals are locked before runs. Returns whether there
 * are any bindings.
 */
export async function lockBindersForShare(
  em: Em,
  {
    templateVersionId,
    environmentId,
    projectId,
  }: Pick<WaitingAttempt, 'templateVersionId' | 'environmentId' | 'projectId'>,
): Promise<{ isBound: boolean }> {
  if (!mayUseConnections((await loadVersionById(em, templateVersionId)).spec)) return { isBound: false };
  const binders = await lockBindings(em, { environmentId, projectId });
  if (binders.length > 0) await sharePrincipals(em, { ids: [...new Set(binders.map(({ boundBy }) => boundBy))] });
  return { isBound: binders.length > 0 };
}

/** Whether a template may use connections: those that it names, or those that the modules of its configuration need. */
function mayUseConnections({ connections = [], executor }: TemplateSpec): boolean {
  return connections.length > 0 || executor.kind !== 'command';
}

const lockBindings = prepare(
  (queries, parameter: ParameterOf<{ environmentId: string | null; projectId: string | null }>) =>
    queries
      .selectFrom('connection_bindings as b')
      .where((eb) =>
        eb.or([eb('b.environmentId', '=', parameter('environmentId')), eb('b.projectId', '=', parameter('projectId'))]),
      )
      .orderBy('b.id')
      .select('b.boundBy')
      .forShare('b'),
);

/**
 * Gives an attempt what the connections of its template provide in its phase, and the sources of private modules that are bound, and
 * records in the run which connections these were. It checks again that each is bound and belongs to an owner of the environment, and that
 * its binder may still bind it. The next attempt gets rotated credentials.
 * @throws ConnectionsRefused if the attempt cannot have one of them
 */
export async function deliverConnections(
  em: Em,
  keyRing: KeyRing,
  recipient: Recipient,
): Promise<DeliveredConnections> {
  const { run, attempt, spec, workerId, issuer, isBound } = recipient;
  const { connections: needs = [] } = spec;
  if (needs.length === 0 && !isBound) return { variables: [], files: [], moduleSources: [] };
  try {
    const phase = attempt.phase === 'planning' ? 'plan' : 'apply';
    const place = await findPlace(em, run);
    const all = await resolveConnections(em, needs, place, true);
    const used = all.map((binding) => toUsed(binding, phase, attempt.id));
    if (phase === 'apply') refuseRebound(run.connections, used);
    const bindings = all.filter((binding) => phasesOf(binding).includes(phase));
    const to = { attemptId: attempt.id, workerId, runId: run.id, issuer };
    const deliveries: AttemptDelivery[] = [];
    for (const binding of bindings)
      deliveries.push(await deliverToAttempt(em, keyRing, { ...binding, id: binding.connectionId }, to));
    const modules = spec.executor.kind === 'command' ? [] : await giveModuleSources(em, keyRing, place, phase);
    const opened = modules.filter(({ binding }) => !all.some(({ id }) => id === binding.id));
    await noteUse(em, run.id, [...used, ...opened.map(({ binding }) => toUsed(binding, phase, attempt.id))]);
    return {
      moduleSources: modules.map(({ source }) => source),
      variables: deliveries.flatMap(({ variables }) => variables),
      files: deliveries.flatMap(({ files }) => files),
    };
  } catch (error) {
    throw toRefusal(error);
  }
}

async function giveModuleSources(
  em: Em,
  keyRing: KeyRing,
  { organizationId, teamId, projectId, environmentId }: RunPlace,
  phase: UsedConnection['phase'],
): Promise<BoundSource[]> {
  if (organizationId === null || teamId === null || projectId === null || environmentId === null) return [];
  const place = { organizationId, teamId, projectId, environmentId };
  return readModuleSources(em, keyRing, { place, phase, lock: true });
}

/** The place of a run with its present owners, who may have changed since the run was admitted. */
async function findPlace(em: Em, { environmentId }: Run): Promise<RunPlace> {
  const environment = environmentId ? await findEnvironment(em, environmentId) : undefined;
  if (!environment) return { organizationId: null, teamId: null, projectId: null, environmentId: null };
  const { organizationId, teamId, projectId, id } = environment;
  return { organizationId, teamId, projectId, environmentId: id };
}

function toUsed(binding: EffectiveBinding, phase: UsedConnection['phase'], attemptId: string): UsedConnection {
  const { name, connectionId, connection, kind, credentialRevision, boundBy } = binding;
  const configDigest = createHash('sha256').update(canonicalJson(binding.config)).digest('hex');
  const isGiven = phasesOf(binding).includes(phase);
  return { name, phase, attemptId, isGiven, connectionId, connection, kind, credentialRevision, configDigest, boundBy };
}

/** Refuses connections to other systems than those for which the plan was approved. New credentials for the same systems are allowed. */
function refuseRebound(earlier: readonly UsedConnection[], used: readonly UsedConnection[]): void {
  for (const { name, connectionId, configDigest } of used) {
    const planned = earlier.findLast((each) => each.name === name && each.phase === 'plan');
    if (planned?.connectionId === connectionId && planned.configDigest === configDigest) continue;
    throw new ConnectionsRefused(
      'connection_rebound',
      `the connection "${name}" is another one than when the run was planned, or has other settings: requeue the run, which plans again`,
    );
  }
}

async function noteUse(em: Em, runId: string, used: readonly UsedConnection[]): Promise<void> {
  if (used.length === 0) return;
  await db(em)
    .updateTable('runs')
    .set((eb) => ({ connections: sql`${eb.ref('connections')} || ${json([...used])}::jsonb` }))
    .where('id', '=', runId)
    .execute();
}

function toRefusal(error: unknown): unknown {
  if (error instanceof ConnectionRefused) return new ConnectionsRefused(error.reason, error.message, error);
  if (error instanceof CredentialsUnavailable)
    return new ConnectionsRefused('credentials_unavailable', error.message, error);
  const isWithoutIdentity =
    error instanceof IssuerUnknown || error instanceof SigningKeyUnavailable || error instanceof EnvironmentRequired;
  return isWithoutIdentity ? new ConnectionsRefused('identity_unavailable', error.message, error) : error;
}
