import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { readableTeams } from './decide.ts';
import type { Principal } from './principal.ts';

/**
 * The condition of a list that a principal may read what belongs to the team in `team`, as in `.where((eb) => isInReadableTeam(principal,
 * eb.ref('i.team_id'), 'visible'))`. Put it into the query of the list, so that a page contains only what the principal may read.
 * `unscoped` says whether the list contains rows without a team.
 */
export function isInReadableTeam(
  principal: Principal,
  team: Expression<string | null>,
  unscoped: 'visible' | 'hidden',
): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const readable = readableTeams(principal);
  if (readable === 'all') return eb.lit(true);
  const { teams, organizations } = readable;
  const isMember = eb(team, '=', eb.fn.any(eb.val(teams)));
  const isAdministered = eb(team, 'in', (of) =>
    of
      .selectFrom('teams as readable')
      .where('readable.organizationId', '=', of.fn.any(of.val(organizations)))
      .select('readable.id'),
  );
  const conditions = unscoped === 'visible' ? [eb(team, 'is', null)] : [];
  return eb.or([...conditions, isMember, isAdministered]);
}

/** The condition that the team in `team` belongs to an organization. */
export function isTeamOf(organizationId: string, team: Expression<string | null>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  return eb(team, 'in', (of) =>
    of.selectFrom('teams as member').where('member.organizationId', '=', organizationId).select('member.id'),
  );
}
