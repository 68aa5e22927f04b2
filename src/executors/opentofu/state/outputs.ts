import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { Attempt, AttemptSuccess } from '../../attempt/attempt.ts';
import { markSensitiveOutputs, parseOutputs } from '../../attempt/outputs.ts';
import { isObject } from '../../shared/json.ts';
import { readStateDocument } from './state-document.ts';

/**
 * Reads outputs and the number of resources from the latest state. `runOutput` reads the outputs of a state that the template encrypts, and
 * `declared` has the outputs that the configuration declares.
 */
export async function readTofuOutputs(
  attempt: Attempt,
  runOutput: () => Promise<Buffer>,
  declared: readonly string[],
): Promise<AttemptSuccess> {
  const { content } = attempt.state;
  if (content === null) return { outputs: {}, resourceCount: 0 };
  const { outputs, resources, isEncrypted } = readStateDocument(content);
  if (!isEncrypted)
    return { outputs: markSensitiveOutputs(attempt, outputs, declared), resourceCount: resources.length };
  return { outputs: markSensitiveOutputs(attempt, readOutputCommand(await runOutput()), declared) };
}

/** Reads the JSON of `output -json`: name → {value, sensitive, type}. */
function readOutputCommand(content: Buffer): MaskedOutputs {
  const entries = Object.entries(parseOutputs(content)).map(([name, output]) => {
    const { value = null, sensitive = true } = isObject(output) ? output : {};
    return [name, { value, sensitive: sensitive !== false }];
  });
  return Object.fromEntries(entries);
}
