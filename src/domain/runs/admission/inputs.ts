import type { JsonValue } from '#domain/shared/json.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

/** The inputs of a run, secrets included. They are sealed in its row; the worker that executes an attempt unseals them. */
export interface RunInputs {
  readonly variables: Record<string, JsonValue>;
  /** Names of the variables that are secret. */
  readonly sensitive: string[];
  readonly environment: { name: string; value: string; sensitive: boolean }[];
}

const context = (runId: string): SealContext => ['run-inputs', runId];

export function sealInputs(keyRing: KeyRing, runId: string, inputs: RunInputs): Buffer {
  return keyRing.sealJson(context(runId), inputs);
}

export function openInputs(keyRing: KeyRing, runId: string, sealed: Uint8Array): RunInputs {
  return keyRing.openJson<RunInputs>(context(runId), sealed);
}
