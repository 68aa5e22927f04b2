import { z } from 'zod';
import { logLevels, maxAddresses, maxParallelism } from '#domain/runs/options/model.ts';
import { namedValues } from '#domain/shared/values/json.ts';
import { runOperations } from '#domain/shared/vocabulary/runs.ts';
import { count, digest, json, Modules, Phase, positive, Tool, text } from './value-schemas.ts';

const executable = z.boolean().optional();
const FileContent = z.union([
  z.string(),
  z.strictObject({ text: z.string(), executable }),
  z.strictObject({ base64: z.string(), executable }),
  z.strictObject({ link: z.string() }),
]);
const Files = z.record(z.string(), FileContent);
const Step = z.object({
  name: z.string(),
  run: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
  timeoutMs: z.number().positive().nullable(),
});
export type WireStep = z.output<typeof Step>;
export const stepKinds = ['plan', 'apply', 'destroy', 'detect'] as const;
export type StepKind = (typeof stepKinds)[number];

const Executor = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('opentofu'), files: Files, directory: z.string().optional() }),
  z.object({
    kind: z.literal('command'),
    files: Files.optional(),
    plan: z.array(Step).optional(),
    apply: z.array(Step),
    destroy: z.array(Step).optional(),
    detect: z.array(Step).optional(),
  }),
]);

const Egress = z.object({ policy: z.enum(['none', 'allow', 'internet']), allow: z.array(z.string()) });

const Credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('password'), username: z.string(), password: z.string() }),
  z.object({ kind: z.literal('ssh_key'), privateKey: z.string(), knownHosts: z.string() }),
]);
const ModuleSource = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('git'), url: z.url(), credential: Credential, identity: z.string() }),
  z.object({ kind: z.literal('registry'), host: z.string(), token: z.string(), identity: z.string() }),
]);

const Options = z.object({
  target: z.array(text).max(maxAddresses).optional(),
  exclude: z.array(text).max(maxAddresses).optional(),
  refresh: z.boolean().optional(),
  parallelism: z.int().min(1).max(maxParallelism).optional(),
  log_level: z.enum(logLevels).optional(),
});

const Limits = z.object({
  outputBytes: count,
  directoryBytes: positive.max(Number.MAX_SAFE_INTEGER),
  processes: positive,
  memoryBytes: positive.max(Number.MAX_SAFE_INTEGER),
  openFiles: positive,
  cpuSeconds: z.number().positive(),
  logBytes: count.optional(),
});

/** The request as it crosses the pipe. State and artifact travel in the body. */
export const WireRequest = z.object({
  attemptId: z.string(),
  runId: z.string(),
  templateVersion: z.string(),
  phase: Phase,
  check: z.boolean().optional(),
  operation: z.enum(runOperations),
  replace: z.array(z.string()),
  options: Options.optional(),
  executor: Executor,
  variables: namedValues(json),
  sensitiveVariables: z.array(z.string()),
  environment: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      sensitive: z.boolean(),
      hidden: z.string().optional(),
      identity: z.string().optional(),
    }),
  ),
  environmentFiles: z
    .array(
      z.object({
        name: z.string(),
        text: z.string(),
        links: z.record(z.string(), z.string()).optional(),
        identity: z.string().optional(),
      }),
    )
    .optional(),
  modules: Modules.nullish(),
  moduleSources: z.array(ModuleSource).optional(),
  earlierSecrets: z.object({ values: z.array(json), areTooMany: z.boolean() }).optional(),
  remoteStates: z.record(z.string(), z.string()).optional(),
  outputs: namedValues(z.object({ sensitive: z.boolean().optional() })),
  planDigest: digest.nullish(),
  secretsKey: z.string().optional(),
  egress: Egress,
  tool: Tool.nullable(),
  toolPath: z.string().nullable(),
  timeoutMs: z.number().positive(),
  graceMs: z.number().min(0),
  limits: Limits,
});
export type WireRequest = z.output<typeof WireRequest>;
