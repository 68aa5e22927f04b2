import { z } from 'zod';

const secretName = /pass(word|phrase)|secret|token|credential|private|^(api_)?key$/i;

type Schema = { readonly [name: string]: unknown };

/**
 * Fills every field of a request's body that is a secret by its schema (`writeOnly`) or by its name and has no value yet; answers
 * the body and every secret in it. A secret with several parts, such as the credentials of a connection, must have been given.
 */
export function fillSecrets(schema: z.ZodType, body: object, make: (field: string) => string) {
  const secrets: string[] = [];
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const filled = fill(json, body as Record<string, unknown>, '');
  return { body: filled, secrets };

  function fill(of: Schema, given: Record<string, unknown>, path: string): Record<string, unknown> {
    const result = { ...given };
    for (const [name, field] of propertiesOf(of)) {
      const at = `${path}${name}`;
      if (field['writeOnly'] === true || secretName.test(name)) result[name] = fillSecret(field, given[name], at);
      else if (isObject(given[name])) result[name] = fill(field, given[name], `${at}.`);
    }
    return result;
  }

  function fillSecret(field: Schema, given: unknown, path: string): unknown {
    const value = given ?? (typesOf(field).includes('string') ? make(path) : undefined);
    const parts = textsOf(value);
    if (parts.length === 0) throw new Error(`the body for the test says nothing for the secret field ${path}`);
    secrets.push(...parts);
    return value;
  }
}

/** The names of nodes of assemblies, which are keys too and no secrets. */
const isNode = (answer: Schema) => 'waits_for' in answer && 'run_id' in answer;

/** Every text in an answer under the name of a secret: keys, tokens, and links with tokens. */
export function secretsIn(answer: unknown): string[] {
  if (!isObject(answer) && !Array.isArray(answer)) return [];
  const fields = isObject(answer) && isNode(answer) ? { ...answer, key: null } : answer;
  return Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'string' && (secretName.test(name) || /url|link/i.test(name)) ? [value] : secretsIn(value),
  );
}

function propertiesOf(schema: Schema): [string, Schema][] {
  const options = [schema['anyOf'], schema['oneOf'], schema['allOf']].flatMap((each) => (each ?? []) as Schema[]);
  return [...Object.entries((schema['properties'] ?? {}) as Record<string, Schema>), ...options.flatMap(propertiesOf)];
}

function typesOf(schema: Schema): unknown[] {
  const options = [schema['anyOf'], schema['oneOf']].flatMap((each) => (each ?? []) as Schema[]);
  return [schema['type'], ...options.flatMap(typesOf)].flat();
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap(textsOf) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
