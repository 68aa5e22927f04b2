import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import type { SchemaPart } from '#api/web/forms/schema-part.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { configSchema, credentialsSchema, type Variant } from './variants.ts';

/** The fields of a form are made from the schemas by which a kind of connection checks its settings. */

/** Both the config and the credentials, filled in with a config that is to be changed. Credentials are never filled in. */
export function settingsPart(variant: Variant, config: Record<string, unknown> = {}): SchemaPart {
  const { provider: _, ...values } = config;
  const isFilled = Object.keys(values).length > 0;
  const schema = configSchema(variant);
  const hasFields = Object.keys(schema['properties'] ?? {}).length > 0;
  const properties = { ...(hasFields && { config: schema as JsonValue }), ...credentialsOf(variant) };
  return partOf(variant, properties, isFilled ? { config: values as JsonValue } : {});
}

/** The credentials alone. */
export function credentialsPart(variant: Variant): SchemaPart {
  return partOf(variant, credentialsOf(variant), {});
}

function credentialsOf(variant: Variant): Record<string, JsonValue> {
  const schema = credentialsSchema(variant);
  return schema === null ? {} : { credentials: schema as JsonValue };
}

function partOf(
  { label }: Variant,
  properties: Record<string, JsonValue>,
  values: Record<string, JsonValue>,
): SchemaPart {
  const root = planForm({ type: 'object', properties });
  const none = 'It keeps no credentials: the cloud trusts the tokens of the service.';
  return { root, values, inherited: new Map(), of: label, lead: null, title: 'Settings', none };
}

/** Config and credentials as a form has read them. A part that was left empty is empty. */
export function toSettings({ provider }: Variant, read: Readonly<Record<string, JsonValue>>) {
  const config = (read['config'] ?? {}) as Record<string, JsonValue>;
  return { config: { ...(provider !== undefined && { provider }), ...config }, credentials: read['credentials'] ?? {} };
}
