import type { JsonValue } from '#domain/shared/values/json.ts';
import type { RevisionCheck } from '#domain/tenancy/model.ts';

/** `template`: a default for the template's variable of that name; `env`: an environment variable of the run's tools. */
export const variableCategories = ['template', 'env'] as const;
export type VariableCategory = (typeof variableCategories)[number];

/** The phases of a run in which its tools get a variable. */
export const variablePhases = ['plan', 'apply'] as const;
export type VariablePhase = (typeof variablePhases)[number];

/** A variable to be set. */
export interface NewVariable extends RevisionCheck {
  readonly name: string;
  /** Undefined: a sensitive variable keeps its value, so the caller need not know it. */
  readonly value?: JsonValue | undefined;
  /** The value for planning. Undefined: it stays as it is; null: planning gets `value`. */
  readonly planValue?: JsonValue | undefined;
  /** True: refuses a change that leaves no value for planning. */
  readonly hasPlanValue?: boolean | undefined;
  readonly category: VariableCategory;
  readonly sensitive: boolean;
  /** Undefined: an existing variable keeps its phases, and tools get a new one in all phases. */
  readonly phases?: readonly VariablePhase[] | undefined;
}

/** The source that gave a run a variable. `name` is the name of the set or environment at that time. */
export interface VariableSource {
  readonly kind: 'environment' | 'variable_set';
  readonly id: string;
  readonly name: string;
}

/** How many variables a holder may have. */
export const maxVariables = 500;
