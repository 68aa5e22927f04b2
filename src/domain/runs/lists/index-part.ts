import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type IdRange, type IndexGroup, inIndexGroup, orderOfGroup } from '#domain/shared/index-range.ts';
import { afterId, type PageRequest } from '#domain/shared/paging.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { OverRun } from '../details-store.ts';
import { idRangeOf, statusConditions } from './conditions.ts';
import type { RunFilter } from './filter.ts';
import { isOfTeam, type ScopePart } from './scope-store.ts';

/** Which part of an index a list reads, and the order that makes PostgreSQL read this one. */
export interface IndexPart {
  readonly conditions: readonly Expression<SqlBool>[];
  readonly order: RawBuilder<unknown>;
}

/** The runs of one team of a part of the scope (`owner.team`), of one status if `status` is set, newest first. */
export function indexPartOf(run: OverRun, part: ScopePart, status: RunStatus | null, ids: IdRange): IndexPart {
  const ofStatus = status === null ? [] : statusConditions(run, status);
  const newestFirst = sql`${sql.ref('runs.id')} desc`;
  if (part.kind === 'all') return { conditions: [...inRange(run, ids), ...ofStatus], order: newestFirst };
  const team = teamOf(part);
  if (team === null || (status !== null && !isTerminal(status)))
    // The unfinished runs of the whole installation are few.
    return { conditions: [...inRange(run, ids), ...ofStatus, isIn(run, part)], order: newestFirst };
  const group = groupOf(team, status);
  const isFinished = status === null ? [] : [run('runs.finishedAt', 'is not', null)];
  return { conditions: [inIndexGroup(group, ids), ...isFinished], order: orderOfGroup(group) };
}

/** The ids of a page: those of the period after the previous page. */
export function idsOf(filter: RunFilter, page: PageRequest): IdRange {
  const { from, before } = idRangeOf(filter);
  const ends = [before, afterId(page)].filter((end) => typeof end === 'string');
  return { from, before: ends.sort()[0] };
}

function inRange(run: OverRun, { from, before }: IdRange): Expression<SqlBool>[] {
  return [
    ...(from === undefined ? [] : [run('runs.id', '>=', from)]),
    ...(before === undefined ? [] : [run('runs.id', '<', before)]),
  ];
}

function teamOf(part: ScopePart): Expression<unknown> | null {
  if (part.kind === 'teams') return sql.ref('owner.team');
  return part.kind === 'team' && part.teamId !== null ? sql`${part.teamId}::uuid` : null;
}

function isIn(run: OverRun, part: ScopePart): Expression<SqlBool> {
  return part.kind === 'teams' ? run('runs.teamId', '=', sql.ref<string>('owner.team')) : isOfTeam(part);
}

/** The indexes of all runs by team, and of the finished ones by team and status. */
function groupOf(team: Expression<unknown>, status: RunStatus | null): IndexGroup {
  const id = 'runs.id';
  if (status === null) return { columns: ['runs.teamId'], values: [team], id };
  return { columns: ['runs.teamId', 'runs.status'], values: [team, sql.lit(status)], id };
}
