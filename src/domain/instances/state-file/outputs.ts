import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { JsonCursor } from './json-cursor.ts';
import { runInTurns } from './turns.ts';

/** An import with larger outputs is refused, because answers and events would have to contain them. */
export const maxOutputBytes = 1024 * 1024;

/** The outputs of a tool's state; null if they are larger than `maxLength`. The caller has checked that the content is a state. */
export function parseOutputs(content: Uint8Array, maxLength: number): Promise<MaskedOutputs | null> {
  return runInTurns(findOutputs(content, maxLength));
}

function* findOutputs(content: Uint8Array, maxLength: number): Generator<void, MaskedOutputs | null> {
  const cursor = new JsonCursor(content);
  for (const name of cursor.keys()) {
    if (name !== 'outputs') {
      yield* cursor.skipInTurns();
      continue;
    }
    const text = yield* cursor.source();
    return text.length > maxLength ? null : toOutputs(parseExactJson(text));
  }
  return {};
}

/** Tools omit the member `sensitive` for outputs that are not secret. */
function toOutputs(outputs: unknown): MaskedOutputs {
  const entries = Object.entries(Object(outputs)).map(([name, output]) => {
    const { value = null, sensitive = false } = Object(output);
    return [name, { value, sensitive: sensitive !== false }];
  });
  return Object.fromEntries(entries);
}
