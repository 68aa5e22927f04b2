import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { maskNames } from '../redaction/masking.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { isObject, type JsonObject, parseJson } from '../shared/json.ts';
import type { Attempt } from './attempt.ts';

/** Parses a JSON object of outputs. @throws AttemptFailure `outputs_invalid` */
export function parseOutputs(content: Buffer): JsonObject {
  try {
    const value = parseJson(content);
    if (isObject(value)) return value;
  } catch (error) {
    throw new AttemptFailure('outputs_invalid', `the outputs cannot be read: ${messageOf(error)}`);
  }
  throw new AttemptFailure('outputs_invalid', 'the outputs cannot be read: they must be an object of names and values');
}

/**
 * Marks outputs as sensitive if the tool or the template says so, or if they contain a known secret. Names are redacted but for those that the template or
 * its configuration declares: their texts say them to everybody.
 */
export function markSensitiveOutputs(
  { redactor, request }: Attempt,
  outputs: MaskedOutputs,
  declared: readonly string[] = [],
): MaskedOutputs {
  const open = new Set([...Object.keys(request.outputs), ...declared]);
  const mark = ({ value, sensitive }: MaskedOutputs[string], name: string) => {
    const isDeclared = request.outputs[name]?.sensitive === true;
    return { value, sensitive: sensitive || isDeclared || (value !== null && redactor.contains(value)) };
  };
  return maskNames(outputs, redactor, mark, open);
}
