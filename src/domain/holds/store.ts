import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { db, type Over } from '#domain/db.ts';
import { Environment } from '#domain/environments/entity.ts';
import type { FreezeWindow } from '#domain/environments/freeze-windows.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { Installation } from '#domain/shared/entity.ts';
import { saveChange } from '#domain/shared/revisions.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';
import type { HoldFacts } from './holds.ts';

/** The `HoldFacts` of a run. */
export function selectHolds(eb: Over<{ runs: 'runs' }>) {
  const pause = eb.selectFrom('installation').select('installation.applyPause').$asScalar();
  const environment = () => eb.selectFrom('environments as held').whereRef('held.id', '=', 'runs.environmentId');
  return jsonBuildObject({
    pause,
    lock: environment().select('held.lock').$asScalar(),
    windows: environment().select('held.freezeWindows').$asScalar(),
  }).$castTo<HoldFacts>();
}

/** Writes the lock of an environment, or ends it, and returns its new revision. The caller has locked the row. */
export function saveLock(em: Em, environment: EnvironmentTarget, lock: StoredHold | null): Promise<number> {
  return saveChange(em, Environment, environment, { lock });
}

/** Writes the freeze windows of an environment, and returns its new revision. The caller has locked the row. */
export function saveFreezeWindows(
  em: Em,
  environment: EnvironmentTarget,
  windows: readonly FreezeWindow[],
): Promise<number> {
  return saveChange(em, Environment, environment, { freezeWindows: [...windows] });
}

/** The pause of the installation as it is stored. */
export interface StoredPause {
  /** The id of the installation. */
  readonly id: string;
  readonly pause: StoredHold | null;
  readonly revision: number;
}

/** `lock` locks the installation's row for a change. */
export function findPause(em: Em, lock: boolean): Promise<StoredPause | undefined> {
  const found = db(em)
    .selectFrom('installation')
    .select(['id', 'applyPause as pause', 'applyPauseRevision as revision']);
  return (lock ? found.forNoKeyUpdate() : found).executeTakeFirst();
}

/** Share-locks the installation's row, so that nobody changes the pause before the commit. */
export async function shareApplyPause(em: Em): Promise<void> {
  await db(em).selectFrom('installation').select('id').forShare().execute();
}

/** Writes the pause, or ends it, and raises the revision, which it returns. The caller has locked the row. */
export async function savePause(em: Em, pause: StoredHold | null): Promise<number> {
  const installation = await readForChange(em, Installation, { only: true });
  installation.applyPause = pause;
  installation.applyPauseRevision += 1;
  await em.flush();
  return installation.applyPauseRevision;
}

/** The next runs, by id, that wait for one of these reasons, in one environment or everywhere. */
export function findHeldRuns(
  em: Em,
  {
    environmentId,
    codes,
    after,
    limit,
  }: {
    environmentId: string | null;
    codes: readonly WaitingCode[];
    after: string;
    limit: number;
  },
): Promise<{ id: string; workflowId: string }[]> {
  let runs = db(em)
    .selectFrom('runs')
    .where('finishedAt', 'is', null)
    .where('id', '>', after)
    .where((eb) => eb(eb.ref('waitingOn', '->>').key('code'), 'in', codes))
    .select(['id', 'idempotencyKey as workflowId'])
    .orderBy('id')
    .limit(limit);
  if (environmentId !== null) runs = runs.where('environmentId', '=', environmentId);
  return runs.execute();
}
