import type { JsonValue } from '#domain/shared/values/json.ts';

export type JsonObject = { [key: string]: JsonValue };

/** Parses JSON that a template wrote. @throws Error that does not quote the content */
export function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw new Error('it is not valid JSON in UTF-8');
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asArray(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
