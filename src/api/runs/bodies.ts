import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { InstanceName } from '#domain/instances/instance-name.ts';
import { maxAddressLength } from '#domain/runs/attempts/checks.ts';
import { logLevels, maxAddresses, maxParallelism, type RunOptions } from '#domain/runs/options/model.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { Json } from '#domain/shared/values/json.ts';
import { requestedOperations } from '#domain/shared/vocabulary/runs.ts';

/** The bodies of requests that start runs (docs/following-runs.md). */

const Operation = z.enum(requestedOperations);
const Replaced = z.array(z.string().min(1).max(maxAddressLength)).max(maxAddresses);
const Options = z
  .strictObject({
    replace: Replaced.nullish().describe('As `replace` of the run. If both name any, they must be the same.'),
    target: Replaced.nullish().describe('Only these resources, and what they depend on. The run is partial.'),
    exclude: Replaced.nullish().describe(
      'All but these resources, and what depends on them. The run is partial. OpenTofu 1.9 or newer.',
    ),
    refresh: z.boolean().nullish().describe('`false`: compares with the state alone. The run is partial.'),
    parallelism: z
      .int()
      .min(1)
      .max(maxParallelism)
      .nullish()
      .describe('How many operations the tool does at a time; null: as the tool has it.'),
    log_level: z
      .enum(logLevels)
      .nullish()
      .describe(
        'The tool logs about itself: read it by `GET /runs/{id}/debug-logs`. In production only where the environment allows it.',
      ),
  })
  .meta({ id: 'RunOptionsBody' });

/**
 * Separates `replace` from the other options. An option that is null counts as absent, so that a client can send back the options that a
 * run shows.
 * @throws Invalid if two places of the body name different addresses to replace, or if it names both target and exclude
 */
export function splitOptions<
  Body extends { replace?: string[] | undefined; options?: z.output<typeof Options> | undefined },
>(
  { replace, options, ...rest }: Body,
  field = 'options',
): Omit<Body, 'replace' | 'options'> & { replace: Body['replace']; options: RunOptions | undefined } {
  const { replace: inner, target, exclude, refresh, parallelism, log_level: level } = options ?? {};
  // A run shows an empty list if nothing is replaced.
  const isNamed = (inner?.length ?? 0) > 0;
  if (isNamed && replace !== undefined && !isDeepStrictEqual(inner, replace))
    throw invalidField(`${field}.replace`, 'the run names other resources to replace: name them in one of the two');
  if ((target?.length ?? 0) > 0 && (exclude?.length ?? 0) > 0)
    throw invalidField(`${field}.exclude`, 'name either target or exclude, not both');
  const given = {
    target: target ?? undefined,
    exclude: exclude ?? undefined,
    refresh: refresh ?? undefined,
    parallelism: parallelism ?? undefined,
    log_level: level ?? undefined,
  };
  return { ...rest, replace: isNamed ? (inner ?? []) : (replace ?? inner ?? undefined), options: options && given };
}

const DespiteDependents = z.boolean().default(false);
const Message = z.string().max(4000);

/** The members that requests for a run and for a copy share. What it means to leave one out differs between the two. */
const inputs = {
  version: z.string().min(1).max(128).optional(),
  instance: InstanceName.optional(),
  variables: z.record(z.string(), Json).default({}),
};

/** The members of a request for a run. Requests for other things include them too. */
export const RunBody = z.strictObject({
  template_id: Id,
  version: inputs.version.describe(
    'A version, a range such as ^1.2, or latest. Without one, a destroy uses the version of the deployment, and everything else the latest.',
  ),
  environment_id: Id.optional(),
  instance: inputs.instance.describe("What is deployed, by name; the template's slug where none is given."),
  operation: Operation.default('apply'),
  replace: Replaced.optional().describe('Addresses of resources to replace, here or in `options`.'),
  options: Options.optional(),
  variables: inputs.variables.describe(
    'A destroy takes those that are left out from the deployment that it removes. If it changes anything, 422 names the secrets that another person gave: name them, or `variables_from` and `omit`.',
  ),
  message: Message.default(''),
  despite_dependents: DespiteDependents.describe(
    'Destroy although other instances were deployed with outputs of this one. They keep the values that they were given.',
  ),
});

/** The members that only a request for one run has, such as `omit`. */
export const deployedMembers = {
  variables_from: z
    .enum(['deployed'])
    .optional()
    .describe(
      '`deployed`: the run starts from what is deployed. Variables that the request does not name have the values of the last deployment, references are read ' +
        'anew, and secrets are kept, too. One that another person gave is kept only if nothing else changes; otherwise 422 names it. One that the environment or a ' +
        'variable set gave comes from there; if it gives none any longer, 422 names it. Without it, ' +
        'such variables get their defaults, and the run lists them in `variables_reset`.',
    ),
  omit: z
    .array(z.string().min(1).max(255))
    .max(1000)
    .optional()
    .describe(
      "With `variables_from`, also at a destroy: variables of the deployment that are not taken over. The environment's value or the default takes their place. A name that " +
        'neither the deployment nor the version has is refused with 422.',
    ),
};

/** Returns the names to omit; null if the run does not start from the deployment. @throws Invalid for `omit` without `variables_from` */
export function readDeployedStart({
  variables_from: from,
  omit,
  field = 'omit',
}: {
  readonly variables_from?: 'deployed' | undefined;
  readonly omit?: readonly string[] | undefined;
  /** The path of `omit` in the body, for the error. */
  readonly field?: string;
}): readonly string[] | null {
  if (from === undefined && omit !== undefined)
    throw invalidField(field, 'leaves out variables of the deployment: name variables_from as well, or leave omit out');
  return from === undefined ? null : (omit ?? []);
}

/**
 * Normalizes a request for a run, so that a repetition with the same key may state that nothing is replaced or omitted, or leave that out.
 * If `options` names addresses to replace, `replace` stays absent, so that `splitOptions` can detect whether the request named both.
 */
export function normalizeRun<
  Body extends {
    replace?: string[] | undefined;
    omit?: string[] | undefined;
    options?: z.output<typeof Options> | undefined;
  },
>({ omit = [], ...body }: Body) {
  const isNamed = body.replace !== undefined || (body.options?.replace ?? undefined) !== undefined;
  return { ...body, ...(!isNamed && { replace: [] }), ...(omit.length > 0 && { omit }) } as Body;
}

export const CreateRun = RunBody.extend(deployedMembers)
  .overwrite(normalizeRun)
  .meta({
    id: 'CreateRun',
    example: {
      template_id: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11',
      environment_id: '019aa5c2-8a02-7b53-8f0e-5a1a4c1d2e33',
      instance: 'network',
      operation: 'plan',
      variables: { region: 'eu-1' },
    },
  });

export const CopyRun = z
  .strictObject({
    ...inputs,
    version: inputs.version.describe('The version of the run unless given, even if it was yanked.'),
    operation: Operation.optional(),
    replace: Replaced.optional().describe('Those of the run unless given, or none if the operation is another one.'),
    options: Options.optional().describe(
      'Those of the run unless given, or none if the operation is another one. What it leaves out has its default.',
    ),
    variables: inputs.variables.describe('They take the place of those of the run.'),
    omit: z
      .array(z.string().min(1).max(255))
      .max(1000)
      .default([])
      .describe(
        "Variables of the run that are not taken over: the environment's value or the default takes their place. A name that neither the run nor the " +
          'version has is refused with 422.',
      ),
    message: Message.optional(),
    despite_dependents: DespiteDependents,
  })
  .meta({ id: 'CopyRun' });
