import type { Mount } from './bubblewrap.ts';
import type { EnclosureLimits } from './enclosure-limits.ts';
import type { Job } from './job.ts';
import type { Places } from './places.ts';
import type { JobSteps } from './script.ts';

/** What a job needs of the place in which it runs. */
export interface JobRequest extends JobSteps {
  /** The job's own directory on the host, with `input/work` and whatever else lies in `input`. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  /** The host's socket that a relay leads to; null: the job reaches nothing. */
  readonly relaySocket: string | null;
  /** Gives programs pipes instead of sockets to print into, which scripts may open by name. */
  readonly wantsPipes: boolean;
  readonly limits: EnclosureLimits;
}

export interface Usage {
  readonly processes: number;
  /** 0 where a control group limits it. */
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  readonly openFiles: number;
  readonly diskBytes: number;
  /** Whether a control group has killed a process because the memory was used up. */
  readonly ranOutOfMemory: boolean;
  /** Whether a control group has refused to start another process. */
  readonly ranOutOfProcesses: boolean;
}

/** A job that runs, and what has to be known of the place in which it does. */
export interface EnclosedJob {
  readonly job: Job;
  readonly places: Places;
  usage(): Promise<Usage>;
  /** Ends everything that still lives. False where something could not be ended. */
  clear(): Promise<boolean>;
  /** Removes what `clear` leaves: the place's own files and its control group. */
  remove(): Promise<void>;
}

export interface Enclosure {
  readonly isolation: 'sandbox' | 'none';
  /** Where a job with this directory will find its things. */
  placesOf(directory: string): Places;
  /** The path by which a job sees something of the host: where it is mounted, or where it is. */
  see(mount: Mount): string;
  /** Starts a job. What lies in the `input` of its directory is the enclosure's from then on. */
  start(request: JobRequest): Promise<EnclosedJob>;
  /** Ends what is kept ready for later jobs. */
  close(): void;
}
