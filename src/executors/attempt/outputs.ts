import type { MaskedOutputs } from '#domain/runs/model.ts';
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

/** Marks outputs as sensitive if the tool or the template says so, or if they contain a known secret. */
export function markSensitiveOutputs({ redactor, request }: Attempt, outputs: MaskedOutputs): MaskedOutputs {
  const marked = Object.entries(outputs).map(([name, { value, sensitive }]) => {
    const isDeclared = request.outputs[name]?.sensitive === true;
    const isSensitive = sensitive || isDeclared || (value !== null && redactor.contains(value));
    return [name, { value, sensitive: isSensitive }];
  });
  return Object.fromEntries(marked);
}
