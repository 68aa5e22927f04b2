import { expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '#api/operations.ts';
import { routeOf } from '#api/pipeline/operation.ts';

/** The shape of the response to a read of one resource; null for a list, a file and a stream. */
function shapeOf(schema: z.ZodType | undefined): Record<string, unknown> | null {
  if (!(schema instanceof z.ZodObject)) return null;
  return 'next_cursor' in schema.shape ? null : schema.shape;
}

const reads = operations.flatMap((operation) => {
  const { method, path } = routeOf(operation);
  const shape = method === 'GET' ? shapeOf(operation.responses[200]) : null;
  return shape ? [{ id: operation.id, path, shape }] : [];
});

/** The reads of single resources that a command changes at the same path. */
const changeable = reads.filter(({ path }) =>
  operations.some((operation) => {
    const route = routeOf(operation);
    return ['PUT', 'PATCH', 'DELETE'].includes(route.method) && route.path === path;
  }),
);

test.each(changeable.map(({ id, shape }) => [id, Object.keys(shape)] as const))(
  'the response of %s has actions, because the resource can be changed at the same path',
  (_id, names) => {
    expect(names).toContain('actions');
  },
);
