import type { TemplateFiles } from '#domain/registry/files.ts';
import type {
  ExecutionReason,
  JsonValue,
  MaskedOutputs,
  PlanSummary,
  ResourceChange,
  RunOperation,
} from '#domain/runs/model.ts';

/** What a worker asks of an attempt, and gets back (architecture.md of the design, *Executors*). */

/** `detect` looks only: it keeps no state, and its plan cannot be applied. */
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
  /** Where among the files the configuration lies; the root when missing. */
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

/** A template's executor with its files in hand. */
export type ResolvedExecutor = OpenTofuExecutor | CommandExecutor;

export type ToolName = 'opentofu' | 'terraform';

export interface Tool {
  readonly name: ToolName;
  readonly version: string;
}

export interface ExecutionLimits {
  /** Bytes that all children together may print; more ends the attempt (`output_limit`). */
  readonly outputBytes: number;
  /** Bytes that all it writes may take at one time (`directory_limit`). */
  readonly directoryBytes: number;
  /** Processes at one time (`process_limit`). */
  readonly processes: number;
  /** Bytes of memory, files in memory included (`memory_limit`). */
  readonly memoryBytes: number;
  /** Files that one process may have open (`open_files_limit`). */
  readonly openFiles: number;
  /** Seconds of processor time of all its processes together (`cpu_limit`). */
  readonly cpuSeconds: number;
  /** Bytes of log that are kept; the rest is dropped behind a marker, and the attempt goes on. Default: all. */
  readonly logBytes?: number | undefined;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
  readonly sensitive: boolean;
}

export interface ExecutionRequest {
  readonly attemptId: string;
  readonly runId: string;
  /** Names the template's version: what its initialization came to is kept by it. */
  readonly templateVersion: string;
  readonly phase: ExecutionPhase;
  readonly operation: RunOperation;
  /** Resource addresses to replace, whatever their configuration says. */
  readonly replace: readonly string[];
  readonly executor: ResolvedExecutor;
  readonly variables: Readonly<Record<string, JsonValue>>;
  /** Names of the variables whose values are secret. */
  readonly sensitiveVariables: readonly string[];
  readonly environment: readonly EnvironmentVariable[];
  /** As the template declares them. */
  readonly outputs: Readonly<Record<string, { readonly sensitive?: boolean | undefined }>>;
  /** The latest state: OpenTofu's own, or a command template's `state.json`. */
  readonly state: Buffer | null;
  /** For `apply`: what the plan phase returned. */
  readonly artifact: Buffer | null;
  /** For `apply`: the digest of the plan that was approved; another artifact is refused (`artifact_mismatch`). */
  readonly planDigest?: string | null | undefined;
  /** The tool that planned; null before there is a plan. */
  readonly tool: Tool | null;
  readonly timeoutMs: number;
  /** From asking a tool to stop until it is killed. */
  readonly graceMs: number;
  readonly limits: ExecutionLimits;
  /** What the attempt's programs may reach; kept where they are contained. */
  readonly egress: EgressPolicy;
}

/** What the programs of a pool's runs may reach. */
export interface EgressPolicy {
  readonly policy: 'none' | 'allow' | 'internet';
  /** Names such as `*.example.org`, and CIDRs. */
  readonly allow: readonly string[];
}

export type LogStream = 'stdout' | 'stderr' | 'system';

/** A piece of log with its secrets already removed. Bytes, not text: NUL and broken UTF-8 arrive as they were printed. */
export interface LogChunk {
  /** Counts within the attempt, from 1, without gaps. */
  readonly sequence: number;
  readonly phase: ExecutionPhase;
  readonly stream: LogStream;
  /** When its first byte was read (RFC 3339). */
  readonly time: string;
  /** Well-formed UTF-8 is never cut inside a character. */
  readonly content: Buffer;
  /** Line ends in the attempt's log before this chunk. */
  readonly firstLine: number;
  /** Line ends in this chunk. */
  readonly lines: number;
  /** `sha256:…` of the content. */
  readonly checksum: string;
}

export interface StateMeta {
  /** Counts the attempt's writes, from 1. */
  readonly write: number;
  readonly serial: number | null;
  readonly lineage: string | null;
  readonly resourceCount: number;
}

export interface Progress {
  /** Such as `init`, `plan`, `apply`, or the name of a step. */
  readonly step: string;
  readonly time: string;
}

/**
 * Where an attempt's traces go. Each call is answered before the next one of its kind. Rejecting a log chunk or a state
 * stops the attempt (`logs_not_saved`, `state_not_saved`): what may pass must be retried by the sink itself.
 */
export interface ExecutionSink {
  log(chunk: LogChunk): Promise<void>;
  /** Resolves once the state is durable; only then is the tool answered. */
  state(content: Buffer, meta: StateMeta): Promise<void>;
  progress?(progress: Progress): void;
}

export type ExecutionOutcome = 'succeeded' | 'failed' | 'canceled' | 'timed_out' | 'limit_exceeded';

export interface PlannedChange extends ResourceChange {
  readonly type?: string | undefined;
}

export interface ExecutionPlan {
  /** What would change; secret values are `{"sensitive": true}`, values not known yet `{"unknown": true}`. */
  readonly changes: PlannedChange[];
  /** How reality differs from the state, where the tool says so. */
  readonly drift: PlannedChange[];
  readonly summary: PlanSummary;
  readonly hasChanges: boolean;
  /** Whether the changes are assumed, because the template has no plan of its own. */
  readonly assumed: boolean;
  /** `sha256:…` over changes, tool, sources, and the very bytes that an apply would carry out. */
  readonly digest: string;
  /** What the apply phase needs; empty for `detect`. Holds secrets. */
  readonly artifact: Buffer;
}

export interface ExecutionResult {
  readonly outcome: ExecutionOutcome;
  readonly reason: ExecutionReason | null;
  /** For people; secrets are redacted. */
  readonly message: string | null;
  /** Of the last program that ran. */
  readonly exitCode: number | null;
  readonly tool?: Tool;
  readonly plan?: ExecutionPlan;
  /** Values of sensitive outputs are in the clear: they are the caller's to seal. */
  readonly outputs?: MaskedOutputs;
  readonly resourceCount?: number;
  /** A state that the tool wrote and the sink did not take: the last chance to keep it. */
  readonly state?: Buffer;
  /** For the operator's log alone: what the executor process itself said. */
  readonly diagnostic?: string;
}
