import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import type { MaskedAddresses } from '#domain/instances/state-file/shown-resource.ts';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import type { RunOptions } from '#domain/runs/options/model.ts';
import type { PlanSummary, ResourceChange } from '#domain/runs/plans/model.ts';
import type { PlanSections } from '#domain/runs/plans/sections.ts';
import type { EarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';

/** What a worker asks an executor to do, and what it gets back. */

/** `detect` only looks: it stores no state, and its plan cannot be applied. */
export type ExecutionPhase = 'plan' | 'apply' | 'detect';

export interface CommandStep {
  readonly name: string;
  readonly run: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A duration such as `PT30M` or `30m`. */
  readonly timeout?: string | undefined;
}

export interface OpenTofuExecutor {
  readonly kind: 'opentofu';
  readonly files: TemplateFiles;
  /** The directory of the configuration among the files; the root if missing. */
  readonly directory?: string | undefined;
}

export interface CommandExecutor {
  readonly kind: 'command';
  readonly files?: TemplateFiles | undefined;
  readonly plan?: readonly CommandStep[] | undefined;
  readonly apply: readonly CommandStep[];
  readonly destroy?: readonly CommandStep[] | undefined;
  readonly detect?: readonly CommandStep[] | undefined;
}

/** A template's executor together with its files. */
export type ResolvedExecutor = OpenTofuExecutor | CommandExecutor;

export type ToolName = 'opentofu' | 'terraform';

export interface Tool {
  readonly name: ToolName;
  readonly version: string;
}

export interface ExecutionLimits {
  /** Bytes that all of the attempt's programs together may print; more stops it (`output_limit`). */
  readonly outputBytes: number;
  /** Bytes that all of its files may take at one time (`directory_limit`). */
  readonly directoryBytes: number;
  /** Processes at one time (`process_limit`). */
  readonly processes: number;
  /** Bytes of memory, including files in memory (`memory_limit`). */
  readonly memoryBytes: number;
  /** Files that one process may have open (`open_files_limit`). */
  readonly openFiles: number;
  /** Seconds of processor time of all processes together (`cpu_limit`). */
  readonly cpuSeconds: number;
  /** Bytes of log to keep. The rest is dropped after a marker, and the attempt goes on. Default: all. */
  readonly logBytes?: number | undefined;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
  readonly sensitive: boolean;
  /** Another secret value of the variable. Programs do not get it, but it is redacted too. */
  readonly hidden?: string | undefined;
  /**
   * Replaces the value where attempts are compared, for a value that differs in each attempt, such as a token. Attempts share what `init`
   * fetched only if they have the same identity or, without one, the same value.
   */
  readonly identity?: string | undefined;
}

/**
 * A file that the attempt's programs find through an environment variable. Only they can read it (0600), and its lines are redacted from
 * the log.
 */
export interface EnvironmentFile {
  /** The environment variable that holds the path. */
  readonly name: string;
  readonly text: string;
  /** The names of other files, by the placeholders in the text that are replaced by their paths. */
  readonly links?: Readonly<Record<string, string>> | undefined;
  /** As `identity` of a variable. */
  readonly identity?: string | undefined;
}

export interface ExecutionRequest {
  readonly attemptId: string;
  readonly runId: string;
  /** Identifies the template's version. The results of its initialization are cached under this id. */
  readonly templateVersion: string;
  readonly phase: ExecutionPhase;
  /** Checks the template instead of running it, with the phase `detect`: the result has a `check` and no plan. */
  readonly check?: boolean | undefined;
  readonly operation: RunOperation;
  /** Resource addresses to replace even if their configuration has not changed. */
  readonly replace: readonly string[];
  /** Options of the tool. Absent: the defaults. */
  readonly options?: RunOptions | undefined;
  readonly executor: ResolvedExecutor;
  readonly variables: Readonly<Record<string, JsonValue>>;
  /** Names of the variables whose values are secret. */
  readonly sensitiveVariables: readonly string[];
  /** Secrets of earlier runs that the state may contain. They are redacted, and no program gets them. Absent: none. */
  readonly earlierSecrets?: EarlierSecrets | undefined;
  readonly environment: readonly EnvironmentVariable[];
  readonly environmentFiles?: readonly EnvironmentFile[] | undefined;
  /** The modules that earlier runs of the version used; null or absent if unknown. */
  readonly modules?: KeptModules | null | undefined;
  /** The connections through which `init` may read private modules. */
  readonly moduleSources?: readonly ModuleSource[] | undefined;
  /**
   * The states for `terraform_remote_state` data sources of the root module, by the names of the data sources. They contain only outputs.
   */
  readonly remoteStates?: Readonly<Record<string, string>> | undefined;
  /** The outputs that the template declares. */
  readonly outputs: Readonly<Record<string, { readonly sensitive?: boolean | undefined }>>;
  /** The latest state: OpenTofu's own, or a command template's `state.json`. */
  readonly state: Buffer | null;
  /** For `apply`: the artifact that the plan phase returned. */
  readonly artifact: Buffer | null;
  /** For `apply`: the digest of the approved plan. Another artifact is refused (`artifact_mismatch`). */
  readonly planDigest?: string | null | undefined;
  /** For `detect`: the key of the digests that tell apart secret values (`SensitivePath.digest`), in base64. */
  readonly secretsKey?: string | undefined;
  /** The tool that made the plan; null before there is one. */
  readonly tool: Tool | null;
  readonly timeoutMs: number;
  /** Time from asking a tool to stop until it is killed. */
  readonly graceMs: number;
  readonly limits: ExecutionLimits;
  /** What the attempt's programs can reach. It is enforced only in sandboxes. */
  readonly egress: EgressPolicy;
}

/** What the programs of a pool's runs can reach on the network. */
export interface EgressPolicy {
  readonly policy: 'none' | 'allow' | 'internet';
  /** Names such as `*.example.org`, addresses and CIDR ranges. */
  readonly allow: readonly string[];
}

export type LogStream = 'stdout' | 'stderr' | 'system';

/** A piece of log without its secrets. It holds bytes, so NUL and broken UTF-8 arrive as they were printed. */
export interface LogChunk {
  /** Numbers the attempt's chunks from 1, without gaps. */
  readonly sequence: number;
  readonly phase: ExecutionPhase;
  readonly stream: LogStream;
  /** When its first byte was read (RFC 3339). */
  readonly time: string;
  /** Never cut inside a character of well-formed UTF-8. */
  readonly content: Buffer;
  /** Line feeds in the attempt's log before this chunk. */
  readonly firstLine: number;
  /** Line feeds in this chunk. */
  readonly lines: number;
  /** `sha256:…` of the content. */
  readonly checksum: string;
}

export interface StateMeta {
  /** Numbers the attempt's writes from 1. */
  readonly write: number;
  readonly serial: number | null;
  readonly lineage: string | null;
  readonly resourceCount: number;
  /** The redacted addresses of its resources that contain secrets. */
  readonly maskedAddresses?: MaskedAddresses | undefined;
  /** The outputs that are secret because of the tool, the template or their content. */
  readonly secretOutputs?: string[] | undefined;
}

/**
 * Receives an attempt's log and states. A call is made once the one before it of the same kind has been answered. Rejecting
 * a log chunk or a state stops the attempt (`logs_not_saved`, `state_not_saved`), so a sink must retry temporary errors itself.
 */
export interface ExecutionSink {
  log(chunk: LogChunk): Promise<void>;
  /** Resolves once the state is durable; only then does the tool get its answer. */
  state(content: Buffer, meta: StateMeta): Promise<void>;
}

export type ExecutionOutcome = 'succeeded' | 'failed' | 'canceled' | 'timed_out' | 'limit_exceeded';

export interface ExecutionPlan {
  /** The planned changes. Secret values are `{"sensitive": true}`, values not known yet are `{"unknown": true}`. */
  readonly changes: ResourceChange[];
  /** How reality differs from the state, if the tool reports that. */
  readonly drift: ResourceChange[];
  /** The sections of the plan besides its changes of resources: outputs, checks, actions and warnings. */
  readonly sections: PlanSections;
  readonly summary: PlanSummary;
  readonly hasChanges: boolean;
  /** Whether the changes are assumed because the template has no plan of its own. */
  readonly assumed: boolean;
  /** `sha256:…` over the changes, the tool, the sources, and every byte that an apply would use. */
  readonly digest: string;
  /** What the apply phase needs; empty for `detect`. It contains secrets. */
  readonly artifact: Buffer;
}

/** The result of checking a template without running it. */
export interface CheckReport {
  /** The tool's errors and warnings about the configuration. */
  readonly findings: Diagnostic[];
  /** What could not be checked, and why. */
  readonly unchecked: string[];
  /** The steps whose program this worker does not have, with the list that contains each step. */
  readonly missingPrograms: MissingProgram[];
}

export interface MissingProgram {
  readonly list: 'plan' | 'apply' | 'destroy' | 'detect';
  /** 0 for the first step of the list. */
  readonly index: number;
  readonly program: string;
}

export interface ExecutionResult {
  readonly outcome: ExecutionOutcome;
  readonly reason: ExecutionReason | null;
  /** For people; secrets are redacted. */
  readonly message: string | null;
  /** The exit code of the last program that ran. */
  readonly exitCode: number | null;
  readonly tool?: Tool;
  readonly plan?: ExecutionPlan;
  readonly check?: CheckReport;
  /** Sensitive values are in clear text; the caller must seal them. */
  readonly outputs?: MaskedOutputs;
  readonly resourceCount?: number;
  /** The messages of the tool or of the steps: errors and warnings, redacted and limited in number and length. */
  readonly diagnostics?: readonly Diagnostic[];
  /** The exact modules from elsewhere that a plan resolved, if they were not known before. */
  readonly modules?: KeptModules;
  /** The debug log of the tool, redacted. It may contain secrets that nobody declared. */
  readonly debugLog?: Buffer;
  /** For the operator's log only: what the executor process printed about itself. */
  readonly diagnostic?: string;
}
