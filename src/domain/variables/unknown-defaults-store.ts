import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Ownership, readableTeams } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/**
 * Returns the names that are a variable of no template that could get these defaults, so that a default of such a name has no effect.
 * Templates of the installation and of the team count; without a team, those of all teams of the organization. All versions count that were
 * not yanked. The result is empty for a reader who may not read all of these teams, because it would reveal variables of templates that the
 * reader may not read.
 */
export async function findUnknownDefaults(
  em: Em,
  reader: Principal,
  { teamId, organizationId }: Pick<Ownership, 'teamId' | 'organizationId'>,
  names: readonly string[],
): Promise<string[]> {
  const readable = readableTeams(reader);
  const hidesTeams = teamId === null && organizationId !== null && readable !== 'all';
  if (names.length === 0 || (hidesTeams && !readable.organizations.includes(organizationId))) return [];
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
