import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { PoolName } from '#domain/shared/vocabulary/pools.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';
import type { NewPool, PoolChange } from '#domain/workers/pools/changes.ts';
import { defaultEgress, EgressList, egressPolicies, findListProblem } from '#domain/workers/pools/egress.ts';
import { defaultShares } from '#domain/workers/pools/model.ts';

/** The bodies of requests about worker pools (docs/operating.md, *Workers and pools*). */

const Ids = z
  .array(Id)
  .max(1000)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not name an id twice' })
  .nullable();
const TeamIds = Ids.describe('The teams that may use the pool; null: all, an empty list: none.');
const EnvironmentIds = Ids.describe('The environments that may use the pool; null: all, an empty list: none.');
const Isolation = DemandedIsolation.describe('What a worker must have to execute runs of the pool; null: nothing.');
const Percent = z.int().min(1).max(100);
const TeamPercent = Percent.describe(
  'The percentage of its slots that one team may hold, at least one slot, where several teams may use the pool; 100: all.',
);
const PersonPercent = Percent.describe(
  'The same for one person, while more than one person asks. Service accounts count for the person responsible for them.',
);
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
    max_team_percent: TeamPercent.default(defaultShares.maxTeamPercent),
    max_person_percent: PersonPercent.default(defaultShares.maxPersonPercent),
  })
  .meta({ id: 'CreateWorkerPool' });

export function toNewPool({
  name,
  team_ids,
  environment_ids,
  isolation,
  egress,
  max_team_percent,
  max_person_percent,
}: z.output<typeof CreatePool>): NewPool {
  return {
    name,
    teamIds: team_ids,
    environmentIds: environment_ids,
    isolation,
    egress: egress ?? defaultEgress,
    maxTeamPercent: max_team_percent,
    maxPersonPercent: max_person_percent,
  };
}

/** A change of only the policy keeps the list, and the reverse. The merged rule is then validated. */
const EgressChange = z.strictObject({ policy: z.enum(egressPolicies).optional(), allow: EgressList.optional() });

export const UpdatePool = z
  .strictObject({
    team_ids: TeamIds.optional(),
    environment_ids: EnvironmentIds.optional(),
    isolation: Isolation.optional(),
    egress: EgressChange.nullable().optional().describe(egressMeaning),
    max_team_percent: TeamPercent.optional(),
    max_person_percent: PersonPercent.optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateWorkerPool' });

export function toPoolChange(body: z.output<typeof UpdatePool>): PoolChange {
  const { team_ids, environment_ids, expected_revision, max_team_percent, max_person_percent, ...rest } = body;
  return {
    ...rest,
    teamIds: team_ids,
    environmentIds: environment_ids,
    maxTeamPercent: max_team_percent,
    maxPersonPercent: max_person_percent,
    expectedRevision: expected_revision,
  };
}
