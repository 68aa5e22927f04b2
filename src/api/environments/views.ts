import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import { findVariableWarnings, VariableView, VariableWarnings, viewVariable } from '#api/variables/views.ts';
import type { Em } from '#database/database.ts';
import { environmentKinds, planSecretsDemands } from '#domain/environments/model.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import type { Hold } from '#domain/holds/holds.ts';
import { activeHold } from '#domain/holds/model.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';
import { formatDuration } from '#domain/shared/values/durations.ts';
import { approvalRules, policyOf } from '#domain/shared/vocabulary/approval.ts';
import { holdCodes } from '#domain/shared/vocabulary/holds.ts';
import { principalKinds } from '#domain/shared/vocabulary/roles.ts';
import { runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { withUse } from '#domain/tenancy/use.ts';
import { WantedTool } from '#domain/tools/model.ts';
import type { ShownVariable } from '#domain/variables/store.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';

/** A variable to change in its environment. Changing a secret requires the permission to manage secrets. */
export interface VariableFacts extends EnvironmentTarget {
  readonly concernsSecret: boolean;
}

/** What a caller may do with a variable. */
const variableActions = actionsOf<VariableFacts>()({
  set: { operation: 'environment_variables.set', findRefusal: findArchivedRefusal },
  remove: { operation: 'environment_variables.remove', findRefusal: findArchivedRefusal },
});

/** What a caller may do with an environment. */
const environmentActions = actionsOf<EnvironmentTarget & Used>()({
  deploy: { operation: 'runs.create', findRefusal: findArchivedRefusal },
  update: { operation: 'environments.update', findRefusal: findArchivedRefusal },
  lock: { operation: 'environments.lock', findRefusal: findArchivedRefusal },
  unlock: {
    operation: 'environments.unlock',
    findRefusal: ({ lock }) => (activeHold(lock, new Date()) ? null : { message: 'the environment is not locked' }),
  },
  archive: { operation: 'environments.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: {
    operation: 'environments.unarchive',
    findRefusal: (environment) => findUnarchivingRefusal('environment', environment),
  },
  delete: { operation: 'environments.delete', findRefusal: ({ deletion }) => deletion },
});

/** A lock or a pause. */
export const LockView = z
  .object({
    reason: z.string(),
    by: z.object({ type: z.enum(principalKinds), id: AnswerId, name: z.string() }),
    since: Time,
    until: Time.nullable().describe('When it ends by itself; null: when it is ended.'),
  })
  .meta({ id: 'Lock' });

const fields = {
  ...commonFields,
  organization_id: AnswerId,
  team_id: AnswerId,
  project_id: AnswerId,
  kind: z.enum(environmentKinds),
  approval_policy: z.object({ required: z.int(), when: z.enum(approvalRules), allow_self: z.boolean() }),
  ttl: z.string().nullable(),
  isolation: DemandedIsolation.describe('The isolation that a worker must have to execute its runs; null: any.'),
  allowed_options: z
    .array(z.enum(runOptionNames))
    .nullable()
    .describe('The options that its runs may use; null: all, but in production without `log_level`.'),
  plan_secrets: z
    .enum(planSecretsDemands)
    .nullable()
    .describe(
      '`weaker`: runs are refused whose planning would get the secrets that applying gets. Null: no such demand.',
    ),
  tool: WantedTool.nullable().describe('The tool of its runs; null: that of their templates.'),
  lock: LockView.nullable().describe('What keeps its applies from starting; null: it is not locked.'),
};

const HoldView = z
  .object({
    code: z.enum(holdCodes),
    by: LockView.shape.by.nullable().describe('Who paused or locked; null for a freeze window.'),
    name: z.string().nullable().describe('The name of the freeze window; null for a pause or a lock.'),
    reason: z.string(),
    since: Time,
    until: Time.nullable().describe('When it ends by itself; null: when it is ended.'),
  })
  .meta({ id: 'EnvironmentHold' })
  .nullable()
  .describe(
    'What keeps its applies from starting now, as a waiting run says it: a pause of the installation, else its lock, else the ' +
      'freeze window that ends last. Null: nothing does.',
  );

/** An environment in a list. */
export const ListedEnvironmentView = z.object({ ...fields, hold: HoldView }).meta({ id: 'ListedEnvironment' });

/** An environment in every answer about one environment. */
export const EnvironmentView = z.object({ ...fields, actions: environmentActions.view }).meta({ id: 'Environment' });

/** A single environment. */
export const EnvironmentDetails = z
  .object({
    ...EnvironmentView.shape,
    hold: HoldView,
  })
  .meta({ id: 'EnvironmentDetails' });

export function viewHold(hold: Hold | null) {
  return hold && { code: hold.code, since: hold.since, ...hold.blocker };
}

export function viewEnvironment(environment: EnvironmentTarget) {
  const { organizationId, teamId, projectId, kind, ttlSeconds, isolation, tool, lock, allowedOptions, planSecrets } =
    environment;
  return {
    ...viewCommon(environment),
    organization_id: organizationId,
    team_id: teamId,
    project_id: projectId,
    kind,
    approval_policy: policyOf(environment),
    ttl: ttlSeconds === null ? null : formatDuration(ttlSeconds),
    isolation,
    allowed_options: allowedOptions,
    plan_secrets: planSecrets,
    tool,
    lock: activeHold(lock, new Date()),
  };
}

/** Shows one environment with the actions that the caller may take. */
export async function showEnvironment(em: Em, context: ActionContext, environment: EnvironmentTarget) {
  const used = await withUse(em, context.principal, 'environment', environment);
  return { ...viewEnvironment(environment), actions: environmentActions.describe(context, used) };
}

/** One variable, with what the caller may do with it. */
export const VariableDetailsView = VariableView.extend({
  warnings: VariableWarnings,
  actions: variableActions.view,
}).meta({ id: 'EnvironmentVariableDetails' });

export async function showVariable(
  em: Em,
  context: ActionContext,
  environment: EnvironmentTarget,
  variable: ShownVariable,
) {
  const facts = { ...environment, concernsSecret: variable.sensitive };
  return {
    ...viewVariable(variable),
    warnings: await findVariableWarnings(em, context.principal, environment, variable),
    actions: variableActions.describe(context, facts),
  };
}
