import type { TemplateSpec } from '#domain/registry/spec.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { convertToType } from '#domain/sources/hcl/conversions.ts';
import type { EnvironmentVariables } from '#domain/variables/loaded.ts';

/** The defaults that an environment gives to the variables of a template, as a run of the template gets them. */
export function defaultsOf(
  schema: TemplateSpec['variables'],
  template: EnvironmentVariables['template'],
): Record<string, JsonValue> {
  const values = Object.entries(template).map(
    ([name, { value }]) => [name, convertDefault(schema, name, value)] as const,
  );
  return Object.fromEntries(values);
}

/**
 * Converts a default of the environment to the type of the variable, because people often enter it without knowing that type. A password of
 * digits becomes text, and "3" becomes a number if the template declares one. The tools convert such values in the same way.
 */
export function convertDefault(schema: TemplateSpec['variables'], name: string, value: JsonValue): JsonValue {
  const declared = propertiesOf(schema)[name];
  const types = typeof declared === 'object' && declared !== null && 'type' in declared ? [declared.type].flat() : [];
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (value === null || others.length > 0) return value;
  if (type !== 'string' && type !== 'number' && type !== 'integer' && type !== 'boolean') return value;
  return convertToType(value, { type: type === 'integer' ? 'number' : type }) ?? value;
}
