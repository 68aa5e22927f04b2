import { toSnakeCase } from '#database/compiler.ts';
import { Decimal } from '../values/decimal.ts';

/**
 * Values as the API writes them: names in snake case and times in RFC 3339, through all levels. Names that users choose, such as the
 * variables of a template, stay as they are.
 */
export function asInApi(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnakeCase(name), render(name, value)]));
}

/** Below these names, users choose names and values. A list below one of them has entries of the service's own. */
const namedByUsers = new Set([
  'path_parameters',
  'variables',
  'value',
  'values',
  'default',
  'spec',
  'inputs',
  'outputs',
]);

function render(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? asInApi(each) : each));
  if (isObject(value)) return namedByUsers.has(name) ? value : asInApi(value);
  return /(At|_at)$/.test(name) ? inRfc3339(value) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !(value instanceof Decimal);
}

/** Query results contain times as PostgreSQL writes them. */
function inRfc3339(time: unknown): unknown {
  const isTime = typeof time === 'string' && !Number.isNaN(Date.parse(time));
  return isTime ? new Date(time).toISOString() : time;
}
