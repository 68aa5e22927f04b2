import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { Instance } from '../entity.ts';
import { outputsContext } from '../seals.ts';
import { withSecrets } from '../secret-outputs.ts';
import { maskOutputs } from './masked-outputs.ts';

/** The outputs that a state holds, and which of them are secret. */
export interface WrittenOutputs {
  readonly outputs: MaskedOutputs;
  /** The names of those that are secret beside those that the state marks. Undefined: the worker does not know, so what was secret stays secret. */
  readonly secret: readonly string[] | undefined;
  /** Whether outputs that were null stay. The tools leave outputs that are null out of their states. */
  readonly keepsNulls: boolean;
}

/** Makes these the outputs of an instance. The caller has locked its row. */
export function recordOutputs(keyRing: KeyRing, instance: Instance, outputs: MaskedOutputs): void {
  instance.outputs = maskOutputs(outputs);
  instance.sealedOutputs = keyRing.sealJson(outputsContext(instance.id), outputs);
}

/** Makes the outputs of a state those of its instance: the latest state says what they are, whatever became of the run that wrote it. */
export function recordWrittenOutputs(keyRing: KeyRing, instance: Instance, written: WrittenOutputs): void {
  const before = openOutputs(keyRing, instance);
  const known = Object.entries(before);
  const secret = written.secret ?? known.flatMap(([name, { sensitive }]) => (sensitive ? [name] : []));
  const nulls = written.keepsNulls
    ? known.filter(([, { value, unrepresentable }]) => value === null && !unrepresentable)
    : [];
  recordOutputs(keyRing, instance, { ...Object.fromEntries(nulls), ...withSecrets(written.outputs, secret) });
}

/** An output that a state marks as secret is one, whatever the last run said of it. */
export function raiseOutputs(keyRing: KeyRing, instance: Instance, secret: readonly string[]): void {
  const isOpen = (name: string) => Object.hasOwn(instance.outputs, name) && !instance.outputs[name]?.sensitive;
  if (!secret.some(isOpen) || !instance.sealedOutputs) return;
  recordOutputs(keyRing, instance, withSecrets(openOutputs(keyRing, instance), secret));
}

function openOutputs(keyRing: KeyRing, { id, sealedOutputs }: Instance): MaskedOutputs {
  return sealedOutputs ? keyRing.openJson<MaskedOutputs>(outputsContext(id), sealedOutputs) : {};
}
