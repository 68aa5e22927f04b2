import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import {
  type VariableCategory,
  type VariablePhase,
  type VariableSource,
  variablePhases,
} from '#domain/variables/model.ts';
import { copyReads, type RemoteStates, type SealedRead } from '../../references/model.ts';

/** The persons who provided secret variables, by the names of the variables. A secret without an entry counts as another person's. */
export type SecretGivers = Readonly<Record<string, string>>;

/** The inputs of a run, secrets included. They are sealed in its row; the worker that executes an attempt unseals them. */
export interface RunInputs {
  readonly variables: Record<string, JsonValue>;
  /** Names of the variables that are secret. */
  readonly sensitive: string[];
  /**
   * The sources of the variables that the request did not name, by the names of the variables. Inputs that an earlier release sealed have
   * none.
   */
  readonly sources?: Readonly<Record<string, VariableSource>>;
  /** Inputs that an earlier release sealed have none. */
  readonly secretGivers?: SecretGivers;
  readonly environment: EnvironmentInput[];
  /** The outputs of other instances that variables contain. Absent: none. */
  readonly reads?: readonly SealedRead[];
  /** The states that the data sources of the configuration read. Absent: none. */
  readonly remoteStates?: RemoteStates;
}

/** An environment variable of the run's tools. Inputs that an earlier release sealed have no phases: both phases get the variable. */
export interface EnvironmentInput {
  readonly name: string;
  readonly value: string;
  /** The value that planning gets instead of `value`. */
  readonly planValue?: string;
  readonly sensitive: boolean;
  readonly phases?: readonly VariablePhase[];
  /** The source of the variable. Inputs that an earlier release sealed have none: the source was the environment. */
  readonly source?: VariableSource;
}

/** The inputs as one phase gets them. */
export interface PhaseInputs extends Omit<RunInputs, 'environment' | 'sources' | 'secretGivers' | 'reads'> {
  readonly environment: PhaseVariable[];
}

interface PhaseVariable {
  readonly name: string;
  readonly value: string;
  readonly sensitive: boolean;
  /** The secret that the variable had in the earlier phase. This phase does not get it, but redacts it. */
  readonly hidden?: string;
}

export const inputsContext = (runId: string): SealContext => ['run-inputs', runId];

export function sealInputs(keyRing: KeyRing, runId: string, inputs: RunInputs): Buffer {
  return keyRing.sealJson(inputsContext(runId), inputs);
}

export function openInputs(keyRing: KeyRing, runId: string, sealed: Uint8Array): RunInputs {
  return keyRing.openJson<RunInputs>(inputsContext(runId), sealed);
}

/** The inputs of a run, for another run that repeats them together with the outputs that the first one read. */
export function openInputsToRepeat(keyRing: KeyRing, runId: string, sealed: Uint8Array): RunInputs {
  const inputs = openInputs(keyRing, runId, sealed);
  return inputs.reads ? { ...inputs, reads: copyReads(inputs.reads) } : inputs;
}

/**
 * The inputs that one phase gets: no variable of another phase, and no value for applying while it plans. The executor still knows such
 * secrets of earlier runs, to redact them (`findStateSecrets`), and passes them to no program.
 */
export function inputsOfPhase(inputs: RunInputs, phase: AttemptPhase): PhaseInputs {
  const given = phase === 'planning' ? 'plan' : 'apply';
  const { variables, sensitive, remoteStates } = inputs;
  const environment = inputs.environment
    .filter(({ phases }) => phases?.includes(given) ?? true)
    .map((variable) => variableOfPhase(variable, given));
  return { variables, sensitive, environment, ...(remoteStates && { remoteStates }) };
}

function variableOfPhase({ name, value, planValue, sensitive }: EnvironmentInput, phase: VariablePhase): PhaseVariable {
  if (planValue === undefined) return { name, value, sensitive };
  if (phase === 'plan') return { name, value: planValue, sensitive };
  return { name, value, sensitive, ...(sensitive && { hidden: planValue }) };
}

/** The source of a variable that its run shows. Variables that the request itself named have no entry. */
export interface ShownSource extends VariableSource {
  readonly variable: string;
  readonly category: VariableCategory;
}

/**
 * The sources of the template variables that a run did not name itself, by name: its deployment, else its environment. The deployment takes
 * precedence.
 */
export function sourcesOf(
  given: Readonly<Record<string, { readonly source: VariableSource }>>,
  deployment: RunInputs | undefined,
  requested: Readonly<Record<string, unknown>>,
): Record<string, VariableSource> {
  const ofEnvironment = Object.entries(given).map(([name, { source }]) => [name, source] as const);
  const inherited = Object.keys(deployment?.variables ?? {});
  const isInherited = ([name]: readonly [string, VariableSource]) => inherited.includes(name);
  const isOverridden = (name: string) => Object.hasOwn(requested, name);
  const sources = ofEnvironment.filter((each) => !isInherited(each));
  const ofDeployment = Object.entries(deployment?.sources ?? {}).filter(isInherited);
  return Object.fromEntries([...sources, ...ofDeployment].filter(([name]) => !isOverridden(name)));
}

/** The sources that a run shows, by category and name. */
export function showSources({ variables, sources = {}, environment }: RunInputs): ShownSource[] {
  const ofTemplate = Object.entries(sources)
    .filter(([name]) => Object.hasOwn(variables, name))
    .map(([variable, source]): ShownSource => ({ variable, category: 'template', ...source }));
  const ofTools = environment.flatMap(({ name, source }): ShownSource[] =>
    source ? [{ variable: name, category: 'env', ...source }] : [],
  );
  return [...ofTemplate, ...ofTools];
}

/** Tells secret values from each other: equal values have equal hashes. */
export type SecretHash = (value: JsonValue) => string;

/**
 * Compares secrets of runs by a keyed hash of their values. A secret that was set to the same value again, or that now comes from another
 * source, counts as equal.
 * @param scope the id of what is compared, such as an instance. Hashes of different scopes cannot be compared, so the secrets of different
 * tenants cannot be compared either
 */
export function secretHashOf(keyRing: KeyRing, scope: string): SecretHash {
  return (value) => keyRing.digest(['secret-comparison', scope], canonicalJson(value));
}

/**
 * The form in which two environment variables of a run's tools are compared. Inputs that an earlier release sealed name no phases: the
 * variable applied to all of them.
 */
export function comparableVariable(
  { value, planValue, sensitive, phases = variablePhases }: EnvironmentInput,
  hash: SecretHash,
): JsonValue {
  const compared = (text: string) => (sensitive ? hash(text) : text);
  return {
    value: compared(value),
    plan_value: planValue === undefined ? null : compared(planValue),
    sensitive,
    phases: [...phases].sort(),
  };
}
