import { InstanceName } from '#domain/instances/instance-name.ts';
import type { Draft, Problems } from '../draft-parts.ts';
import { suggest } from '../near-names.ts';
import { type Problem, pointer } from '../problems.ts';
import { instanceOf } from '../spec.ts';

/** What nodes say of each other: dependencies and instances. */
export function checkNodes({ nodes }: Draft): Problems {
  return { errors: [checkDependencies(nodes), checkInstances(nodes)] };
}

function* checkDependencies(nodes: Draft['nodes']): Generator<Problem> {
  const keys = Object.keys(nodes);
  for (const [key, { depends_on: needed }] of Object.entries(nodes)) {
    for (const [index, other] of needed.entries()) {
      if (Object.hasOwn(nodes, other)) continue;
      const message = `is no node of this assembly${suggest(other, keys)}`;
      yield { path: pointer('nodes', key, 'depends_on', index), message };
    }
  }
}

function checkInstances(nodes: Draft['nodes']): Problem[] {
  const takenBy = new Map<string, string>();
  return Object.entries(nodes).flatMap(([key, node]): Problem[] => {
    const instance = instanceOf(key, node);
    if (!InstanceName.safeParse(instance).success) {
      const message = `needs "instance": the key "${key}" is no name of an instance, because it ends with "_" or "-"`;
      return [{ path: pointer('nodes', key), message }];
    }
    const other = takenBy.get(instance);
    if (other === undefined) {
      takenBy.set(instance, key);
      return [];
    }
    const message = `deploys the instance "${instance}", which the node "${other}" deploys, too: give each its own`;
    return [{ path: pointer('nodes', key, ...(node.instance === undefined ? [] : ['instance'])), message }];
  });
}
