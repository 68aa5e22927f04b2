import { z } from 'zod';
import { type ConnectionKind, kindOf } from '#domain/connections/kinds/kinds.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';

/** A choice of the form for a new connection. A kind has one for each provider or protocol with its own fields. */
export interface Variant {
  readonly kind: ConnectionKind;
  readonly label: string;
  /** The provider in the config, which follows from the choice. */
  readonly provider?: string;
  /** A field that only the credentials of this variant have. Null: it has no credentials. Absent: the kind has one form of credentials. */
  readonly credential?: string | null;
}

/** All variants, by their names in the address. */
export const variants: Readonly<Record<string, Variant>> = {
  generic: { kind: 'generic', label: 'Variables and files' },
  aws: { kind: 'cloud', label: 'AWS', provider: 'aws', credential: 'access_key_id' },
  google: { kind: 'cloud', label: 'Google Cloud', provider: 'google', credential: 'service_account_key' },
  azure: { kind: 'cloud', label: 'Azure', provider: 'azure', credential: 'client_secret' },
  vault: { kind: 'cloud', label: 'Vault or OpenBao', provider: 'vault', credential: null },
  other: { kind: 'cloud', label: 'Another cloud', provider: 'other', credential: null },
  kubernetes: { kind: 'kubernetes', label: 'Kubernetes' },
  registry: { kind: 'registry', label: 'Registry' },
  'git-https': { kind: 'git', label: 'Git over HTTPS', credential: 'token' },
  'git-ssh': { kind: 'git', label: 'Git over SSH', credential: 'private_key' },
};

/** The variant of an existing connection. */
export function variantOf({ kind, config }: { kind: ConnectionKind; config: Record<string, unknown> }): Variant {
  const isSsh = String(config['url']).startsWith('ssh:');
  const fits = (variant: Variant) =>
    variant.kind === kind &&
    (variant.provider === undefined || variant.provider === config['provider']) &&
    (kind !== 'git' || (variant.credential === 'private_key') === isSsh);
  const found = Object.values(variants).find(fits);
  if (!found) throw new Error(`no form changes a connection of the kind ${kind} with this config`);
  return found;
}

/** The JSON Schema of the config, without the provider. */
export function configSchema({ kind, provider }: Variant): JsonObject {
  const schema = describeSchema(kindOf(kind).config);
  if (provider === undefined) return schema;
  const branch = branchesOf(schema).find((each) => propertyOf(each, 'provider')?.['const'] === provider);
  return withoutProvider(branch ?? schema);
}

/** The JSON Schema of the credentials, in which every string is secret. Null if the variant has no credentials. */
export function credentialsSchema({ kind, credential }: Variant): JsonObject | null {
  if (credential === null) return null;
  const schema = describeSchema(kindOf(kind).credentials);
  const branch =
    credential === undefined ? schema : branchesOf(schema).find((each) => propertyOf(each, credential) !== undefined);
  return withSecrets(branch ?? schema) as JsonObject;
}

/** The titles of a schema's properties, by name, for those that have one. */
export function labelsOf(schema: JsonObject): Readonly<Record<string, string>> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>);
  return Object.fromEntries(
    properties.flatMap(([name, { title }]) => (typeof title === 'string' ? [[name, title]] : [])),
  );
}

function describeSchema(schema: z.ZodType): JsonObject {
  return simplify(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonValue,
  ) as unknown as JsonObject;
}

/** A string that may be at least this long may have several lines. */
const linesFrom = 65_536;

/** The keywords of a schema that the form uses. The operation explains in words what is wrong with a value. */
const shown = ['type', 'title', 'description', 'required', 'format', 'examples', 'enum', 'const', 'writeOnly'];
/** The parts of a schema that are schemas, and the lists of schemas. */
const nested = ['items', 'additionalProperties', 'oneOf', 'anyOf'];

/** Leaves out keywords that people need not read. */
function simplify(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(simplify);
  if (schema === null || typeof schema !== 'object') return schema;
  const { default: usual, maxLength, properties, ...described } = schema as Record<string, JsonValue>;
  const parts = Object.entries(described);
  return {
    ...Object.fromEntries(parts.filter(([name]) => shown.includes(name))),
    ...Object.fromEntries(
      parts.filter(([name]) => nested.includes(name)).map(([name, part]) => [name, simplify(part)]),
    ),
    ...(properties !== undefined && { properties: mapMembers(properties, simplify) }),
    ...(typeof usual === 'string' && { default: usual }),
    ...(Number(maxLength) >= linesFrom && { contentMediaType: 'text/plain' }),
  };
}

/** Converts the schemas in `properties`. Their names are those of values, and may look like keywords. */
function mapMembers(properties: JsonValue, change: (schema: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(properties as JsonObject).map(([name, part]) => [name, change(part)]));
}

function branchesOf(schema: JsonObject): JsonObject[] {
  return (schema['oneOf'] ?? schema['anyOf'] ?? []) as JsonObject[];
}

function propertyOf(schema: JsonObject, name: string): JsonObject | undefined {
  return (schema['properties'] as Record<string, JsonObject> | undefined)?.[name];
}

function withoutProvider(schema: JsonObject): JsonObject {
  const { provider: _, ...properties } = schema['properties'] as Record<string, JsonValue>;
  const required = ((schema['required'] ?? []) as string[]).filter((name) => name !== 'provider');
  return { ...schema, properties, required };
}

/** Marks every string of the schema as secret. */
function withSecrets(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withSecrets);
  if (!isJsonObject(schema)) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, withSecrets(part)] as const);
  return { ...Object.fromEntries(parts), ...(schema['type'] === 'string' && { writeOnly: true }) };
}
