import type { Em } from '#database/database.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { VariablePhase } from './variable-model.ts';
import { readVariables } from './variable-store.ts';

/** The variables that an environment gives its runs. They hold secrets: never show or log them, or pass them to the engine. */
export interface EnvironmentVariables {
  /** Defaults for the template's variables of these names. */
  readonly template: Record<string, { value: JsonValue; sensitive: boolean }>;
  /** Environment variables of the run's tools, each with the phases in which they get it. */
  readonly env: GivenVariable[];
}

/** An environment variable of the run's tools. `planValue` is what planning gets in place of the value. */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly planValue?: string;
  readonly sensitive: boolean;
  readonly phases: readonly VariablePhase[];
  readonly revision: number;
}

/** Binds a sealed value to its variable: copied to another name or environment, it does not open. */
export function variableContext(environmentId: string, name: string): SealContext {
  return ['environment-variable', environmentId, name];
}

export function planValueContext(environmentId: string, name: string): SealContext {
  return ['environment-variable-plan', environmentId, name];
}

/** The variables that a run in this environment gets, by name. */
export async function loadEnvironmentVariables(
  em: Em,
  keyRing: KeyRing,
  environmentId: string,
): Promise<EnvironmentVariables> {
  const rows = await readVariables(em, environmentId);
  const loaded: EnvironmentVariables = { template: Object.create(null), env: [] };
  for (const row of rows) {
    const { name, category, sensitive, phases, revision } = row;
    const value = openValue(keyRing, environmentId, row);
    if (category === 'template') loaded.template[name] = { value, sensitive };
    else {
      const plan = openPlanValue(keyRing, environmentId, row);
      loaded.env.push({ name, value: asText(name, value), ...plan, sensitive, phases, revision });
    }
  }
  return loaded;
}

type VariableRow = Awaited<ReturnType<typeof readVariables>>[number];

function openValue(keyRing: KeyRing, environmentId: string, { name, value, sealedValue }: VariableRow): JsonValue {
  if (sealedValue === null) return value;
  return keyRing.openJson<JsonValue>(variableContext(environmentId, name), sealedValue);
}

function openPlanValue(keyRing: KeyRing, environmentId: string, { name, planValue, sealedPlanValue }: VariableRow) {
  if (planValue === null && sealedPlanValue === null) return {};
  const opened =
    sealedPlanValue === null
      ? planValue
      : keyRing.openJson<JsonValue>(planValueContext(environmentId, name), sealedPlanValue);
  return { planValue: asText(name, opened) };
}

/** `setVariable` accepts only text, so any other value was not written by it. */
function asText(name: string, value: JsonValue): string {
  if (typeof value !== 'string') throw new Error(`the environment variable ${name} holds something other than text`);
  return value;
}
