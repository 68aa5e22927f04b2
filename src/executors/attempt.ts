import type { MaskedOutputs } from '#domain/runs/model.ts';
import type { AttemptControl } from './attempt-control.ts';
import type { Command, Exit } from './child-process.ts';
import type { Environment } from './environment.ts';
import type { WireRequest } from './messages.ts';
import type { ExecutionPlan, Tool } from './protocol.ts';
import type { Redactor } from './redaction.ts';
import type { StateKeeper } from './state-keeper.ts';

/** Directories of an attempt; all of them are its user's alone. */
export interface Places {
  readonly root: string;
  /** The template's files; where its programs start. */
  readonly work: string;
  /** What the service writes for the tool, apart from the template's files. */
  readonly service: string;
  readonly home: string;
  readonly temporary: string;
}

/** What the kinds of executor work with. */
export interface Attempt {
  readonly request: WireRequest;
  readonly artifact: Buffer | null;
  readonly places: Places;
  /** Of every program; each kind adds its own. */
  readonly environment: Environment;
  readonly redactor: Redactor;
  readonly state: StateKeeper;
  readonly control: AttemptControl;
  /** Runs a program to its end, its output going to the log. @throws AttemptFailure where the attempt was stopped */
  run(command: Command): Promise<Exit>;
  /** Writes a line of the service's own into the log. */
  note(text: string): void;
  progress(step: string): void;
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
