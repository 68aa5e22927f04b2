import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { takesWork } from '#domain/workers/store.ts';
import type { KeptModules } from '../kept-modules/model.ts';
import { TemplateCheck } from './entity.ts';
import {
  abandonedAfterSeconds,
  type CheckFinding,
  checkGraceSeconds,
  checkLimitSeconds,
  type SandboxCheck,
} from './model.ts';
import type { CheckedModules, ToolModules } from './modules.ts';

/** The result of a check that has ended. */
export interface EndedCheck {
  readonly result: SandboxCheck;
  readonly modules: CheckedModules;
}

/** Locks a check until the commit; null if it was taken over or given up. */
export function lockCheck(em: Em, id: string): Promise<TemplateCheck | null> {
  return lockForChange(em, TemplateCheck, { id });
}

/** The findings of a check that has ended, and the modules that it resolved; undefined while it runs, null if it does not exist. */
export async function readCheckResult(em: Em, id: string): Promise<EndedCheck | null | undefined> {
  const row = await db(em)
    .selectFrom('template_checks')
    .where('id', '=', id)
    .select(['endedAt', 'result', 'environmentId', 'modules'])
    .select(['modulesContent as content', 'otherModules as other', 'otherModulesContent as otherContent'])
    .select(({ fn }) => fn.coalesce('startedAt', 'createdAt').as('startedAt'))
    .executeTakeFirst();
  if (!row) return null;
  if (row.endedAt === null) return undefined;
  const { result, environmentId, modules, content, other, otherContent, startedAt } = row;
  if (result === null) return null;
  const tool = result.tool?.name;
  const resolved = [
    ...(modules !== null && tool !== undefined ? [toModules({ tool, ...modules }, content)] : []),
    ...(other === null ? [] : [toModules(other, otherContent)]),
  ];
  return { result, modules: { resolved, environmentId, startedAt } };
}

function toModules(
  { tool, ...modules }: { readonly tool: string } & Omit<KeptModules, 'content'>,
  content: Uint8Array | null,
): ToolModules {
  // A check of an earlier release has no lock files.
  return { tool, modules: { ...{ locks: {} }, ...modules, content: content && Buffer.from(content) } };
}

/** Removes a check whose request no longer waits, unless a version has taken it over. */
export async function forgetCheck(em: Em, id: string): Promise<void> {
  await db(em).deleteFrom('template_checks').where('id', '=', id).where('versionId', 'is', null).execute();
}

/** Removes abandoned checks that their workflows have not removed, for example because the engine lost them. */
export async function removeAbandonedChecks(em: Em): Promise<void> {
  await db(em)
    .deleteFrom('template_checks')
    .where('versionId', 'is', null)
    .where('createdAt', '<', sql<string>`now() - make_interval(secs => ${sql.lit(10 * abandonedAfterSeconds)})`)
    .execute();
}

/** The live workers of a pool that contain template code, with their tools. */
export function findCheckingWorkers(em: Em, pool: string): Promise<{ id: string; tools: VersionedTool[] }[]> {
  return db(em)
    .selectFrom('workers as w')
    .where((eb) => sql<boolean>`${eb.ref('w.pools')} @> jsonb_build_array(${pool}::text)`)
    .where('w.takesChecks', '=', true)
    .where(takesWork)
    .select(['w.id', 'w.tools'])
    .execute();
}

/** Whether the template of a check is deleted, or its version yanked, so that nobody needs the result any longer. */
export async function isPointless(em: Em, { templateId, versionId = null }: TemplateCheck): Promise<boolean> {
  const row = await db(em)
    .selectFrom('templates as t')
    .leftJoin('template_versions as v', (join) => join.on('v.id', '=', versionId))
    .where('t.id', '=', templateId)
    .where('t.deletedAt', 'is', null)
    .where('v.yankedAt', 'is', null)
    .select('t.id')
    .executeTakeFirst();
  return row === undefined;
}

/**
 * A check that was requested from a worker before this time no longer counts as running: both tools and some overhead would have finished.
 */
const underWay = sql<string>`now() - make_interval(secs => ${sql.lit(3 * (checkLimitSeconds + checkGraceSeconds))})`;

/** Serializes the counting of checks. */
export async function lockCounting(em: Em): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('delivery-coordinator/template-checks', 0))`.execute(db(em));
}

/** How many checks of a holder are running on workers, and how many of its requests wait. The check `except` is not counted. */
export async function countChecks(
  em: Em,
  holder: string,
  except: string | null = null,
): Promise<{ underWay: number; waiting: number }> {
  const row = await db(em)
    .selectFrom('template_checks as c')
    .where('c.endedAt', 'is', null)
    .where((eb) => sql<boolean>`${eb.ref('c.holders')} @> jsonb_build_array(${holder}::text)`)
    .$if(except !== null, (query) => query.where('c.id', '!=', except ?? ''))
    .select((eb) => [
      eb.cast<number>(eb.fn.countAll().filterWhere('c.startedAt', '>', underWay), 'integer').as('underWay'),
      eb.cast<number>(eb.fn.countAll().filterWhere('c.versionId', 'is', null), 'integer').as('waiting'),
    ])
    .executeTakeFirstOrThrow();
  return row;
}

/** The errors that a worker found after a version was published; empty if there are none, or if no worker has checked it yet. */
export async function readLateErrors(
  em: Em,
  { templateId, version }: { readonly templateId: string; readonly version: string },
): Promise<readonly CheckFinding[]> {
  const row = await db(em)
    .selectFrom('template_versions')
    .where('templateId', '=', templateId)
    .where('version', '=', version)
    .where(sql<boolean>`"check" ->> 'state' = 'failed'`)
    .select('check')
    .executeTakeFirst();
  return row?.check?.errors ?? [];
}
