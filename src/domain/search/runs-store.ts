import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { instanceCandidates } from '#domain/instances/candidates-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { isId } from '#domain/shared/ids.ts';
import { hasPiece, hasText, pieceOfId } from '#domain/shared/naming/name-match.ts';
import type { Finder } from './finder.ts';
import { containsText, hasWords, maxWithWords } from './word-match-store.ts';

type Runs = Over<{ runs: 'runs' }>;

/**
 * Runs by their id, the piece of it that pages show or their idempotency key, then by the name of their instance or the words of their
 * message: the newest first.
 */
export const findRuns: Finder = async (em, principal, text, max) => {
  const id = text.toLowerCase();
  const piece = pieceOfId(text);
  if (isId(id))
    return selectRuns(em, principal, max, (eb) => eb.or([eb('runs.id', '=', id), eb('runs.idempotencyKey', '=', id)]));
  const byId = piece === null ? [] : await selectRuns(em, principal, max, (eb) => hasRunPiece(eb, piece));
  const hasItsWords = (eb: Runs) =>
    eb.and([
      eb('runs.message', '<>', ''),
      // The record of a deleted run remains, but lists leave it out.
      eb('runs.deletedAt', 'is', null),
      hasWords(principal, { text: eb.ref('runs.message'), team: eb.ref('runs.teamId') }, text),
    ]);
  const byMessage = await selectRuns(em, principal, max, hasItsWords, text);
  const byInstance = await findRunsOfInstances(em, principal, text, max);
  const newest = [...byInstance, ...byMessage].sort((one, other) => (one.id < other.id ? 1 : -1));
  return [...new Map([...byId, ...newest].map((run) => [run.id, run])).values()].slice(0, max);
};

/** The maximum number of instances of a name whose runs are searched. */
const maxInstances = 200;

/**
 * The newest runs of the instances that have a text in their names. Scans are left out, as lists do. Each instance takes a few entries of
 * an index.
 */
function findRunsOfInstances(em: Em, principal: Principal, text: string, max: number) {
  const named = db(em)
    .selectFrom(instanceCandidates(em, principal))
    .where((eb) => hasText(eb.ref('x.name'), text.toLowerCase(), 'part'))
    .select(['x.id', 'x.name'])
    .orderBy((eb) => sql`not starts_with(lower(${eb.ref('x.name')}), ${text.toLowerCase()})`)
    .orderBy('x.name')
    .limit(maxInstances);
  return db(em)
    .selectFrom(named.as('i'))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('runs')
          .whereRef('runs.instanceId', '=', 'i.id')
          .where('runs.operation', '<>', 'scan')
          .where('runs.deletedAt', 'is', null)
          .where((of) => isInReadableTeam(principal, of.ref('runs.teamId'), 'visible'))
          .select(['runs.id', 'runs.status', 'runs.statusReason', 'runs.waitingOn', 'runs.message'])
          .orderBy('runs.instancePosition', 'desc')
          .limit(max)
          .as('w'),
      (join) => join.onTrue(),
    )
    .select(shownColumns)
    .orderBy('w.id', 'desc')
    .limit(max)
    .execute();
}

const shownColumns = [
  'w.id',
  'i.name',
  'w.status as context',
  sql<string | null>`null::uuid`.as('parentId'),
  'w.message as excerpt',
  'w.statusReason',
  'w.waitingOn',
] as const;

/** @param message the text that the messages must contain; any by default */
function selectRuns(
  em: Em,
  principal: Principal,
  max: number,
  isWanted: (eb: Runs) => Expression<SqlBool>,
  message = '',
) {
  // The limit keeps PostgreSQL from scanning all runs in the order of the result.
  const wanted = db(em)
    .selectFrom('runs')
    .where(isWanted)
    .where((eb) => isInReadableTeam(principal, eb.ref('runs.teamId'), 'visible'))
    .select(['runs.id', 'runs.instanceId', 'runs.status', 'runs.statusReason', 'runs.waitingOn', 'runs.message'])
    .limit(maxWithWords);
  return db(em)
    .selectFrom(wanted.as('w'))
    .innerJoin('instances as i', 'i.id', 'w.instanceId')
    .where((eb) => (message === '' ? eb.lit(true) : containsText(eb.ref('w.message'), message)))
    .select(shownColumns)
    .orderBy('w.id', 'desc')
    .limit(max)
    .execute();
}

/** The condition that a run's id begins or ends with a piece. There may be a million runs, so there is an index for both. */
function hasRunPiece(eb: Runs, piece: string): Expression<SqlBool> {
  const digits = piece.replaceAll('-', '').slice(0, 32);
  const id = eb.ref('runs.id');
  const begins = sql<SqlBool>`${id} between ${digits.padEnd(32, '0')}::uuid and ${digits.padEnd(32, 'f')}::uuid`;
  const end = [...piece.slice(-12)].reverse().join('');
  const ends = sql<SqlBool>`reverse(right(${id}::text, 12)) like ${`${end}%`}`;
  return eb.and([eb.or([begins, ends]), hasPiece(id, piece)]);
}
