import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { endLostAssemblyRun, findDispatchedAssemblyRuns } from '#domain/assemblies/runs/steps/reconcile.ts';
import { endLostRestoration } from '#domain/plugins/restorations/steps.ts';
import { findDispatchedRestorations } from '#domain/plugins/restorations/store.ts';
import { findDispatchedChecks, restartLostCheck } from '#domain/registry/checks/restart.ts';
import { endLostRun } from '#domain/runs/steps/reconcile.ts';
import { findDispatchedRuns, lockReconciliation } from '#domain/runs/steps/reconcile-store.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { Dispatched } from '#domain/shared/events/pending-start.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { readEngineNamespace } from '#domain/shared/installation/installation.ts';
import { recordReconciliation } from '#domain/shared/installation/store.ts';
import type { Engine } from '#engine/connection.ts';
import { isWorkflowGone } from '#engine/deliver.ts';

/** Younger runs are not compared, because the engine may not show their workflows yet. */
const minAgeSeconds = 120;
const pageSize = 200;
const concurrency = 8;
/**
 * If more workflows than this are lost, of all kinds that end without them, it is no accident of single runs: the engine has lost its data,
 * or is another engine.
 */
const maxEnded = 5;

/** A kind of record that a workflow drives. */
interface ReconciledKind {
  /** Its name in the log, and the name of its id there. */
  readonly name: string;
  readonly idName: string;
  readonly find: typeof findDispatchedRuns;
  /** What happens to it without its workflow, in the words of the log. */
  readonly outcome: 'ended' | 'restarted';
  readonly settle: (deps: ReconcilerDeps, run: Dispatched) => Promise<boolean>;
}

const reconciledKinds: readonly ReconciledKind[] = [
  {
    name: 'run',
    idName: 'run_id',
    find: findDispatchedRuns,
    outcome: 'ended',
    settle: (deps, { id }) => endLostRun(deps, id),
  },
  {
    name: 'assembly run',
    idName: 'assembly_run_id',
    find: findDispatchedAssemblyRuns,
    outcome: 'ended',
    settle: endLostAssemblyRun,
  },
  {
    name: 'restoration of a plugin resource',
    idName: 'plugin_restoration_id',
    find: findDispatchedRestorations,
    outcome: 'ended',
    settle: (deps, { id }) => endLostRestoration(deps, id),
  },
  {
    name: 'check of a version',
    idName: 'check_id',
    find: findDispatchedChecks,
    outcome: 'restarted',
    settle: ({ transactions }, { id }) => transactions.run((tx) => restartLostCheck(tx, id)),
  },
];

type LostRun = Dispatched & { readonly kind: ReconciledKind };

export interface ReconcilerDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly engine: Engine;
  readonly log: Logger;
}

/**
 * Compares unfinished runs with the engine, and ends those whose workflow is definitely gone: terminated by hand, or lost with the engine's
 * data. Nothing else would end them or release their locks. If more than `maxEnded` workflows are gone, it ends no run and raises an
 * alarm, because people must judge that. Checks of versions are started again. Only one worker of the installation does so at a time; the
 * others return at once.
 * @param olderThanSeconds the minimum age of a run
 */
export async function reconcile(deps: ReconcilerDeps, olderThanSeconds = minAgeSeconds): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    if (!(await lockReconciliation(em)) || !(await isOurEngine(deps))) return;
    const byOutcome = Map.groupBy(reconciledKinds, ({ outcome }) => outcome);
    const search = async (outcome: ReconciledKind['outcome'], max: number) => {
      const lost: LostRun[] = [];
      const kinds = byOutcome.get(outcome) ?? [];
      for (const kind of kinds) await findLostRuns(deps, em, { kind, olderThanSeconds, lost, max });
      if (lost.length > max) raiseAlarm(deps.log, kinds, lost);
      else for (const run of lost) await settleIfStillLost(deps, run);
      return lost.length;
    };
    // If more workflows than this are lost, people must judge that, and nothing ends.
    const ended = await search('ended', maxEnded);
    // Kinds that are restarted deploy nothing, and each of their steps may be repeated. So all of them are restarted, however many were
    // lost.
    await search('restarted', Number.POSITIVE_INFINITY);
    await recordReconciliation(em, ended);
  });
}

/** Whether the engine is ours. One with another namespace knows none of our workflows, which proves nothing about our runs. */
async function isOurEngine({ engine, orm, log }: ReconcilerDeps): Promise<boolean> {
  const [namespaceId, bound] = await Promise.all([engine.check(), readEngineNamespace(orm)]);
  if (bound === null || bound === namespaceId) return true;
  log.error(
    { bound, namespace_id: namespaceId },
    'the Temporal namespace is not the one of this installation; the reconciler compares nothing with it',
  );
  return false;
}

interface Search {
  readonly kind: ReconciledKind;
  readonly olderThanSeconds: number;
  /** The lost runs that were found. */
  readonly lost: LostRun[];
  /** The search stops when more than these are found. */
  readonly max: number;
}

/** Searches the unfinished runs to the end, or until it has found too many lost ones. */
async function findLostRuns(deps: ReconcilerDeps, em: Em, search: Search): Promise<void> {
  const { kind, olderThanSeconds, lost, max } = search;
  let after = zeroId;
  for (;;) {
    const page = await kind.find(em, { after, graceSeconds: olderThanSeconds, limit: pageSize });
    await collectLost(deps, page, search);
    const last = page.at(-1);
    if (!last || page.length < pageSize || lost.length > max) return;
    after = last.id;
  }
}

async function collectLost(
  { engine }: ReconcilerDeps,
  page: readonly Dispatched[],
  { kind, lost, max }: Search,
): Promise<void> {
  const remaining = [...page];
  const checkRuns = async () => {
    for (let run = remaining.shift(); run && lost.length <= max; run = remaining.shift()) {
      if (await isWorkflowGone(engine.client, run.workflowId)) lost.push({ ...run, kind });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, checkRuns));
}

/** Ends or restarts a lost run. It is read again under its lock, because a run ends before its workflow does. */
async function settleIfStillLost(deps: ReconcilerDeps, { kind, ...run }: LostRun): Promise<void> {
  if (await kind.settle(deps, run)) {
    deps.log.warn({ [kind.idName]: run.id }, `${kind.outcome} the ${kind.name} whose workflow the engine has lost`);
  }
}

function raiseAlarm(log: Logger, kinds: readonly ReconciledKind[], lost: readonly LostRun[]): void {
  const idsOf = (kind: ReconciledKind) => lost.flatMap((each) => (each.kind === kind ? [each.id] : []));
  log.error(
    Object.fromEntries(kinds.map((kind) => [`${kind.idName}s`, idsOf(kind)])),
    'ALARM: the engine has lost many workflows; nothing that they drove is ended. Restore the data of the engine, or cancel the runs among them ' +
      `with force: a pass that finds at most ${maxEnded} lost workflows ends the rest, restorations too`,
  );
}
