import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { MaskedOutput, MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import { maskNames } from '../redaction/masking.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { type JsonObject, parseObject } from '../shared/json.ts';
import type { Attempt } from './attempt.ts';

/** Parses a JSON object of outputs. @throws AttemptFailure `outputs_invalid` */
export function parseOutputs(content: Buffer): JsonObject {
  const refuse = (why: string) => new AttemptFailure('outputs_invalid', `the outputs cannot be read: ${why}`);
  return parseObject(content, refuse, 'they must be an object of names and values');
}

/**
 * Marks outputs as sensitive if the tool or the template says so, or if they contain a known secret. Redacts names, except those that the
 * template or its configuration declares, because everybody can read them there.
 */
export function markSensitiveOutputs(
  { redactor, request }: Attempt,
  outputs: MaskedOutputs,
  declared: readonly string[] = [],
): MaskedOutputs {
  const open = new Set([...Object.keys(request.outputs), ...declared]);
  const mark = (output: MaskedOutputs[string], name: string) => {
    const sensitive = isSecretOutput({ redactor, declared: request.outputs }, name, output);
    return { value: output.value, sensitive };
  };
  return maskNames(outputs, redactor, mark, open);
}

/** Decides, in addition to the tool, which outputs are secret. */
export interface OutputSecrets {
  readonly redactor: Redactor;
  /** The outputs that the template declares. */
  readonly declared: WireRequest['outputs'];
}

/** Whether an output is secret: the tool or the template marks it, or it contains a known secret. */
export function isSecretOutput(
  { redactor, declared }: OutputSecrets,
  name: string,
  { value, sensitive }: MaskedOutput,
): boolean {
  return sensitive || declared[name]?.sensitive === true || (value !== null && redactor.contains(value));
}
