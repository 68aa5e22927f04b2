import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { describePartial } from '#domain/runs/options/model.ts';
import { inPlace } from './place-words.ts';

/** The facts about a run for notifications. */
export type RunFacts = NonNullable<Awaited<ReturnType<typeof findRun>>>;

export function findRun(em: Em, id: string) {
  return db(em)
    .selectFrom('runs as r')
    .leftJoin('environments as e', 'e.id', 'r.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as t', (join) => join.on((eb) => eb('t.id', '=', eb.fn.coalesce('p.teamId', 'r.teamId'))))
    .where('r.id', '=', id)
    .select(['r.instance', 'r.operation', 'r.message', 'r.statusDetail', 'r.options'])
    .select(['r.instanceId', 'r.startedByRunId', 'r.assemblyRunId'])
    .select(['e.name as environment', 'p.name as project', 't.name as team'])
    .select(['r.requestedById', 'r.requestedByType'])
    .select(['r.requestedByName', 'r.responsibleUserId'])
    .executeTakeFirst();
}

/** The reviewer who rejected the plan of a run, and their comment; undefined if nobody did. */
export function findRejection(em: Em, runId: string) {
  return db(em)
    .selectFrom('run_reviews as v')
    .where('v.runId', '=', runId)
    .where('v.decision', '=', 'reject')
    .orderBy('v.id', 'desc')
    .select(['v.reviewerName as by', 'v.comment'])
    .executeTakeFirst();
}

/** The instance of a run with its place, such as "network in Core / Backbone / Production". */
export function placeOfRun(run: RunFacts): string {
  return inPlace(String(run.instance), run);
}

/** The name of a run: its operation and place, such as "destroy run of network in Core / Backbone / Production". */
export function nameRun(run: RunFacts): string {
  return `${run.operation} run of ${placeOfRun(run)}`;
}

/** The maximum length of a message that a title quotes. */
const maxQuoted = 80;

/** The end of a title that quotes the message of a run; empty if it has none. */
export function quoteMessage({ message }: RunFacts): string {
  const [line = ''] = message.trim().split('\n');
  const characters = [...line];
  const quoted = characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join('')}…` : line;
  return quoted === '' ? '' : `: “${quoted}”`;
}

/** Why a run failed, its operation and place, its requester, and its message. */
export function factsOfRun(run: RunFacts): string[] {
  const { operation, instance, team, project, environment, requestedByName, message } = run;
  const inTeam = team === null ? '' : ` of the team ${team}`;
  const place =
    environment === null
      ? `outside any environment${inTeam}`
      : `in the environment ${environment} of the project ${project}${inTeam}`;
  const asked = `${requestedByName} requested the operation ${operation} of the instance ${instance} ${place}.`;
  const failed = run.statusDetail === null ? [] : [`What failed: ${describeDetail(run.statusDetail)}`];
  const partial = describePartial(run.options);
  return [
    ...failed,
    asked,
    ...(partial === null ? [] : [partial]),
    ...(message ? [`Message of the run: ${message}`] : []),
  ];
}
