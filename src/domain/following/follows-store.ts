import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { lostAuthorities, selectLostAuthority } from '#domain/identity/stored-authority.ts';
import { lockInstance } from '#domain/instances/store.ts';
import type { findReadingDeployment } from '#domain/runs/references/dependents-store.ts';
import { isReader } from '#domain/runs/references/model.ts';
import { findReadingPlace } from '#domain/runs/references/recheck.ts';
import { findSourcesById } from '#domain/runs/references/sources-store.ts';
import { type Grant, isInForce } from '#domain/shared/access/grant.ts';
import { type FollowFailure, type FollowReason, maxChain, stops } from './model.ts';

function selectFollows(em: Em, instanceIds: readonly string[]) {
  return db(em)
    .selectFrom('instance_follows as f')
    .innerJoin('instances as i', 'i.id', 'f.instanceId')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .where('f.instanceId', '=', (eb) => eb.fn.any(eb.val(instanceIds)))
    .where('i.deletedAt', 'is', null)
    .select([
      'f.instanceId',
      'f.authorityId',
      'f.authorityType',
      'f.authorityName',
      'f.credentialId',
      'f.responsibleUserId',
      'f.savedForTeamId',
      'f.savedForOrganizationId',
      'f.savedAt',
      'f.voidSince',
      'f.seen',
      'f.failure',
      'i.name',
      'i.teamId',
      't.organizationId',
      'i.environmentId',
      't.name as team',
      'p.name as project',
      'e.name as environment',
      'i.deployedRunId',
      'i.stateSerial',
    ])
    .select((eb) =>
      selectLostAuthority(
        { authorityId: eb.ref('f.authorityId'), credentialId: eb.ref('f.credentialId') },
        lostAuthorities,
      ).as('lost'),
    );
}

export type Follow = NonNullable<Awaited<ReturnType<typeof findFollow>>>;

/** The grant by which its owners let an instance follow. */
export function grantOf({ savedForTeamId, savedForOrganizationId, voidSince }: Follow): Grant {
  return { savedFor: { teamId: savedForTeamId, organizationId: savedForOrganizationId }, voidSince };
}

/** Why the authority under which an instance follows is no longer valid; null: it is valid. */
export function lostReason(follow: Follow): FollowReason | null {
  return isInForce(grantOf(follow), follow) ? follow.lost : 'owner_changed';
}

/** Why an instance has stopped following until somebody saves the setting again; null: it follows. */
export function stopReason(follow: Follow): FollowReason | null {
  const { failure } = follow;
  return failure && stops(failure) ? failure.reason : lostReason(follow);
}

/** The follow setting of an instance, with the present instance; undefined: it does not follow. */
export function findFollow(em: Em, instanceId: string) {
  return selectFollows(em, [instanceId]).executeTakeFirst();
}

/** The follow settings of those instances that follow, by their ids. */
export async function findFollows(em: Em, instanceIds: readonly string[]): Promise<ReadonlyMap<string, Follow>> {
  if (instanceIds.length === 0) return new Map();
  const follows = await selectFollows(em, instanceIds).execute();
  return new Map(follows.map((each) => [each.instanceId, each]));
}

/**
 * Locks an instance and its follow setting until the commit, so that its owners do not change; returns the present setting. Undefined if,
 * since it was read, somebody has saved it, a transfer has ended it, or it has followed a newer state.
 */
export async function lockUnchanged(em: Em, read: Follow): Promise<Follow | undefined> {
  await lockInstance(em, read.instanceId);
  const now = await selectFollows(em, [read.instanceId]).forUpdate('f').executeTakeFirst();
  const isSame = now?.seen === read.seen && now.savedAt === read.savedAt && now.voidSince === read.voidSince;
  return isSame ? now : undefined;
}

/**
 * A finished run whose outputs may have changed, with its instance. `isFollowed`: it succeeded. A failed run may have changed some outputs,
 * so dependents are only marked and start no runs. Scans are not followed.
 */
export async function findEndedRun(em: Em, runId: string) {
  const run = await db(em)
    .selectFrom('runs')
    .where('id', '=', runId)
    .where('operation', '<>', 'scan')
    .select(['instanceId', 'operation', 'status', 'stateSerialAfter'])
    .executeTakeFirst();
  if (!run) return undefined;
  const isFollowed = run.status === 'succeeded' && run.operation !== 'plan';
  return { instanceId: run.instanceId, isFollowed, hasChanged: isFollowed || run.stateSerialAfter !== null };
}

/** Whether a run of the instance, other than a scan, has not ended. */
export async function isBusy(em: Em, instanceId: string): Promise<boolean> {
  const row = await db(em)
    .selectFrom('runs')
    .where('instanceId', '=', instanceId)
    .where('operation', '<>', 'scan')
    .where('finishedAt', 'is', null)
    .select('id')
    .executeTakeFirst();
  return row !== undefined;
}

export interface SeenSource {
  readonly id: string;
  readonly deployedRunId: string | null;
}

type Deployment = NonNullable<Awaited<ReturnType<typeof findReadingDeployment>>>;

/** The deployments and states of the sources of an instance, and which of them may no longer be read, as one text for comparison. */
export async function readSeen(
  em: Em,
  instanceId: string,
  deployed: Deployment | undefined,
): Promise<{ readonly seen: string; readonly sources: readonly SeenSource[] }> {
  if (!deployed?.reads) return { seen: JSON.stringify([]), sources: [] };
  const ids = [...new Set(deployed.reads.map((read) => read.instanceId))].filter((id) => id !== instanceId);
  const place = await findReadingPlace(em, deployed);
  const sources = await findSourcesById(em, ids, false);
  const seen = sources.map((each) => {
    const now = [each.id, each.deployedRunId, each.stateSerial];
    return isReader(each, place) && !each.isDestroyed ? now : [...now, 'ended'];
  });
  return { seen: JSON.stringify(seen), sources };
}

/** The chain of runs that led to these runs: their instances, and how many runs followed one another. */
export async function readChain(
  em: Em,
  runIds: readonly string[],
): Promise<{ readonly instances: ReadonlySet<string>; readonly length: number }> {
  const chain = await db(em)
    .withRecursive('chain', (queries) =>
      queries
        .selectFrom('runs')
        .where('id', '=', (eb) => eb.fn.any(eb.val(runIds)))
        .select(['instanceId', 'startedByRunId', sql<number>`1`.as('depth')])
        .unionAll(
          queries
            .selectFrom('chain')
            .innerJoin('runs as r', 'r.id', 'chain.startedByRunId')
            .where('chain.depth', '<=', maxChain)
            .select(['r.instanceId', 'r.startedByRunId', sql<number>`chain.depth + 1`.as('depth')]),
        ),
    )
    .selectFrom('chain')
    .select(['instanceId', 'depth'])
    .execute();
  return {
    instances: new Set(chain.map(({ instanceId }) => instanceId)),
    length: Math.max(0, ...chain.map(({ depth }) => depth)),
  };
}

/** Records the state that was processed. The caller has locked the row, or changes it only if it has not changed since it was read. */
export async function noteSeen(
  em: Em,
  { instanceId, seen }: Pick<Follow, 'instanceId' | 'seen'>,
  { seen: now, failure }: { readonly seen: string; readonly failure?: FollowFailure | null },
): Promise<void> {
  await db(em)
    .updateTable('instance_follows')
    .where('instanceId', '=', instanceId)
    .where('seen', '=', seen)
    .set({ seen: now, ...(failure !== undefined && { failure: failure && JSON.stringify(failure) }) })
    .execute();
}
