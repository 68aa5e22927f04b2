import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { LogMessage, StateMessage } from './messages.ts';
import type { StepKind, WireRequest, WireStep } from './request-schema.ts';
import type { WireResult } from './result-schema.ts';

/**
 * What a worker asks an executor to do, and what it gets back: the messages of the protocol, with the bytes of their bodies. The schemas
 * declare the fields, so that none is lost between the worker and the host.
 */

export interface CommandStep extends Omit<WireStep, 'timeoutMs'> {
  /** A duration such as `PT30M` or `30m`. */
  readonly timeout?: string | undefined;
}

export type OpenTofuExecutor = Extract<WireRequest['executor'], { kind: 'opentofu' }>;
type WireCommand = Extract<WireRequest['executor'], { kind: 'command' }>;
export type CommandExecutor = {
  readonly [Name in keyof WireCommand]: Name extends StepKind ? StepsOf<WireCommand[Name]> : WireCommand[Name];
};
type StepsOf<Wired> = Wired extends readonly WireStep[] ? readonly CommandStep[] : Wired;

/** A template's executor together with its files. */
export type ResolvedExecutor = OpenTofuExecutor | CommandExecutor;

export type ExecutionPhase = WireRequest['phase'];
export type Tool = NonNullable<WireRequest['tool']>;
export type ExecutionLimits = WireRequest['limits'];
export type EnvironmentVariable = WireRequest['environment'][number];
export type EnvironmentFile = NonNullable<WireRequest['environmentFiles']>[number];
/** What the programs of a pool's runs can reach on the network. */
export type EgressPolicy = WireRequest['egress'];

export interface ExecutionRequest extends Omit<WireRequest, 'executor' | 'modules' | 'toolPath'> {
  readonly executor: ResolvedExecutor;
  readonly modules?: KeptModules | null | undefined;
  /** The latest state: OpenTofu's own, or a command template's `state.json`. */
  readonly state: Buffer | null;
  /** For `apply`: the artifact that the plan phase returned. */
  readonly artifact: Buffer | null;
}

/** A piece of log without its secrets. It holds bytes, so NUL and broken UTF-8 arrive as they were printed. */
export interface LogChunk extends Omit<LogMessage, 'type' | 'attempt'> {
  /** Never cut inside a character of well-formed UTF-8. */
  readonly content: Buffer;
}

export type StateMeta = Omit<StateMessage, 'type' | 'attempt'>;

/**
 * Receives an attempt's log and states. A call is made once the one before it of the same kind has been answered. Rejecting
 * a log chunk or a state stops the attempt (`logs_not_saved`, `state_not_saved`), so a sink must retry temporary errors itself.
 */
export interface ExecutionSink {
  log(chunk: LogChunk): Promise<void>;
  /** Resolves once the state is durable; only then does the tool get its answer. */
  state(content: Buffer, meta: StateMeta): Promise<void>;
}

export type ExecutionOutcome = WireResult['outcome'];

export interface ExecutionPlan extends Readonly<NonNullable<WireResult['plan']>> {
  /** What the apply phase needs; empty for `detect`. It contains secrets. */
  readonly artifact: Buffer;
}

export interface ExecutionResult extends Readonly<Omit<WireResult, 'plan' | 'modules' | 'spans'>> {
  readonly plan?: ExecutionPlan;
  readonly modules?: KeptModules;
  /** The debug log of the tool, redacted. It may contain secrets that nobody declared. */
  readonly debugLog?: Buffer;
  /** For the operator's log only: what the executor process printed about itself. */
  readonly diagnostic?: string;
}
