import { withoutKeys } from '#domain/runs/plans/perpetual-differences.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { asArray, isObject, type JsonObject } from '../../shared/json.ts';

/**
 * The resources to which the configuration of a planned resource refers, at places where the plan does not know the values. Null if it may
 * refer to anything, because the plan does not say what locals, modules and data sources refer to.
 */
export function readReferences(resource: JsonObject, change: JsonObject, plan: JsonObject): string[] | null {
  if (resource['action_reason'] === 'replace_by_triggers') return null;
  const { module_address: address, mode, type, name } = resource;
  const module = typeof address === 'string' ? withoutKeys(address) : '';
  const configured = asArray(moduleOf(plan, module)?.['resources'])
    .filter(isObject)
    .find((each) => each['mode'] === mode && each['type'] === type && each['name'] === name);
  const expressions = configured?.['expressions'];
  if (!configured) return null;
  const unknown = isObject(change['after_unknown']) ? Object.keys(change['after_unknown']) : [];
  const texts = unknown.flatMap((attribute) => (isObject(expressions) ? textsIn(expressions[attribute]) : []));
  const resources = texts.map((text) => resourceIn(text, module));
  return resources.includes(null)
    ? null
    : ([...new Set(resources.filter((each) => each !== null && each !== ''))] as string[]);
}

/** The configuration of a module by its address without keys, such as `module.a.module.b`. */
function moduleOf({ configuration }: JsonObject, address: string): JsonObject | undefined {
  let module = isObject(configuration) ? configuration['root_module'] : undefined;
  for (const name of address.split('.').filter((_, index) => index % 2 === 1)) {
    const calls = isObject(module) ? module['module_calls'] : undefined;
    const call = isObject(calls) ? calls[name] : undefined;
    module = isObject(call) ? call['module'] : undefined;
  }
  return isObject(module) ? module : undefined;
}

/** The references of an expression, or of all expressions in a block. */
function textsIn(expression: JsonValue | undefined): string[] {
  if (Array.isArray(expression)) return expression.flatMap(textsIn);
  if (!isObject(expression)) return [];
  const { references, constant_value: _, ...others } = expression;
  const named = asArray(references).filter((each) => typeof each === 'string');
  return [...named, ...Object.values(others).flatMap(textsIn)];
}

/** The references whose values are known before a plan is made. */
const known = new Set(['count', 'path', 'terraform', 'tofu']);

/** The address of the resource that a reference names. Empty if its value is known; null if its dependencies are unknown. */
function resourceIn(reference: string, module: string): string | null {
  const [first = '', second] = reference.split(/[.[]/);
  if (known.has(first) || (first === 'var' && module === '') || reference.startsWith('each.key')) return '';
  if (['var', 'local', 'module', 'data', 'each', 'self', 'ephemeral'].includes(first) || second === undefined)
    return null;
  return `${module === '' ? '' : `${module}.`}${first}.${second}`;
}
