import type { Mount } from './bubblewrap.ts';
import type { JobLimits } from './job-limits.ts';
import type { JobPaths } from './job-paths.ts';
import type { JobProcess } from './job-process.ts';
import type { JobSteps } from './script.ts';

/** A job to start. */
export interface JobRequest extends JobSteps {
  /** The job's own directory on the host, with the directory `input` and `input/work` in it. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  /** The host's socket that the sandbox's relay connects to; null: the job reaches nothing. */
  readonly relaySocket: string | null;
  /** Whether programs print into pipes, which scripts can open by name, instead of sockets. */
  readonly wantsPipes: boolean;
  readonly limits: JobLimits;
}

export interface Usage {
  readonly processes: number;
  /** 0 if a control group limits memory. */
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  readonly openFiles: number;
  readonly diskBytes: number;
  /** Whether a control group killed a process because memory ran out. */
  readonly ranOutOfMemory: boolean;
  /** Whether a control group refused to start another process. */
  readonly ranOutOfProcesses: boolean;
}

/** A running job. */
export interface LaunchedJob {
  readonly job: JobProcess;
  readonly paths: JobPaths;
  usage(): Promise<Usage>;
  /** Ends every process that still lives. Resolves to false if one could not be ended. */
  clear(): Promise<boolean>;
  /** Removes what `clear` leaves: the job's files and its control group. */
  remove(): Promise<void>;
}

/** Starts jobs, in sandboxes or without. */
export interface JobLauncher {
  readonly isolation: 'sandbox' | 'none';
  /** Returns the paths that a job with this directory will have. */
  pathsFor(directory: string): JobPaths;
  /** Returns the path at which a job sees a mount: its target in a sandbox, otherwise its source. */
  mountedPath(mount: Mount): string;
  /** Starts a job. From then on, the job owns the content of `input` in its directory. */
  start(request: JobRequest): Promise<LaunchedJob>;
  /** Ends the sandboxes that wait for later jobs. */
  close(): void;
}
