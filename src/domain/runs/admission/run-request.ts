import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import type { RunOperation, RunTimeouts } from '#domain/shared/vocabulary/runs.ts';
import type { ToolDemand } from '#domain/tools/demand.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { RunOptions } from '../options/model.ts';
import type { OutputRead, SealedRead } from '../references/model.ts';
import type { VariableReset } from '../reset-model.ts';
import type { DeployedRun, Deployment } from './deployment.ts';
import type { SecretGivers, ShownSource } from './inputs/inputs.ts';

export interface RunRequest {
  /** Undefined: the version of the source or, for a destroy, of the deployment; the latest for everything else. */
  readonly version: string | undefined;
  readonly instance?: string | undefined;
  readonly operation: RunOperation;
  readonly replace: readonly string[];
  readonly options?: RunOptions | null | undefined;
  readonly variables: Record<string, JsonValue>;
  /**
   * Whether the requester wrote the variables, so that references to outputs of instances are resolved. Otherwise they are plain values,
   * and a text that looks like a reference stays that text: it may come from an output.
   */
  readonly resolvesReferences?: boolean;
  /** The outputs of other instances that these values contain. */
  readonly reads?: readonly SealedRead[];
  readonly message: string;
  /** Names of variables that are secret even if the template does not mark them. */
  readonly sensitive?: readonly string[];
  /** Who provided the secrets that the request names, by their names. Undefined: the requester. */
  readonly secretGivers?: SecretGivers;
  /** Names of variables that a destroy does not take from the deployment that it removes. */
  readonly omit?: readonly string[] | undefined;
  /**
   * Names to omit that neither the deployment nor the version has are accepted: they were checked when the work of a schedule was saved.
   */
  readonly acceptsUnknownOmit?: boolean;
  /** A policy that applies in addition to those of template and environment. */
  readonly approval?: ApprovalPolicy | null;
  /** The run from which a copy takes version and variables. */
  readonly source?: RunSource;
}

interface RunSource {
  readonly runId: string;
  readonly deployment: Deployment;
  /** Whether a copy names another instance or omits variables that its run has. */
  readonly isChanged?: boolean;
  /** Names to omit that the source does not have. They are refused unless the version has them. */
  readonly omittedAbsent?: readonly string[];
  /** The variables of the request that repeat a reference of the source, so that it is read again. */
  readonly readAgain?: Readonly<Record<string, JsonValue>>;
  /**
   * The deployment from which the run starts; undefined for a copy of a run. The run keeps its secrets. It is refused with the name of each
   * secret that it would lose or must not keep.
   */
  readonly deployed?: DeployedRun;
}

/** A run that is ready to be admitted: its version is chosen, and its inputs are complete, valid and sealed. */
export interface ResolvedRun {
  readonly id: string;
  readonly templateVersionId: string;
  readonly templateVersion: string;
  readonly operation: RunOperation;
  readonly replace: string[];
  readonly options: RunOptions | null;
  readonly instance: string;
  readonly variables: Record<string, JsonValue | Masked>;
  readonly variableSources: ShownSource[];
  readonly reads: OutputRead[];
  /** The variables of the deployment that the run resets, because its request does not name them. */
  readonly variableResets: readonly VariableReset[];
  readonly sealedInputs: Buffer;
  readonly message: string;
  readonly pool: string;
  /** The tools that it may use; null for commands. */
  readonly toolDemand: ToolDemand | null;
  /** The tool to which it switches its instance; null: none. */
  readonly toolSwitch: WantedTool | null;
  readonly retrySafe: boolean;
  readonly timeouts: RunTimeouts;
  readonly approval: ApprovalPolicy;
  readonly requeuedFrom: string | null;
}

export interface ResolveDeps {
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
}
