import type { Operation } from '#api/pipeline/operation.ts';
import { arrange } from '#api/web/declarations/arrange.ts';
import { areas } from './areas.ts';

/** Every operation of the service: routes, reference, catalogue and tests come from this list. */
export const operations: readonly Operation[] = areas
  .flatMap((area) => area.operations ?? [])
  .flatMap((module) => Object.values(module).filter(isOperation));

interface Tag {
  readonly name: string;
  readonly about: string;
  readonly after?: string;
}

const declaredTags: readonly Tag[] = areas.flatMap((area) =>
  Object.entries(area.tags ?? {}).map(([name, tag]) => ({ name, ...(typeof tag === 'string' ? { about: tag } : tag) })),
);

/** The groups of operations with their descriptions, in the order of the reference. */
export const tags: readonly Tag[] = arrange(declaredTags, ({ name }) => name);

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'route' in value;
}
