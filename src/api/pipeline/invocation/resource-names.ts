import { z } from 'zod';
import type { Em } from '#database/database.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Operation } from '../operation.ts';
import type { OperationInput } from './invocation.ts';

/** Finds the id of a resource by another name, such as a slug. Undefined: nothing has this name. */
export type FindByName = (em: Em, name: string) => Promise<string | undefined>;

/** For schemas of path parameters that accept another name than the id: the function that finds the id. */
const finders = new WeakMap<object, FindByName>();

/** Declares how the resource is found that a path parameter of this schema names. */
export function findsByName<S extends z.ZodType>(schema: S, find: FindByName): S {
  finders.set(schema, find);
  return schema;
}

/** Replaces names in the parameters of the path by ids. A name that no resource has stays as it is. */
export async function resolveNames(
  em: Em,
  { params: schema }: Pick<Operation, 'params'>,
  params: OperationInput['params'],
): Promise<Record<string, string>> {
  const shape: Record<string, z.core.$ZodType> = schema instanceof z.ZodObject ? schema.shape : {};
  const given = Object.entries((params ?? {}) as Record<string, string>);
  const resolved = given.map(async ([name, value]) => {
    const find = shape[name] && finders.get(shape[name]);
    return [name, find && !isId(value) ? ((await find(em, value)) ?? value) : value];
  });
  return Object.fromEntries(await Promise.all(resolved));
}
