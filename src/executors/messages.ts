import type {
  CommandExecutor,
  CommandStep,
  ExecutionPlan,
  ExecutionRequest,
  ExecutionResult,
  LogChunk,
  OpenTofuExecutor,
  Progress,
  StateMeta,
} from './protocol.ts';

/**
 * What a worker and its executor processes say to each other. Everything crosses one pipe as frames (`frames.ts`): a
 * message as JSON, and bytes beside it where there are some.
 */

/** The request as it crosses the pipe; state and artifact travel beside it. */
export interface WireRequest extends Omit<ExecutionRequest, 'state' | 'artifact' | 'executor' | 'workRoot' | 'user'> {
  readonly executor: OpenTofuExecutor | (Omit<CommandExecutor, StepKind> & Partial<Record<StepKind, WireStep[]>>);
  /** The attempt's own directory, made by the worker and owned by the executor's user. */
  readonly directory: string;
  readonly toolPath: string | null;
}

export type StepKind = 'plan' | 'apply' | 'destroy' | 'detect';
export interface WireStep extends Omit<CommandStep, 'timeout'> {
  readonly timeoutMs: number | null;
}

export type WireResult = Omit<ExecutionResult, 'plan' | 'state' | 'diagnostic'> & {
  readonly plan?: Omit<ExecutionPlan, 'artifact'>;
};

/** Worker → executor. `state` and `artifact` come before the `request` they belong to. */
export type WorkerMessage =
  | { readonly type: 'state' | 'artifact' }
  | { readonly type: 'request'; readonly request: WireRequest }
  | { readonly type: 'cancel' }
  | { readonly type: 'ack'; readonly of: 'log' | 'state'; readonly id: number; readonly ok: boolean };

/**
 * Executor → worker. `log` wants an `ack` of its sequence, `state` of its write; `artifact` and `unsaved` come before the
 * `result` they belong to.
 */
export type ExecutorMessage =
  | ({ readonly type: 'log' } & Omit<LogChunk, 'content'>)
  | ({ readonly type: 'state' } & StateMeta)
  | ({ readonly type: 'progress' } & Progress)
  | { readonly type: 'artifact' | 'unsaved' }
  | { readonly type: 'result'; readonly result: WireResult; readonly hasCleaned: boolean };
