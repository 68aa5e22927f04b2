import type { Em } from '#database/database.ts';
import type { JsonValue } from '#domain/runs/model.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import { readVariables } from './variable-store.ts';

/** What an environment gives its runs, secrets included: never to be shown, logged or told to the engine. */
export interface EnvironmentVariables {
  /** Defaults for the template's variables of these names. */
  readonly template: Record<string, { value: JsonValue; sensitive: boolean }>;
  /** Environment variables of the run's tools. */
  readonly env: { name: string; value: string; sensitive: boolean }[];
}

/** To which variable a sealed value belongs: copied to another name or environment, it does not open. */
export function variableContext(environmentId: string, name: string): SealContext {
  return ['environment-variable', environmentId, name];
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
    const { name, category, sensitive } = row;
    const value = openValue(keyRing, environmentId, row);
    if (category === 'template') loaded.template[name] = { value, sensitive };
    else loaded.env.push({ name, value: asText(name, value), sensitive });
  }
  return loaded;
}

type VariableRow = Awaited<ReturnType<typeof readVariables>>[number];

function openValue(keyRing: KeyRing, environmentId: string, { name, value, sealedValue }: VariableRow): JsonValue {
  if (sealedValue === null) return value;
  return keyRing.openJson<JsonValue>(variableContext(environmentId, name), sealedValue);
}

/** What is written is checked to be text; anything else was not written by this service. */
function asText(name: string, value: JsonValue): string {
  if (typeof value !== 'string') throw new Error(`the environment variable ${name} holds something other than text`);
  return value;
}
