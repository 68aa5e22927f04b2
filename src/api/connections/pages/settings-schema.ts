import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import type { SchemaPart } from '#api/web/forms/schema-part.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';
import { configSchema, credentialsSchema, type Variant } from './variants.ts';

/** The fields of a form are made from the schemas with which a kind of connection validates its settings. */

const configHint = 'Visible to everybody who can see the connection.';

/** Config and credentials. The config is filled in if it is to be changed; credentials never are. */
export function settingsPart(variant: Variant, config: Record<string, unknown> = {}): SchemaPart {
  const { provider: _, ...values } = config;
  const isFilled = Object.keys(values).length > 0;
  const schema: JsonObject = { ...configSchema(variant), title: 'Settings', description: configHint };
  const hasFields = Object.keys(schema['properties'] ?? {}).length > 0;
  const properties = { ...(hasFields && { config: schema }), ...credentialsOf(variant) };
  return partOf(variant, properties, isFilled ? { config: values as JsonValue } : {});
}

/** Only the credentials. */
export function credentialsPart(variant: Variant): SchemaPart {
  return partOf(variant, credentialsOf(variant), {});
}

/** The required members. A cloud that trusts the tokens of the service needs no credentials. */
function requiredOf({ kind }: Variant, properties: Record<string, JsonObject>): string[] {
  const hasRequired = ([, schema]: [string, JsonObject]) => [schema['required'] ?? []].flat().length > 0;
  const required = Object.entries(properties).filter(hasRequired);
  return required.map(([name]) => name).filter((name) => name !== 'credentials' || kind !== 'cloud');
}

function credentialsOf(variant: Variant): Record<string, JsonObject> {
  const schema = credentialsSchema(variant);
  const either = variant.kind === 'cloud' ? ' Enter credentials or a workload identity.' : '';
  return schema === null
    ? {}
    : {
        credentials: {
          ...schema,
          title: 'Credentials',
          description: `Stored encrypted, and never shown again.${either}`,
        },
      };
}

function partOf(
  variant: Variant,
  properties: Record<string, JsonObject>,
  values: Record<string, JsonValue>,
): SchemaPart {
  const titled = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, withTitles(schema)]));
  const root = planForm({ type: 'object', properties: titled, required: requiredOf(variant, properties) });
  const none = 'No credentials are stored: the cloud trusts the tokens of the service.';
  return { root, values, inherited: new Map(), of: variant.label, lead: null, title: 'Settings', none };
}

const abbreviations = /\b(?:arn|url|id|ca|api|uri|ip)\b/g;

/** Adds a title to each member of the schema, made from its name: `role_arn` becomes "Role ARN". */
function withTitles(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return schema;
  const titled = Object.entries(properties).map(([name, member]) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return [name, member] as const;
    const words = name.replaceAll('_', ' ').replace(abbreviations, (word) => word.toUpperCase());
    return [name, { title: words.charAt(0).toUpperCase() + words.slice(1), ...withTitles(member) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(titled) };
}

/** Separates config and credentials in what a form has read. */
export function toSettings({ provider }: Variant, read: Readonly<Record<string, JsonValue>>) {
  const config = (read['config'] ?? {}) as Record<string, JsonValue>;
  return { config: { ...(provider !== undefined && { provider }), ...config }, credentials: read['credentials'] ?? {} };
}
