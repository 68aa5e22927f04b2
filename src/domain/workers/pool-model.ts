import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { DemandedIsolation, EgressList, egressPolicies, findMismatch } from './model.ts';

/** What clients say about worker pools (api.md of the design, *Workers*). */

export const PoolName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'expected 1-63 lowercase letters, digits and ". _ -", such as "default"',
});

const Ids = z
  .array(Id)
  .max(1000)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not name an id twice' })
  .nullable();
const TeamIds = Ids.describe('The teams that may use the pool; null: all.');
const EnvironmentIds = Ids.describe('The environments that may use the pool; null: all.');
const Isolation = DemandedIsolation.describe('What a worker must have to execute runs of the pool; null: nothing.');
const egressMeaning = 'What template code may reach; null: the default, the policy "internet" with an empty list.';

const Egress = z
  .strictObject({ policy: z.enum(egressPolicies), allow: EgressList.default([]) })
  .superRefine((egress, context) => {
    const problem = findMismatch(egress);
    if (problem) context.addIssue({ code: 'custom', path: ['allow'], message: problem });
  });

export const CreatePool = z.strictObject({
  name: PoolName,
  team_ids: TeamIds.default(null),
  environment_ids: EnvironmentIds.default(null),
  isolation: Isolation.default(null),
  egress: Egress.nullable().default(null).describe(egressMeaning),
});
export type CreatePool = z.output<typeof CreatePool>;

/** A policy keeps the list that is there, and a list the policy; whether they fit is judged together. */
const EgressChange = z.strictObject({ policy: z.enum(egressPolicies).optional(), allow: EgressList.optional() });

export const UpdatePool = z.strictObject({
  team_ids: TeamIds.optional(),
  environment_ids: EnvironmentIds.optional(),
  isolation: Isolation.optional(),
  egress: EgressChange.nullable().optional().describe(egressMeaning),
  ...ExpectedRevision,
});
export type UpdatePool = z.output<typeof UpdatePool>;
