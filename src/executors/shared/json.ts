import { parseExactJson, type ReadOptions } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { messageOf } from './errors.ts';

export type JsonObject = { [key: string]: JsonValue };

/** Parses JSON that a tool or a template wrote, with all digits of its numbers. @throws Error that does not quote the content */
export function parseJson(content: Buffer, options: ReadOptions = {}): JsonValue {
  return parseExactJson(decode(content), options);
}

/** Parses a JSON object. @throws what `refuse` makes of the reason, which is `otherwise` if the content is another JSON value */
export function parseObject(content: Buffer, refuse: (why: string) => Error, otherwise: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(content);
  } catch (error) {
    throw refuse(messageOf(error));
  }
  if (isObject(value)) return value;
  throw refuse(otherwise);
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Error('it is not valid JSON in UTF-8');
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value);
}

export function asArray(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
