import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { debugLogContext } from '../attempts/seals.ts';
import type { Run, RunAttempt } from '../entity.ts';
import { RunDebugLog } from './entity.ts';

const keptDays = 30;

function oldest(): string {
  return new Date(Date.now() - keptDays * 24 * 3600 * 1000).toISOString();
}

/** Stores the debug log of an attempt. */
export async function storeDebugLog(
  em: Em,
  keyRing: KeyRing,
  { run, attempt, content }: { readonly run: Run; readonly attempt: RunAttempt; readonly content: Buffer },
): Promise<void> {
  const level = run.options?.log_level;
  if (level === undefined || content.length === 0) return;
  await em.upsert(RunDebugLog, {
    attemptId: attempt.id,
    runId: run.id,
    phase: attempt.phase,
    level,
    bytes: content.length,
    content: keyRing.seal(debugLogContext(attempt.id), content),
    createdAt: new Date(),
  });
}

const removedAtOnce = 50;

/** Deletes debug logs that are older than a month, a batch at a time. Returns whether there may be more. */
export async function removeOldDebugLogs(em: Em): Promise<boolean> {
  const old = db(em)
    .selectFrom('run_debug_logs')
    .where('createdAt', '<', oldest())
    .limit(removedAtOnce)
    .select('attemptId');
  const { numDeletedRows } = await db(em).deleteFrom('run_debug_logs').where('attemptId', 'in', old).executeTakeFirst();
  return Number(numDeletedRows) === removedAtOnce;
}

/** The debug logs of a run, newest first, without their texts. */
export function listDebugLogs(em: Em, runId: string, page: PageRequest) {
  const query = selectDebugLogs(em, runId).select(['attemptId as id', 'phase', 'level', 'bytes']);
  return pageOf(query.select('createdAt'), 'attemptId', page);
}

function selectDebugLogs(em: Em, runId: string) {
  return db(em).selectFrom('run_debug_logs').where('runId', '=', runId).where('createdAt', '>=', oldest());
}

/** The texts of the debug logs of a run, oldest first. */
export async function* readDebugLogs(em: Em, keyRing: KeyRing, runId: string): AsyncGenerator<Buffer> {
  const logs = await selectDebugLogs(em, runId).orderBy('attemptId').select('attemptId').execute();
  for (const { attemptId } of logs) {
    const row = await db(em)
      .selectFrom('run_debug_logs')
      .where('attemptId', '=', attemptId)
      .select('content')
      .executeTakeFirst();
    if (row) yield keyRing.open(debugLogContext(attemptId), row.content);
  }
}
