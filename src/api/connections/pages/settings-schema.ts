import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import type { SchemaPart } from '#api/web/forms/schema-part.ts';
import type { JsonObject } from '#domain/registry/variables/engine.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { configSchema, credentialsSchema, type Variant } from './variants.ts';

/** The fields of a form are made from the schemas by which a kind of connection checks its settings. */

const configHint = 'Whoever may read the connection sees this.';

/** Both the config and the credentials, filled in with a config that is to be changed. Credentials are never filled in. */
export function settingsPart(variant: Variant, config: Record<string, unknown> = {}): SchemaPart {
  const { provider: _, ...values } = config;
  const isFilled = Object.keys(values).length > 0;
  const schema: JsonObject = { ...configSchema(variant), title: 'What it opens', description: configHint };
  const hasFields = Object.keys(schema['properties'] ?? {}).length > 0;
  const properties = { ...(hasFields && { config: schema }), ...credentialsOf(variant) };
  return partOf(variant, properties, isFilled ? { config: values as JsonValue } : {});
}

/** The credentials alone. */
export function credentialsPart(variant: Variant): SchemaPart {
  return partOf(variant, credentialsOf(variant), {});
}

/** A cloud that trusts the tokens of the service needs no credentials. */
function requiredOf({ kind }: Variant, properties: Record<string, JsonObject>): string[] {
  const hasRequired = ([, schema]: [string, JsonObject]) => [schema['required'] ?? []].flat().length > 0;
  const required = Object.entries(properties).filter(hasRequired);
  return required.map(([name]) => name).filter((name) => name !== 'credentials' || kind !== 'cloud');
}

function credentialsOf(variant: Variant): Record<string, JsonObject> {
  const schema = credentialsSchema(variant);
  const either = variant.kind === 'cloud' ? ' Give them or a workload identity: one of the two is needed.' : '';
  return schema === null
    ? {}
    : {
        credentials: {
          ...schema,
          title: 'Credentials',
          description: `They are kept sealed. Nobody is shown them.${either}`,
        },
      };
}

function partOf(
  variant: Variant,
  properties: Record<string, JsonObject>,
  values: Record<string, JsonValue>,
): SchemaPart {
  const root = planForm({ type: 'object', properties, required: requiredOf(variant, properties) });
  const none = 'It keeps no credentials: the cloud trusts the tokens of the service.';
  return { root, values, inherited: new Map(), of: variant.label, lead: null, title: 'Settings', none };
}

/** Config and credentials as a form has read them. A part that was left empty is empty. */
export function toSettings({ provider }: Variant, read: Readonly<Record<string, JsonValue>>) {
  const config = (read['config'] ?? {}) as Record<string, JsonValue>;
  return { config: { ...(provider !== undefined && { provider }), ...config }, credentials: read['credentials'] ?? {} };
}
