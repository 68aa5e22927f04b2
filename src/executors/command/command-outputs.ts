import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { markSensitiveOutputs, parseOutputs } from '../attempt/outputs.ts';

/** Reads a command template's `outputs.json`, an object of names and values. @throws AttemptFailure `outputs_invalid` */
export function readCommandOutputs(attempt: Attempt, content: Buffer): MaskedOutputs {
  const outputs = parseOutputs(content);
  const plain = Object.entries(outputs).map(([name, value]) => [name, { value, sensitive: false }]);
  return markSensitiveOutputs(attempt, Object.fromEntries(plain));
}
