import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/**
 * Which of these names no template has as a variable that can run in an environment of a team: a default of such a name does nothing. A template of the team
 * or of the installation counts, with any version that was not yanked.
 */
export async function findUnknownDefaults(em: Em, teamId: string | null, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${[...names]}::text[]) with ordinality as wanted (name, place)
    where not exists (
      select from templates t join template_versions v on v.template_id = t.id
      where (t.team_id is null or t.team_id = ${teamId}) and t.deleted_at is null and t.archived_at is null and v.yanked_at is null
        and v.spec -> 'variables' -> 'properties' ? wanted.name
    )
    order by wanted.place`.execute(db(em));
  return rows.map(({ name }) => name);
}
