import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeptModules } from './model.ts';

/** The version, the tool and the environment for which modules are kept. */
interface ModulesPlace {
  readonly versionId: string;
  /** The kind of tool, such as `opentofu`. */
  readonly tool: string;
  /** Null: the modules are for all runs of the version. */
  readonly environmentId: string | null;
}

/** The conditions under which a worker fetched modules. */
interface Fetched {
  /** The environment whose connections it had; null: none. */
  readonly fetchedFor: string | null;
  /** When the worker received these connections. */
  readonly since: Date | string;
}

/**
 * The modules and lock files that the runs of a version in an environment use: those of the environment, else those of all runs. Null if
 * none are known. After a transfer their files are left out, so that a run must fetch them itself, and gets either the same files or none.
 */
export async function findKeptModules(
  em: Em,
  { versionId, tool, environmentId }: ModulesPlace,
): Promise<KeptModules | null> {
  const [found, ofAll] = await db(em)
    .selectFrom('template_version_modules')
    .where('templateVersionId', '=', versionId)
    .where('tool', '=', tool)
    .where((eb) => eb.or([eb('environmentId', 'is', null), eb('environmentId', '=', environmentId)]))
    .select(['digest', 'list', 'content', 'locks', 'voidSince'])
    .orderBy(sql`environment_id is null`)
    .execute();
  if (!found) return null;
  const { digest, list, content, voidSince } = found;
  const locks = { ...ofAll?.locks, ...found.locks };
  return { digest, list, content: voidSince === null && content ? Buffer.from(content) : null, locks };
}

/**
 * Keeps modules and lock files. Known ones stay, so that a version never changes what it uses. Files that a transfer has voided count again
 * after a run has fetched them again. What was fetched for earlier owners is not kept.
 */
export async function keepModules(
  em: Em,
  { versionId, tool, environmentId }: ModulesPlace,
  { fetchedFor, since }: Fetched,
  { digest, list, content, locks }: KeptModules,
): Promise<void> {
  if (await haveOwnersChanged(em, { versionId, environmentId: fetchedFor }, since)) return;
  await db(em)
    .insertInto('template_version_modules')
    .values({
      id: newId(),
      templateVersionId: versionId,
      environmentId,
      tool,
      digest,
      list: json([...list]),
      content,
      locks: json({ ...locks }),
      createdAt: new Date(),
    })
    .onConflict((conflict) => {
      const isSame = sql<boolean>`template_version_modules.list = ${JSON.stringify(list)}::jsonb`;
      const countsAgain = sql<boolean>`template_version_modules.void_since is not null and ${isSame}`;
      return conflict.columns(['templateVersionId', 'tool', 'environmentId']).doUpdateSet({
        content: sql`case when ${countsAgain} then excluded.content else template_version_modules.content end`,
        voidSince: sql`case when ${countsAgain} then null else template_version_modules.void_since end`,
        locks: sql`case when ${isSame} then excluded.locks else '{}' end || template_version_modules.locks`,
      });
    })
    .execute();
}

/** Whether the template, the environment or one of their owners was transferred after a time. */
async function haveOwnersChanged(
  em: Em,
  { versionId, environmentId }: Omit<ModulesPlace, 'tool'>,
  since: Date | string,
): Promise<boolean> {
  const things = db(em)
    .selectFrom('template_versions as v')
    .innerJoin('templates as t', 't.id', 'v.templateId')
    .leftJoin('environments as e', (join) => join.on('e.id', '=', environmentId))
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .where('v.id', '=', versionId);
  const ended = await db(em)
    .selectFrom('ended_eligibilities as x')
    .where((eb) => {
      const isOwner = (['t.teamId', 'e.id', 'p.id', 'p.teamId'] as const).map((owner) =>
        eb('x.thingId', 'in', things.select(sql<string>`${sql.ref(owner)}`.as('id'))),
      );
      return eb.or(isOwner);
    })
    .where('x.endedAt', '>=', new Date(since).toISOString())
    .select('x.thingId')
    .limit(1)
    .executeTakeFirst();
  return ended !== undefined;
}

/** The team of a version's template; null: it belongs to the installation. */
export async function findTeamOfVersion(em: Em, versionId: string): Promise<string | null> {
  const found = await db(em)
    .selectFrom('template_versions as v')
    .innerJoin('templates as t', 't.id', 'v.templateId')
    .where('v.id', '=', versionId)
    .select('t.teamId')
    .executeTakeFirst();
  return found?.teamId ?? null;
}
