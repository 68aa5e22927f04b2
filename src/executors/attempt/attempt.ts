import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { OutputListener } from '#executors/output/output-recorder.ts';
import type { HostSettings } from '../protocol/host-settings.ts';
import type { ExecutionPlan, Tool } from '../protocol/request.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { CheckReport } from '../protocol/result-schema.ts';
import type { Mount } from '../sandbox/bubblewrap.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import type { Step } from '../sandbox/script.ts';
import type { Environment } from '../shared/environment.ts';
import type { AttemptControl } from './attempt-control.ts';
import type { DebugLog } from './debug-log.ts';
import type { DiagnosticList } from './diagnostic-list.ts';
import type { StateKeeper } from './state-keeper.ts';
import type { JobFile } from './work-files.ts';

/** Serves the attempt's state over HTTP. */
export interface StateHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** Access to private modules. It is open while `init` runs. */
export interface ModuleAccess {
  /** Variables that direct git to it. */
  readonly environment: Environment;
  /** Blocks for the settings of the tool, which direct the tool to it. */
  readonly settings: string;
  close(): Promise<void>;
}

/** What the programs of a job can reach: the attempt's state, and the network that the pool's egress policy allows. */
interface JobNetwork {
  readonly state: boolean;
  readonly egress: boolean;
}

/** A step, its title, the exit codes that it may end with, and its line in the log. */
export interface JobStep extends Step {
  /** Names the step in messages. */
  readonly title: string;
  /** Exit codes after which the next step runs; 0 alone by default. */
  readonly expected?: readonly number[];
  /** A line that is logged before the step starts. */
  readonly note?: string;
}

export interface JobSpec<Collected> {
  readonly steps: readonly JobStep[];
  /**
   * Files by path. A path that ends in `/` is a directory. Paths below `work/` go to the work directory. All others are placed beside it,
   * read-only.
   */
  readonly files: ReadonlyMap<string, JobFile>;
  readonly mounts?: readonly Mount[];
  /** Variables for this job's programs, in addition to the attempt's own. */
  readonly environment?: (paths: JobPaths) => Environment;
  /** The directory in which the steps start, relative to the work directory. */
  readonly startIn?: string;
  readonly network: JobNetwork;
  readonly wantsPipes?: boolean;
  /** Captures standard output, up to this many bytes, instead of logging it. */
  readonly captureBytes?: number;
  /** Leaves out the variables of the run's environment, for a job that only reads. */
  readonly withoutRunEnvironment?: boolean;
  /** Reads what the steps left behind, once all their processes have ended. Called even if a step failed. */
  readonly collect?: (results: Results, code: number) => Promise<Collected | undefined>;
}

/** Files that a job left behind. The template controls their content. */
export interface Results {
  /** @throws Error that says what is wrong with the file */
  read(path: string, maximumBytes: number): Promise<Buffer | null>;
  /** Reads the last bytes of a file. @throws Error that says what is wrong with the file */
  readEnd(path: string, maximumBytes: number): Promise<Buffer | null>;
  /** Lists the paths of the files below a directory. */
  list(path: string, maxFiles: number): Promise<string[]>;
}

export interface JobResult<Collected> {
  /** How many steps have ended. */
  readonly steps: number;
  /** The exit code of the last step that ended. */
  readonly code: number;
  readonly captured: Buffer;
  /** Whether the program printed more than `captureBytes`. */
  readonly isTruncated: boolean;
  readonly collected: Collected | undefined;
}

/** An attempt, as the OpenTofu and command executors see it. */
export interface Attempt {
  readonly request: WireRequest;
  readonly artifact: Buffer | null;
  /** The modules that earlier runs of the version used; null if unknown. */
  readonly modules: KeptModules | null;
  readonly settings: HostSettings;
  readonly redactor: Redactor;
  readonly state: StateKeeper;
  readonly control: AttemptControl;
  /** The attempt's directory on the host. Jobs do not see it unless it is mounted. */
  readonly directory: string;
  /** Returns the path at which a job sees a mount. */
  mountedPath(mount: Mount): string;
  /** Returns the path at which the host can reach a tool that the worker names. */
  toolPath(path: string): string;
  /** Opens the attempt's only connection out of its sandboxes. Returns the origin at which programs reach it. */
  openRelay(state: StateHandler | null): Promise<string>;
  /** Opens access to private modules. Call it after `openRelay`, and close it when `init` has ended. */
  openModules(): Promise<ModuleAccess>;
  /**
   * Why the egress policy of the pool keeps even the service from reaching the host of a repository, in words for the log; null if it does
   * not.
   */
  findObstacle(url: URL): Promise<string | null>;
  /** Runs steps to their end and logs their output. @throws AttemptFailure if the attempt was stopped */
  runJob<Collected>(spec: (paths: JobPaths) => JobSpec<Collected>): Promise<JobResult<Collected>>;
  /** Logs a line of the service itself. */
  note(text: string): void;
  /** Returns the end of the programs' standard error, redacted. */
  lastErrors(): string;
  /** The messages of the tool or of the steps; part of the attempt's result. */
  readonly diagnostics: DiagnosticList;
  /** The debug log of the tool, if the run requests one. */
  readonly debugLog: DebugLog;
  /** Passes the programs' redacted output to a listener, in addition to the log. */
  listen(listener: OutputListener): void;
}

/** The results of an attempt that succeeded. */
export interface AttemptSuccess {
  readonly plan?: ExecutionPlan;
  readonly check?: CheckReport;
  readonly outputs?: MaskedOutputs;
  readonly resourceCount?: number;
  /** The exact modules from elsewhere that `init` fetched, if they were not known before. */
  readonly modules?: KeptModules;
  readonly tool?: Tool;
}
