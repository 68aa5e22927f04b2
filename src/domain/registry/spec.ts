import { z } from 'zod';
import { durationBetween } from '#domain/shared/values/durations.ts';
import { Json } from '#domain/shared/values/json.ts';
import { TemplateApproval } from '#domain/shared/vocabulary/approval.ts';
import { checkFiles, commandFiles, inlineLimits } from '#domain/sources/files.ts';
import { GitSource } from '#domain/sources/git/source.ts';
import { hasConfiguration } from '#domain/sources/hcl/root-files.ts';
import { WantedTool } from '#domain/tools/model.ts';

/** The `spec` of a template version (docs/writing-templates.md). */

const minute = 60;
const day = 24 * 60 * minute;

const VariableSchema = z.record(z.string(), Json);
const noVariables = { type: 'object', properties: {} };

const OutputName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, {
  error: 'expected letters, digits, "_" and "-", starting with a letter or "_"',
});
const Output = z.strictObject({ description: z.string().max(1_000).optional(), sensitive: z.boolean().optional() });

const Files = z.record(z.string(), z.string()).superRefine((files, context) => {
  for (const { path, message } of checkFiles(files, inlineLimits)) {
    context.addIssue({ code: 'custom', path: path === null ? [] : [path], message, input: files });
  }
});

/** Where the files of a module come from. */
export const moduleSource = { files: Files.optional(), git: GitSource.optional() };

type ModuleSource = { files?: Record<string, string> | undefined; git?: GitSource | undefined };

/** Demands exactly one source, with a configuration in its top directory. */
export function checkModuleSource({ files, git }: ModuleSource, context: z.core.$RefinementCtx): void {
  const refuse = (message: string, ...path: string[]) =>
    context.addIssue({ code: 'custom', path, message, input: files });
  if ((files === undefined) === (git === undefined)) refuse('expected either "files" or "git", and not both');
  if (files !== undefined && !hasConfiguration(files)) refuse('must have a file such as "main.tf" at its top', 'files');
}

const OpenTofuExecutor = z
  .strictObject({ kind: z.literal('opentofu'), ...moduleSource })
  .superRefine(checkModuleSource);

const maxArgumentLength = 32 * 1024;
const Argument = z.string().max(maxArgumentLength);

/** The service passes values to a step in variables `COORDINATOR_…`, so a template must not set them. */
const EnvironmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'expected letters, digits and "_", starting with no digit' })
  .refine((name) => !/^coordinator_/i.test(name), { error: 'must not start with COORDINATOR_, which is reserved' });

const Step = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/, {
    error: 'expected 1-63 letters, digits, spaces and ". _ -", such as "deploy"',
  }),
  run: z
    .array(Argument)
    .min(1, { error: 'expected a program and its arguments, such as ["sh", "deploy.sh"]' })
    .max(256)
    .refine(([program]) => program !== '', { error: 'must start with the name of a program' }),
  env: z.record(EnvironmentName, Argument).optional(),
  timeout: durationBetween(1, day).optional(),
});

const Steps = z
  .array(Step)
  .min(1)
  .max(50)
  .superRefine((steps, context) => {
    for (const [index, { name }] of steps.entries()) {
      if (steps.findIndex((step) => step.name === name) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'must not be used twice', input: name });
    }
  });

const CommandExecutor = z
  .strictObject({
    kind: z.literal('command'),
    files: Files.optional(),
    plan: Steps.optional(),
    apply: Steps,
    destroy: Steps.optional(),
    detect: Steps.optional(),
  })
  .superRefine(({ files }, context) => {
    for (const name of commandFiles.filter((reserved) => files !== undefined && Object.hasOwn(files, reserved))) {
      const message = 'is the name of a file that runs exchange with their steps: choose another';
      context.addIssue({ code: 'custom', path: ['files', name], message, input: name });
    }
  });

export const executorKinds = ['opentofu', 'command'] as const;
export type ExecutorKind = (typeof executorKinds)[number];

const Timeouts = z.strictObject({
  plan: durationBetween(1, day).optional(),
  approval: durationBetween(1, 90 * day).optional(),
  apply: durationBetween(1, day).optional(),
});

const Name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'expected 1-63 lowercase letters, digits and ". _ -", such as "aws-production"',
});

/** The name of a connection in a template. */
export const ConnectionName = Name;

const Connections = z
  .array(z.strictObject({ name: ConnectionName, kind: Name }))
  .max(10)
  .refine((connections) => new Set(connections.map(({ name }) => name)).size === connections.length, {
    error: 'must not name a connection twice',
  });

const slug = '[a-z0-9][a-z0-9-]{0,99}';
const InstancePath = z
  .string()
  .regex(new RegExp(`^(?:(?:${slug}/)?${slug}/)?[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$`), {
    error: 'expected the name of an instance, behind its environment and its project, such as "production/network"',
  });
const DataSourceName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, {
  error: 'expected the name of a data source "terraform_remote_state", such as "network"',
});
const RemoteStates = z.record(DataSourceName, InstancePath).refine((states) => Object.keys(states).length <= 20, {
  error: 'must not have more than 20 members',
});

/**
 * A spec. It does not check the rules for the schema of variables. `checkSchema` may take long and has a time limit, so publication runs it
 * in another thread. Published specs are not checked again.
 */
export const TemplateSpec = z.strictObject({
  variables: VariableSchema.default(noVariables),
  outputs: z.record(OutputName, Output).default({}),
  executor: z.discriminatedUnion('kind', [OpenTofuExecutor, CommandExecutor]),
  approval: TemplateApproval.optional(),
  timeouts: Timeouts.optional(),
  connections: Connections.optional(),
  pool: Name.optional(),
  /** The tool that runs it; without one, its files say which. */
  tool: WantedTool.optional(),
  /** The instances whose outputs the data sources `terraform_remote_state` of the root module read, by the names of the data sources. */
  remote_states: RemoteStates.optional(),
  /** Whether an apply whose worker was lost may be tried again. */
  retry_safe: z.boolean().default(false),
});
export type TemplateSpec = z.output<typeof TemplateSpec>;
