import { z } from 'zod';
import { keptModulesLimits } from '#domain/registry/kept-modules/model.ts';
import { diagnosticSeverities, maxDiagnosticLengths, maxDiagnostics } from '#domain/runs/diagnostics/model.ts';
import { runOperations } from '#domain/runs/model.ts';
import { logLevels, maxAddresses, maxParallelism } from '#domain/runs/options/model.ts';
import { changeActions } from '#domain/runs/plans/model.ts';
import { checkKinds, checkStatuses, maxProblemLength, maxProblems } from '#domain/runs/plans/sections.ts';
import { type ExecutionReason, executionReasons } from '#domain/runs/reasons/model.ts';
import { type JsonValue, namedValues } from '#domain/shared/values/json.ts';

/**
 * The messages between a worker and its executor host. They cross one pipe as frames (`frames.ts`), each a JSON message with
 * an optional body of bytes. Both ends parse every message by these schemas, and close the pipe on one that does not fit.
 * Template code never speaks on this pipe, so such a message means a defect or a sandbox escape.
 */

const text = z.string().max(1024 * 1024);
const positive = z
  .int()
  .min(1)
  .max(2 ** 31);
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const json = z.custom<JsonValue>((value) => value !== undefined);
const reason = z.enum(Object.keys(executionReasons) as [ExecutionReason, ...ExecutionReason[]]);
/** Identifies an attempt within one host. */
const attempt = positive;

const Phase = z.enum(['plan', 'apply', 'detect']);
const Tool = z.object({ name: z.enum(['opentofu', 'terraform']), version: z.string().max(100) });
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

const Modules = z.object({
  digest,
  list: z
    .array(
      z.object({
        key: z.string().max(4_096),
        source: z.string().max(4_096),
        version: z.string().max(255).nullable(),
        digest,
      }),
    )
    .max(keptModulesLimits.modules),
});

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

/** Worker → host. The body of `execute` is the state followed by the artifact and the modules. */
export const WorkerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), settings: z.unknown() }),
  z.object({
    type: z.literal('execute'),
    attempt,
    request: WireRequest,
    stateBytes: count.nullable(),
    artifactBytes: count.nullable(),
    /** Of the files of the modules. */
    modulesBytes: count.nullish(),
  }),
  z.object({ type: z.literal('cancel'), attempt }),
  z.object({ type: z.literal('ack'), attempt, of: z.enum(['log', 'state']), id: positive, ok: z.boolean() }),
]);
export type WorkerMessage = z.output<typeof WorkerMessage>;

const secretDigest = z.string().max(100).optional();
const Path = z.array(z.union([text, z.number()]));
const Change = z.object({
  address: text,
  type: text.optional(),
  action: z.enum(changeActions),
  before: json,
  after: json,
  previousAddress: text.optional(),
  imported: z.object({ id: text.nullable() }).optional(),
  actionReason: text.optional(),
  replacePaths: z.array(Path).optional(),
  unknownPaths: z.array(Path).optional(),
  sensitivePaths: z.array(z.object({ path: Path, changed: z.boolean(), digest: secretDigest })).optional(),
  otherSecrets: z.object({ changed: z.boolean(), digest: secretDigest }).optional(),
});
const counted = ['add', 'change', 'destroy', 'replace', 'forget', 'import', 'move'] as const;
const countedSections = ['outputs', 'checks', 'warnings', 'actions', 'deferred'] as const;
const Summary = z.record(z.enum([...counted, ...countedSections]), count);
const Outputs = namedValues(z.strictObject({ value: json, sensitive: z.boolean() }));

const shortText = (name: keyof typeof maxDiagnosticLengths) => z.string().min(1).max(maxDiagnosticLengths[name]);
const DiagnosticItem = z.object({
  severity: z.enum(diagnosticSeverities),
  message: shortText('message'),
  detail: shortText('detail').optional(),
  file: shortText('file').optional(),
  line: positive.optional(),
  snippet: shortText('snippet').optional(),
  address: shortText('address').optional(),
  program: shortText('program').optional(),
});

const Sections = z.object({
  outputs: z.array(
    z.object({ name: text, action: z.enum(changeActions), before: json, after: json, sensitive: z.boolean() }),
  ),
  checks: z.array(
    z.object({
      address: text,
      kind: z.enum(checkKinds),
      status: z.enum(checkStatuses),
      problems: z.array(z.string().max(maxProblemLength)).max(maxProblems),
    }),
  ),
  actions: z.array(
    z.object({
      address: text,
      type: text,
      event: text.nullable(),
      trigger: text.nullable(),
      config: json,
      deferred: text.nullable(),
    }),
  ),
  deferred: z.array(z.object({ reason: text, change: Change })),
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics),
});

export const maxCheckItems = 100;

const Check = z.object({
  findings: z.array(DiagnosticItem).max(maxDiagnostics),
  unchecked: z.array(shortText('detail')).max(maxCheckItems),
  missingPrograms: z
    .array(z.object({ list: z.enum(stepKinds), index: count, program: z.string().max(32 * 1024) }))
    .max(stepKinds.length * 50),
});

export const WireResult = z.object({
  outcome: z.enum(['succeeded', 'failed', 'canceled', 'timed_out', 'limit_exceeded']),
  reason: reason.nullable(),
  message: text.nullable(),
  exitCode: z.int().min(0).max(255).nullable(),
  tool: Tool.optional(),
  plan: z
    .object({
      changes: z.array(Change),
      drift: z.array(Change),
      sections: Sections,
      summary: Summary,
      hasChanges: z.boolean(),
      assumed: z.boolean(),
      digest,
    })
    .optional(),
  check: Check.optional(),
  outputs: Outputs.optional(),
  resourceCount: count.optional(),
  modules: Modules.optional(),
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics).optional(),
});
export type WireResult = z.output<typeof WireResult>;

/** Host → worker. The worker acknowledges `log` by its sequence and `state` by its write. The body of `result` is the artifact, followed by the debug log and the modules. */
export const HostMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    isolation: z.enum(['sandbox', 'none']),
    /** Why template code is not sandboxed; null if it is. */
    reason: text.nullable(),
    /** How many directories of killed hosts this host removed. */
    swept: count,
  }),
  z.object({
    type: z.literal('log'),
    attempt,
    sequence: positive,
    phase: Phase,
    stream: z.enum(['stdout', 'stderr', 'system']),
    time: z.iso.datetime(),
    firstLine: count,
    lines: count,
    checksum: digest,
  }),
  z.object({
    type: z.literal('state'),
    attempt,
    write: positive,
    serial: count.nullable(),
    lineage: z.string().max(1024).nullable(),
    resourceCount: count,
  }),
  z.object({
    type: z.literal('result'),
    attempt,
    result: WireResult,
    artifactBytes: count.nullable(),
    debugBytes: count.nullish(),
    modulesBytes: count.nullish(),
  }),
]);
export type HostMessage = z.output<typeof HostMessage>;
