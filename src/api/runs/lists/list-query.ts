import { z } from 'zod';
import { repeated } from '#api/pipeline/schemas.ts';
import { type RunFilter, refuseEmptyPeriod } from '#domain/runs/lists/filter.ts';
import { Id } from '#domain/shared/ids.ts';
import { TimeOrDay } from '#domain/shared/values/times.ts';
import { runOperations, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { waitingCodes } from '#domain/shared/vocabulary/waiting.ts';

/** The query parameters that select runs by their owner. */
export const scopeQuery = {
  team_id: Id.optional(),
  organization_id: Id.optional().describe("The runs of the organization's teams that you may read."),
  environment_id: Id.optional(),
  instance_id: Id.optional(),
  scope: z
    .literal('readable')
    .optional()
    .describe(
      'All runs that you may read: those of your teams, of the organizations that you administer, and those that belong to no ' +
        'team. It changes nothing beside a parameter that names an owner.',
    ),
};

/** The scope of an answer: the most specific parameter that names an owner. */
export const ScopeName = z
  .enum(['unscoped', 'readable', 'organization', 'team', 'environment', 'instance'])
  .describe(
    'Whose runs these are. `unscoped`: no parameter says it, so they are only those that belong to no team; `scope=readable` selects all that you may read. ' +
      '`organization`, `team`, `environment`, `instance`: those of the owner that the parameter of that name selects.',
  );

/** The name of the scope that the query parameters select. */
export function nameScope(query: z.output<z.ZodObject<typeof scopeQuery>>): z.output<typeof ScopeName> {
  const named = (['instance', 'environment', 'team', 'organization'] as const).find(
    (level) => query[`${level}_id`] !== undefined,
  );
  return named ?? query.scope ?? 'unscoped';
}

/** A hint how to get other runs, for a query that names no owner. */
export const ScopeHint = z
  .string()
  .optional()
  .describe('What to send to get other runs than those of no team. Absent: a parameter says whose runs these are.');

/** Tells a client that named no owner how to get the runs of teams. Otherwise, an empty list would look as if there were no runs. */
export function hintOf(query: z.output<z.ZodObject<typeof scopeQuery>>): { readonly hint?: string } {
  if (nameScope(query) !== 'unscoped') return {};
  const hint =
    'without an owner, these are only the runs that belong to no team: send scope=readable for all runs that you may read, ' +
    'or team_id, organization_id, environment_id or instance_id';
  return { hint };
}

/** Those parameters of `scopeQuery` that name an owner by its id. */
export const runOwners = {
  organization: 'organization_id',
  team: 'team_id',
  environment: 'environment_id',
  instance: 'instance_id',
} as const;

/** The query parameters that narrow a list of runs. A run must match all of them. */
export const filterQuery = {
  status: repeated(z.enum(runStatuses), { max: runStatuses.length }).describe(
    'Repeat it for several: `status=failed&status=running` answers runs of either status.',
  ),
  operation: z.enum(runOperations).optional().describe('Without it, all but scans.'),
  template_id: Id.optional(),
  requested_by: Id.optional().describe('The id of the user or service account that requested the run.'),
  started_by_run_id: Id.optional().describe('Only runs that follow outputs which this run changed.'),
  drift_finding_id: Id.optional().describe('Only runs that remediate this drift finding, also those that have ended.'),
  from: TimeOrDay.optional().describe('Only runs that were admitted at this time or later.'),
  to: TimeOrDay.optional().describe('Only runs that were admitted before this time.'),
};

/** Narrows a list to runs that wait now. */
export const waitingQuery = {
  waiting_on: repeated(z.enum(waitingCodes), { max: waitingCodes.length }).describe(
    'Only unfinished runs that wait for this; repeat it for several: `waiting_on=locked&waiting_on=frozen`.',
  ),
};

type FilterQuery = z.output<z.ZodObject<typeof filterQuery & typeof scopeQuery>>;

/** @throws Invalid if `from` is not before `to` */
export function toFilter(query: FilterQuery): RunFilter {
  const { environment_id: environmentId, instance_id: instanceId, template_id: templateId } = query;
  const { status: statuses, operation, requested_by: requestedBy, started_by_run_id: startedByRunId } = query;
  const driftFindingId = query.drift_finding_id;
  const period = { from: toTime(query.from), to: toTime(query.to) };
  refuseEmptyPeriod(period);
  return {
    environmentId,
    instanceId,
    templateId,
    requestedBy,
    startedByRunId,
    driftFindingId,
    operation,
    statuses,
    ...period,
  };
}

function toTime(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
