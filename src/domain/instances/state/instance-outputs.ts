import { isDeepStrictEqual } from 'node:util';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { Instance } from '../entity.ts';
import { outputsContext } from '../seals.ts';
import { withSecrets } from '../secret-outputs.ts';
import { maskOutputs } from './masked-outputs.ts';

/** The outputs in a state, and which of them are secret. */
export interface WrittenOutputs {
  readonly outputs: MaskedOutputs;
  /**
   * The names of secret outputs besides those that the state marks. Undefined: the worker does not know them, so outputs that were secret
   * stay secret.
   */
  readonly secret: readonly string[] | undefined;
  /** Whether earlier outputs that are null stay, because the tools leave null outputs out of their states. */
  readonly keepsNulls: boolean;
}

/** Replaces the outputs of an instance, unless they are the same. The caller has locked its row. */
export function recordOutputs(keyRing: KeyRing, instance: Instance, outputs: MaskedOutputs): void {
  if (instance.sealedOutputs && isDeepStrictEqual(openOutputs(keyRing, instance), outputs)) return;
  instance.outputs = maskOutputs(outputs);
  instance.sealedOutputs = keyRing.sealJson(outputsContext(instance.id), outputs);
}

/** Replaces the outputs of an instance by those of a state: the latest state counts, even if the run that wrote it failed. */
export function recordWrittenOutputs(keyRing: KeyRing, instance: Instance, written: WrittenOutputs): void {
  const before = openOutputs(keyRing, instance);
  const known = Object.entries(before);
  const secret = written.secret ?? known.flatMap(([name, { sensitive }]) => (sensitive ? [name] : []));
  const nulls = written.keepsNulls
    ? known.filter(([, { value, unrepresentable }]) => value === null && !unrepresentable)
    : [];
  recordOutputs(keyRing, instance, { ...Object.fromEntries(nulls), ...withSecrets(written.outputs, secret) });
}

/** Marks outputs of an instance as secret that a state marks, even if the last run did not. */
export function raiseOutputs(keyRing: KeyRing, instance: Instance, secret: readonly string[]): void {
  const isOpen = (name: string) => Object.hasOwn(instance.outputs, name) && !instance.outputs[name]?.sensitive;
  if (!secret.some(isOpen) || !instance.sealedOutputs) return;
  recordOutputs(keyRing, instance, withSecrets(openOutputs(keyRing, instance), secret));
}

function openOutputs(keyRing: KeyRing, { id, sealedOutputs }: Instance): MaskedOutputs {
  return sealedOutputs ? keyRing.openJson<MaskedOutputs>(outputsContext(id), sealedOutputs) : {};
}
