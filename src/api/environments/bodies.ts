import { z } from 'zod';
import {
  type EnvironmentChange,
  environmentKinds,
  type NewEnvironment,
  planSecretsDemands,
} from '#domain/environments/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { durationBetween, parseDuration } from '#domain/shared/values/durations.ts';
import { ApprovalPolicy, ApprovalPolicyChange } from '#domain/shared/vocabulary/approval.ts';
import { runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';
import { WantedTool } from '#domain/tools/model.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';

const day = 24 * 60 * 60;
/** The time after which a deployment is due for destruction. */
const TimeToLive = durationBetween(60, 365 * day);

const AllowedOptions = z
  .array(z.enum(runOptionNames))
  .max(runOptionNames.length)
  .nullable()
  .describe('The options that its runs may use; null: all, but in production without `log_level`.');

const PlanSecrets = z
  .enum(planSecretsDemands)
  .nullable()
  .describe(
    '`weaker`: planning gets other secrets than applying, or none, and a run in which it would get the same ones is refused. Null: planning gets ' +
      'what its variables say.',
  );

/** A list of options means the same in every order. */
function inOrder(options: z.output<typeof AllowedOptions> | undefined) {
  return options ? runOptionNames.filter((name) => options.includes(name)) : options;
}

export const CreateEnvironment = z
  .strictObject({
    project_id: Id,
    name: ResourceName,
    slug: Slug.optional(),
    kind: z.enum(environmentKinds),
    approval_policy: ApprovalPolicy.optional(),
    ttl: TimeToLive.nullable().optional(),
    isolation: DemandedIsolation.optional(),
    allowed_options: AllowedOptions.optional(),
    plan_secrets: PlanSecrets.optional(),
    tool: WantedTool.nullable()
      .optional()
      .describe('The tool of its runs, within what their templates ask for; null: that of their templates.'),
  })
  .meta({ id: 'CreateEnvironment' });

export function toNewEnvironment(body: z.output<typeof CreateEnvironment>): NewEnvironment {
  const { project_id: _project, approval_policy: approvalPolicy, allowed_options: options, ...rest } = body;
  const { plan_secrets: planSecrets, ttl, ...environment } = rest;
  return { ...environment, approvalPolicy, allowedOptions: inOrder(options), planSecrets, ttlSeconds: toSeconds(ttl) };
}

export const UpdateEnvironment = z
  .strictObject({
    name: ResourceName.optional(),
    slug: Slug.optional(),
    kind: z.enum(environmentKinds).optional(),
    approval_policy: ApprovalPolicyChange.optional().describe('Members that are left out stay as they are.'),
    ttl: TimeToLive.nullable().optional(),
    isolation: DemandedIsolation.optional(),
    allowed_options: AllowedOptions.optional(),
    plan_secrets: PlanSecrets.optional(),
    tool: WantedTool.nullable()
      .optional()
      .describe('The tool of its runs, within what their templates ask for; null: that of their templates.'),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateEnvironment' });

export function toEnvironmentChange(body: z.output<typeof UpdateEnvironment>): EnvironmentChange {
  const {
    expected_revision: expectedRevision,
    approval_policy: approvalPolicy,
    allowed_options: options,
    ...rest
  } = body;
  const { plan_secrets: planSecrets, ttl, ...change } = rest;
  const rules = { approvalPolicy, allowedOptions: inOrder(options), planSecrets, ttlSeconds: toSeconds(ttl) };
  return { ...change, ...rules, expectedRevision };
}

/** The body's schema has checked that the text is a duration. */
function toSeconds(ttl: string | null | undefined): number | null | undefined {
  return typeof ttl === 'string' ? parseDuration(ttl) : ttl;
}
