import type { JsonValue, MaskedOutputs } from '#domain/runs/model.ts';
import { isObject, readStateDocument } from '../opentofu/state-document.ts';
import type { Attempt, Performed } from './attempt.ts';
import { AttemptFailure, messageOf } from './attempt-error.ts';
import { parseJson } from './work-files.ts';

/** Outputs and size of what OpenTofu has deployed, from its latest state; `ask` is for a state that it encrypts itself. */
export async function readTofuOutputs(attempt: Attempt, ask: () => Promise<Buffer>): Promise<Performed> {
  const { content } = attempt.state;
  if (content === null) return { outputs: {}, resourceCount: 0 };
  const { outputs, resourceCount, isEncrypted } = readStateDocument(content);
  if (!isEncrypted) return { outputs: markSensitive(attempt, outputs), resourceCount };
  return { outputs: markSensitive(attempt, readOutputCommand(await ask())) };
}

/** A command template's `outputs.json`: an object of name → value. @throws AttemptFailure `outputs_invalid` */
export function readCommandOutputs(attempt: Attempt, content: Buffer): MaskedOutputs {
  const outputs = parseObject(content);
  const plain = Object.entries(outputs).map(([name, value]) => [name, { value, sensitive: false }]);
  return markSensitive(attempt, Object.fromEntries(plain));
}

/** `output -json`: name → {value, sensitive, type}. */
function readOutputCommand(content: Buffer): MaskedOutputs {
  const entries = Object.entries(parseObject(content)).map(([name, output]) => {
    const { value = null, sensitive = true } = isObject(output) ? output : {};
    return [name, { value, sensitive: sensitive !== false }];
  });
  return Object.fromEntries(entries);
}

function parseObject(content: Buffer): { [key: string]: JsonValue } {
  try {
    const value = parseJson(content) as JsonValue;
    if (isObject(value)) return value;
  } catch (error) {
    throw new AttemptFailure('outputs_invalid', `the outputs cannot be read: ${messageOf(error)}`);
  }
  throw new AttemptFailure('outputs_invalid', 'the outputs cannot be read: expected an object of names and values');
}

/** An output is secret where tool or template say so, and where it holds a secret that is known. */
function markSensitive({ redactor, request }: Attempt, outputs: MaskedOutputs): MaskedOutputs {
  const marked = Object.entries(outputs).map(([name, { value, sensitive }]) => {
    const isDeclared = request.outputs[name]?.sensitive === true;
    const isSensitive = sensitive || isDeclared || (value !== null && redactor.contains(value));
    return [name, { value, sensitive: isSensitive }];
  });
  return Object.fromEntries(marked);
}
