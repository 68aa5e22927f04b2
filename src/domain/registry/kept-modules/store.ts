import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeptModules } from './model.ts';

/** Whose modules they are. */
interface ModulesPlace {
  readonly versionId: string;
  /** The kind of tool, such as `opentofu`. */
  readonly tool: string;
  /** Null: those of all runs of the version. */
  readonly environmentId: string | null;
}

/** The modules that the runs of a version in an environment use: those of the environment, else those of all runs. Null if nothing is known. */
export async function findKeptModules(
  em: Em,
  { versionId, tool, environmentId }: ModulesPlace,
): Promise<KeptModules | null> {
  const found = await db(em)
    .selectFrom('template_version_modules')
    .where('template_version_id', '=', versionId)
    .where('tool', '=', tool)
    .where((eb) => eb.or([eb('environment_id', 'is', null), eb('environment_id', '=', environmentId)]))
    .select(['digest', 'list', 'content'])
    .orderBy(sql`environment_id is null`)
    .limit(1)
    .executeTakeFirst();
  return found ? { ...found, content: found.content && Buffer.from(found.content) } : null;
}

/** Keeps modules. What is known already stays, so that a version never changes its modules. */
export async function keepModules(
  em: Em,
  { versionId, tool, environmentId }: ModulesPlace,
  { digest, list, content }: KeptModules,
): Promise<void> {
  await db(em)
    .insertInto('template_version_modules')
    .values({
      id: newId(),
      template_version_id: versionId,
      environment_id: environmentId,
      tool,
      digest,
      list: json([...list]),
      content,
      created_at: new Date(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The team of a version's template; null: it belongs to the installation. */
export async function findTeamOfVersion(em: Em, versionId: string): Promise<string | null> {
  const found = await db(em)
    .selectFrom('template_versions as v')
    .innerJoin('templates as t', 't.id', 'v.template_id')
    .where('v.id', '=', versionId)
    .select('t.team_id as teamId')
    .executeTakeFirst();
  return found?.teamId ?? null;
}
