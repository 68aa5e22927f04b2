import { z } from 'zod';
import { changesOf, toProperties } from '#api/pipeline/fields.ts';
import { environmentKinds, planSecretsDemands } from '#domain/environments/model.ts';
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

/** Sorts options, because their order has no meaning. */
function inOrder(options: z.output<typeof AllowedOptions> | undefined) {
  return options ? runOptionNames.filter((name) => options.includes(name)) : options;
}

/** The members of an environment, except its policy, which a change may also name in part. */
const environment = {
  name: ResourceName,
  slug: Slug.optional(),
  kind: z.enum(environmentKinds),
  ttl: TimeToLive.nullable().optional(),
  isolation: DemandedIsolation.optional(),
  allowed_options: AllowedOptions.optional(),
  plan_secrets: PlanSecrets.optional(),
  tool: WantedTool.nullable()
    .optional()
    .describe('The tool of its runs, within what their templates ask for; null: that of their templates.'),
};

export const CreateEnvironment = z
  .strictObject({ project_id: Id, ...environment, approval_policy: ApprovalPolicy.optional() })
  .meta({ id: 'CreateEnvironment' });

export const UpdateEnvironment = z
  .strictObject({
    ...changesOf(environment),
    approval_policy: ApprovalPolicyChange.optional().describe('Members that are left out stay as they are.'),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateEnvironment' });

/** Converts the fields of a body for the domain. */
export function toEnvironment<Body extends z.output<typeof CreateEnvironment> | z.output<typeof UpdateEnvironment>>(
  body: Body,
) {
  const { ttl, ...fields } = toProperties(body);
  return { ...fields, allowedOptions: inOrder(body.allowed_options), ttlSeconds: toSeconds(body.ttl) };
}

/** The schema of the body has checked that the text is a duration. */
function toSeconds(ttl: string | null | undefined): number | null | undefined {
  return typeof ttl === 'string' ? parseDuration(ttl) : ttl;
}
