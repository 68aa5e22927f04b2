import type { ChangeAction, ResourceChange } from '#domain/runs/plans/model.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { Random } from '../random.ts';
import { addressOf, type Resource } from './infrastructure.ts';

const unknown = { unknown: true };

/** The changes of a first apply: everything is created. */
export function createAll(resources: readonly Resource[]): ResourceChange[] {
  return resources.map((resource) => changeOf(resource, 'create'));
}

export function destroyAll(resources: readonly Resource[]): ResourceChange[] {
  return resources.map((resource) => changeOf(resource, 'delete'));
}

/** Some changes of what is deployed, as a later run would make them. */
export function changeSome(resources: readonly Resource[], random: Random, operation: RunOperation): ResourceChange[] {
  if (operation === 'destroy') return destroyAll(resources);
  const size = random.between(1, Math.max(2, Math.floor(resources.length / 3)));
  return random.some(resources, size).map((resource) => {
    const draw = random.fraction();
    const action = draw < 0.72 ? 'update' : draw < 0.85 ? 'create' : draw < 0.95 ? 'replace' : 'delete';
    return changeOf(resource, action, random);
  });
}

/** A plan of this many changes, such as of a whole company's records: mostly updates, few replacements and deletions. */
export function changeMany(count: number, random: Random): ResourceChange[] {
  return Array.from({ length: count }, (_, index) => {
    const action: ChangeAction =
      index % 97 === 0 ? 'delete' : index % 41 === 0 ? 'replace' : index % 5 === 0 ? 'create' : 'update';
    const host = `host-${String(index).padStart(4, '0')}`;
    const attributes = {
      name: `${host}.northwind.example`,
      type: 'A',
      ttl: 300,
      records: [`198.51.100.${index % 250}`],
      tags: { rack: random.hex(6), owner: 'platform' },
    };
    const resource = {
      module: `module.site["${index % 40}"]`,
      type: 'aws_route53_record',
      name: 'host',
      key: host,
      attributes,
    };
    return changeOf(resource, action, random);
  });
}

export function changeOf(resource: Resource, action: ChangeAction, random?: Random): ResourceChange {
  const { attributes } = resource;
  const changed = random ? alter(attributes, random) : attributes;
  const sides: Record<ChangeAction, [before: JsonValue, after: JsonValue]> = {
    create: [null, withUnknown(attributes)],
    update: [attributes, changed],
    delete: [attributes, null],
    replace: [attributes, { ...withUnknown(changed) }],
    read: [null, attributes],
    forget: [attributes, null],
    'no-op': [attributes, attributes],
  };
  const [before, after] = sides[action];
  return { address: addressOf(resource), action, before, after };
}

type Attributes = Resource['attributes'];

/** What only the provider knows is known after the apply. */
function withUnknown(attributes: Attributes): Record<string, JsonValue> {
  const known = Object.entries(attributes).map(([name, value]): [string, JsonValue] =>
    ['id', 'endpoint', 'public_ip', 'allocation_id'].includes(name) ? [name, unknown] : [name, value],
  );
  return { ...Object.fromEntries(known), arn: unknown };
}

/** Changes one or two attributes. */
function alter(attributes: Attributes, random: Random): Record<string, JsonValue> {
  const names = random.some(Object.keys(attributes), random.between(1, 2));
  return { ...attributes, ...Object.fromEntries(names.map((name) => [name, other(attributes[name] ?? null, random)])) };
}

function other(value: JsonValue, random: Random): JsonValue {
  if (typeof value === 'number') return value + random.between(1, 20);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string')
    return /\d$/.test(value) ? value.replace(/\d+$/, (digits) => String(Number(digits) + 1)) : `${value}-next`;
  if (Array.isArray(value)) return [...value, value[0] ?? 'added'];
  if (!isJsonObject(value) || 'sensitive' in value) return value;
  return { ...value, managed_by: 'delivery-coordinator' };
}
