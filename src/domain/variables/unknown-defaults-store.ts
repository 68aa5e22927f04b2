import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';

/**
 * Which of these names no template has as a variable that can run where the owner's defaults reach: a default of such a name does nothing. A template of the
 * installation and of the team counts, or without a team, of every team of the organization, with any version that was not yanked.
 */
export async function findUnknownDefaults(
  em: Em,
  { teamId, organizationId }: Pick<Ownership, 'teamId' | 'organizationId'>,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${[...names]}::text[]) with ordinality as wanted (name, place)
    where not exists (
      select from templates t join template_versions v on v.template_id = t.id
      where (t.team_id is null or t.team_id = ${teamId}
          or (${teamId}::uuid is null and t.team_id in (select id from teams where organization_id = ${organizationId})))
        and t.deleted_at is null and t.archived_at is null and v.yanked_at is null
        and v.spec -> 'variables' -> 'properties' ? wanted.name
    )
    order by wanted.place`.execute(db(em));
  return rows.map(({ name }) => name);
}
