import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';
import type { NewPool, PoolChange } from '#domain/workers/pools/changes.ts';
import { defaultEgress, EgressList, egressPolicies, findListProblem } from '#domain/workers/pools/egress.ts';
import { PoolName } from '#domain/workers/pools/model.ts';

/** The bodies of requests about worker pools (api.md of the design, *Workers*). */

const Ids = z
  .array(Id)
  .max(1000)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not name an id twice' })
  .nullable();
const TeamIds = Ids.describe('The teams that may use the pool; null: all, an empty list: none.');
const EnvironmentIds = Ids.describe('The environments that may use the pool; null: all, an empty list: none.');
const Isolation = DemandedIsolation.describe('What a worker must have to execute runs of the pool; null: nothing.');
const egressMeaning = 'What template code may reach; null: the default, the policy "internet" with an empty list.';

const Egress = z
  .strictObject({ policy: z.enum(egressPolicies), allow: EgressList.default([]) })
  .superRefine((egress, context) => {
    const problem = findListProblem(egress);
    if (problem) context.addIssue({ code: 'custom', path: ['allow'], message: problem });
  });

export const CreatePool = z
  .strictObject({
    name: PoolName,
    team_ids: TeamIds.default(null),
    environment_ids: EnvironmentIds.default(null),
    isolation: Isolation.default(null),
    egress: Egress.nullable().default(null).describe(egressMeaning),
  })
  .meta({ id: 'CreateWorkerPool' });

export function toNewPool({
  name,
  team_ids,
  environment_ids,
  isolation,
  egress,
}: z.output<typeof CreatePool>): NewPool {
  return { name, teamIds: team_ids, environmentIds: environment_ids, isolation, egress: egress ?? defaultEgress };
}

/** Sending only the policy keeps the list, and the reverse. The merged rule is then validated. */
const EgressChange = z.strictObject({ policy: z.enum(egressPolicies).optional(), allow: EgressList.optional() });

export const UpdatePool = z
  .strictObject({
    team_ids: TeamIds.optional(),
    environment_ids: EnvironmentIds.optional(),
    isolation: Isolation.optional(),
    egress: EgressChange.nullable().optional().describe(egressMeaning),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateWorkerPool' });

export function toPoolChange(body: z.output<typeof UpdatePool>): PoolChange {
  const { team_ids, environment_ids, expected_revision, ...rest } = body;
  return { ...rest, teamIds: team_ids, environmentIds: environment_ids, expectedRevision: expected_revision };
}
