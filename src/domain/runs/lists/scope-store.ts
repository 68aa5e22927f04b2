import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { RunScope } from './scope.ts';

/**
 * A part of a scope whose runs one index holds in order: those of one team (null: of no team), those of each of several teams,
 * or all runs of the installation.
 */
export type ScopePart =
  | { readonly kind: 'team'; readonly teamId: string | null }
  | { readonly kind: 'teams'; readonly teamCondition: Expression<SqlBool> }
  | { readonly kind: 'all' };

/** The parts of a scope that a principal may read. */
export function partsOf(scope: RunScope, principal: Principal): ScopePart[] {
  if (scope.kind === 'team') return [scope];
  const eb: Over<{ t: 'teams' }> = expressionBuilder<Tables & { t: Tables['teams'] }, 't'>();
  const isReadable = isInReadableTeam(principal, eb.ref('t.id'), 'hidden');
  if (scope.kind === 'organization')
    return [{ kind: 'teams', teamCondition: eb.and([eb('t.organizationId', '=', scope.organizationId), isReadable]) }];
  if (isPlatformAdministrator(principal)) return [{ kind: 'all' }];
  return [
    { kind: 'team', teamId: null },
    { kind: 'teams', teamCondition: isReadable },
  ];
}

/** As `partsOf`, but always split by team, for an index that begins with the team. */
export function partsByTeam(scope: RunScope, principal: Principal): ScopePart[] {
  const everyTeam = { kind: 'teams', teamCondition: expressionBuilder<Tables>().lit(true) } as const;
  return partsOf(scope, principal).flatMap((part) =>
    part.kind === 'all' ? [{ kind: 'team', teamId: null } as const, everyTeam] : [part],
  );
}

/** The teams of a part, as `team`: one row for each, or a single row without a team. */
export function selectTeams(em: Em, part: ScopePart) {
  if (part.kind !== 'teams') return db(em).selectNoFrom(sql<string | null>`null::uuid`.as('team'));
  return db(em)
    .selectFrom('teams as t')
    .where(part.teamCondition)
    .select((eb) => eb.ref('t.id').$castTo<string | null>().as('team'));
}

/** The condition that a run belongs to the team of a part, which may be no team. */
export function isOfTeam(part: ScopePart): Expression<SqlBool> {
  const team = sql.ref('runs.teamId');
  return part.kind === 'team' && part.teamId !== null
    ? sql<SqlBool>`${team} = ${part.teamId}`
    : sql<SqlBool>`${team} is null`;
}

/** The condition that a run belongs to a part. */
export function isInPart(em: Em, part: ScopePart): Expression<SqlBool> {
  if (part.kind === 'team') return isOfTeam(part);
  const run = expressionBuilder<Tables, 'runs'>();
  return part.kind === 'all' ? run.lit(true) : run('runs.teamId', 'in', selectTeams(em, part));
}
