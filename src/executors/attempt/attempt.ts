import type { MaskedOutputs } from '#domain/runs/model.ts';
import type { StateHandler } from '../host/relay.ts';
import type { HostSettings } from '../host/settings.ts';
import type { StateKeeper } from '../opentofu/state-keeper.ts';
import type { WireRequest } from '../protocol/messages.ts';
import type { ExecutionPlan, Tool } from '../protocol/request.ts';
import type { Redactor } from '../redaction/redaction.ts';
import type { Mount } from '../sandbox/bubblewrap.ts';
import type { Places } from '../sandbox/places.ts';
import type { Step } from '../sandbox/script.ts';
import type { AttemptControl } from './attempt-control.ts';
import type { Environment } from './environment.ts';

/** What the programs of a job may reach: the attempt's state, and the way out that the pool's policy leaves. */
export interface JobNetwork {
  readonly state: boolean;
  readonly egress: boolean;
}

/** A step, and what is said and expected of it. */
export interface JobStep extends Step {
  /** Shown as progress. */
  readonly title: string;
  /** Exit codes after which the next step runs; default: 0 alone. */
  readonly expected?: readonly number[];
  /** A line for the log before it starts. */
  readonly note?: string;
}

export interface JobSpec<Collected> {
  readonly steps: readonly JobStep[];
  /** Files by path, and directories, whose paths end in `/`: what lies below `work/` goes to the work directory, the rest stays read-only beside it. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly mounts?: readonly Mount[];
  /** Of this job's programs, beside the attempt's own. */
  readonly environment?: (places: Places) => Environment;
  /** Where the steps start, below the work directory. */
  readonly startIn?: string;
  readonly network: JobNetwork;
  readonly wantsPipes?: boolean;
  /** Keep standard output, up to so many bytes, instead of logging it. */
  readonly captureBytes?: number;
  /** Whether the job gets the variables of the run's environment; a job that only reads gets none. */
  readonly isBare?: boolean;
  /** Reads what the steps left, once they have ended and nothing of them lives. Called whatever they came to. */
  readonly collect?: (results: Results, code: number) => Promise<Collected>;
}

/** Files that a job left behind. Everything in them is the template's word. */
export interface Results {
  /** @throws Error saying what is wrong with the file */
  read(path: string, maximumBytes: number): Promise<Buffer | null>;
  /** Paths of the files below a directory. */
  list(path: string, most: number): Promise<string[]>;
}

export interface JobResult<Collected> {
  /** How many steps ended. */
  readonly steps: number;
  /** The exit code of the last one. */
  readonly code: number;
  readonly captured: Buffer;
  /** More than was to be kept. */
  readonly isTruncated: boolean;
  readonly collected: Collected | undefined;
}

/** What the kinds of executor work with. */
export interface Attempt {
  readonly request: WireRequest;
  readonly artifact: Buffer | null;
  readonly settings: HostSettings;
  readonly redactor: Redactor;
  readonly state: StateKeeper;
  readonly control: AttemptControl;
  /** A directory of the attempt on the host, which no job sees unless it is mounted. */
  readonly directory: string;
  /** The path by which a job sees something of the host. */
  see(mount: Mount): string;
  /** Where the host can reach a tool that the worker names. */
  toolPath(path: string): string;
  /** Opens the attempt's way out of its sandboxes; answers the origin at which programs find it. */
  openRelay(state: StateHandler | null): Promise<string>;
  /** Runs steps to their end, their output going to the log. @throws AttemptFailure where the attempt was stopped */
  runJob<Collected>(spec: (places: Places) => JobSpec<Collected>): Promise<JobResult<Collected>>;
  /** Writes a line of the service's own into the log. */
  note(text: string): void;
  /** The end of what programs said on standard error; redacted. */
  lastErrors(): string;
}

/** What an attempt that succeeded has to show. */
export interface Performed {
  readonly plan?: ExecutionPlan;
  readonly outputs?: MaskedOutputs;
  readonly resourceCount?: number;
  readonly tool?: Tool;
}
