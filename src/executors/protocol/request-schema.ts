import { type ZodType, z } from 'zod';
import type { ModuleSource as ModuleSourceOfConnection } from '#domain/connections/module-sources/model.ts';
import { logLevels, maxAddresses, maxParallelism, type RunOptions } from '#domain/runs/options/model.ts';
import type { EarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import { namedValues } from '#domain/shared/values/json.ts';
import { runOperations } from '#domain/shared/vocabulary/runs.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { type Egress as EgressOfPool, egressPolicies } from '#domain/workers/pools/egress.ts';
import {
  count,
  digest,
  type FieldsOf,
  json,
  type Message,
  Modules,
  Phase,
  positive,
  Tool,
  text,
} from './value-schemas.ts';

const executable = z.boolean().optional();
const FileContent = z.union([
  z.string(),
  z.strictObject({ text: z.string(), executable }),
  z.strictObject({ base64: z.string(), executable }),
  z.strictObject({ link: z.string() }),
]);
const Files = z.record(z.string(), FileContent) satisfies ZodType<TemplateFiles>;
const Step = z.object({
  name: z.string(),
  run: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
  timeoutMs: z.number().positive().nullable(),
});
export type WireStep = Message<z.output<typeof Step>>;
export const stepKinds = ['plan', 'apply', 'destroy', 'detect'] as const;
export type StepKind = (typeof stepKinds)[number];

const Executor = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('opentofu'),
    files: Files,
    /** The directory of the configuration among the files; the root if missing. */
    directory: z.string().optional(),
  }),
  z.object({
    kind: z.literal('command'),
    files: Files.optional(),
    plan: z.array(Step).optional(),
    apply: z.array(Step),
    destroy: z.array(Step).optional(),
    detect: z.array(Step).optional(),
  }),
]);

const Egress = z.object({
  policy: z.enum(egressPolicies),
  allow: z.array(z.string()),
} satisfies FieldsOf<EgressOfPool>);

const Credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('password'), username: z.string(), password: z.string() }),
  z.object({ kind: z.literal('ssh_key'), privateKey: z.string(), knownHosts: z.string() }),
]);
const ModuleSource = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('git'), url: z.url(), credential: Credential, identity: z.string() }),
  z.object({ kind: z.literal('registry'), host: z.string(), token: z.string(), identity: z.string() }),
]) satisfies ZodType<ModuleSourceOfConnection>;

const Options = z.object({
  target: z.array(text).max(maxAddresses).optional(),
  exclude: z.array(text).max(maxAddresses).optional(),
  refresh: z.boolean().optional(),
  parallelism: z.int().min(1).max(maxParallelism).optional(),
  log_level: z.enum(logLevels).optional(),
} satisfies FieldsOf<RunOptions>);

const Limits = z.object({
  /** Bytes that all of the attempt's programs together may print; more stops it (`output_limit`). */
  outputBytes: count,
  /** Bytes that all of its files may take at one time (`directory_limit`). */
  directoryBytes: positive.max(Number.MAX_SAFE_INTEGER),
  /** Processes at one time (`process_limit`). */
  processes: positive,
  /** Bytes of memory, including files in memory (`memory_limit`). */
  memoryBytes: positive.max(Number.MAX_SAFE_INTEGER),
  /** Files that one process may have open (`open_files_limit`). */
  openFiles: positive,
  /** Seconds of processor time of all processes together (`cpu_limit`). */
  cpuSeconds: z.number().positive(),
  /** Bytes of log to keep. The rest is dropped after a marker, and the attempt goes on. Default: all. */
  logBytes: count.optional(),
});

const EnvironmentVariable = z.object({
  name: z.string(),
  value: z.string(),
  sensitive: z.boolean(),
  /** Another secret value of the variable. Programs do not get it, but it is redacted too. */
  hidden: z.string().optional(),
  /**
   * Replaces the value where attempts are compared, for a value that differs in each attempt, such as a token. Attempts share what `init`
   * fetched only if they have the same identity or, without one, the same value.
   */
  identity: z.string().optional(),
});

/**
 * A file that the attempt's programs find through an environment variable. Only they can read it (0600), and its lines are redacted from
 * the log.
 */
const EnvironmentFile = z.object({
  /** The environment variable that holds the path. */
  name: z.string(),
  text: z.string(),
  /** The names of other files, by the placeholders in the text that are replaced by their paths. */
  links: z.record(z.string(), z.string()).optional(),
  /** As `identity` of a variable. */
  identity: z.string().optional(),
});

/** The request as it crosses the pipe. State, artifact and the files of modules travel in the body. */
export const WireRequest = z.object({
  attemptId: z.string(),
  runId: z.string(),
  /** Identifies the template's version. The results of its initialization are cached under this id. */
  templateVersion: z.string(),
  phase: Phase,
  /** Checks the template instead of running it, with the phase `detect`: the result has a `check` and no plan. */
  check: z.boolean().optional(),
  operation: z.enum(runOperations),
  /** Resource addresses to replace even if their configuration has not changed. */
  replace: z.array(z.string()),
  /** Options of the tool. Absent: the defaults. */
  options: Options.optional(),
  executor: Executor,
  variables: namedValues(json),
  /** Names of the variables whose values are secret. */
  sensitiveVariables: z.array(z.string()),
  environment: z.array(EnvironmentVariable),
  environmentFiles: z.array(EnvironmentFile).optional(),
  /** The modules that earlier runs of the version used; null or absent if unknown. */
  modules: Modules.nullish(),
  /** The connections through which `init` may read private modules. */
  moduleSources: z.array(ModuleSource).optional(),
  /** Secrets of earlier runs that the state may contain. They are redacted, and no program gets them. Absent: none. */
  earlierSecrets: z
    .object({ values: z.array(json), areTooMany: z.boolean() } satisfies FieldsOf<EarlierSecrets>)
    .optional(),
  /**
   * The states for `terraform_remote_state` data sources of the root module, by the names of the data sources. They contain only outputs.
   */
  remoteStates: z.record(z.string(), z.string()).optional(),
  /** The outputs that the template declares. */
  outputs: namedValues(z.object({ sensitive: z.boolean().optional() })),
  /** For `apply`: the digest of the approved plan. Another artifact is refused (`artifact_mismatch`). */
  planDigest: digest.nullish(),
  /** For `detect`: the key of the digests that tell apart secret values (`SensitivePath.digest`), in base64. */
  secretsKey: z.string().optional(),
  /** What the attempt's programs can reach. It is enforced only in sandboxes. */
  egress: Egress,
  /** The tool that makes the plan or made it; null for steps without one. */
  tool: Tool.nullable(),
  toolPath: z.string().nullable(),
  timeoutMs: z.number().positive(),
  /** Time from asking a tool to stop until it is killed. */
  graceMs: z.number().min(0),
  limits: Limits,
});
export type WireRequest = Message<z.output<typeof WireRequest>>;
