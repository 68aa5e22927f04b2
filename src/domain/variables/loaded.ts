import type { Em } from '#database/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readGivenVariables } from './environment-values-store.ts';
import { planValueContext, type VariableHolder, valueContext } from './holders.ts';
import type { VariablePhase, VariableSource } from './model.ts';

/** The variables that an environment gives its runs. They contain secrets. Never show or log them, or pass them to the engine. */
export interface EnvironmentVariables {
  /** Defaults for the template's variables of these names. */
  readonly template: Record<string, { value: JsonValue; sensitive: boolean; source: VariableSource }>;
  /** Environment variables of the run's tools, ordered by name, each with the phases in which the tools get it. */
  readonly env: GivenVariable[];
}

/** An environment variable of the run's tools. `planValue` is the value that planning gets instead of `value`. */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly planValue?: string;
  readonly sensitive: boolean;
  readonly phases: readonly VariablePhase[];
  /** The environment or the set that gives it. */
  readonly source: VariableSource;
}

/** The variables that a run in this environment gets from it and from the sets that are attached to it or to its project. */
export async function loadEnvironmentVariables(
  em: Em,
  keyRing: KeyRing,
  environmentId: string,
): Promise<EnvironmentVariables> {
  const template: EnvironmentVariables['template'] = Object.create(null);
  const env = new Map<string, GivenVariable>();
  for (const row of nearestOf(await readGivenVariables(em, { environmentId }))) {
    const { name, category, sensitive, phases } = row;
    const source: VariableSource = { kind: row.holderKind, id: row.holderId, name: row.holderName };
    const value = openValue(keyRing, row);
    if (category === 'template') template[name] = { value, sensitive, source };
    else
      env.set(name, {
        name,
        value: asText(name, value),
        ...openPlanValue(keyRing, row),
        sensitive,
        phases,
        source,
      });
  }
  return { template, env: [...env.values()].sort((one, other) => (one.name < other.name ? -1 : 1)) };
}

type VariableRow = Awaited<ReturnType<typeof readGivenVariables>>[number];

/** The last row of each category and name, which takes precedence. The secrets of the others are never decrypted. */
function nearestOf(rows: readonly VariableRow[]): VariableRow[] {
  return [...new Map(rows.map((row) => [`${row.category} ${row.name}`, row])).values()];
}

function holderOf({ holderKind, holderId }: VariableRow): VariableHolder {
  return { kind: holderKind, id: holderId };
}

function openValue(keyRing: KeyRing, row: VariableRow): JsonValue {
  const { name, value, sealedValue } = row;
  return sealedValue === null ? value : keyRing.openJson<JsonValue>(valueContext(holderOf(row), name), sealedValue);
}

function openPlanValue(keyRing: KeyRing, row: VariableRow) {
  const { name, planValue, sealedPlanValue } = row;
  if (planValue === null && sealedPlanValue === null) return {};
  const opened =
    sealedPlanValue === null
      ? planValue
      : keyRing.openJson<JsonValue>(planValueContext(holderOf(row), name), sealedPlanValue);
  return { planValue: asText(name, opened) };
}

/** `setVariable` accepts only text, so any other value was not written by it. */
function asText(name: string, value: JsonValue): string {
  if (typeof value !== 'string') throw new Error(`the environment variable ${name} holds something other than text`);
  return value;
}
