import { InstanceName } from '#domain/instances/instance-name.ts';
import { suggest } from '#domain/shared/values/near-names.ts';
import type { Draft, Problems } from '../draft-parts.ts';
import { type Problem, pointer } from '../problems.ts';
import { instanceOf } from '../spec.ts';

/** Checks how nodes relate to each other: dependencies and instances. */
export function checkNodes(draft: Draft): Problems {
  return { errors: [checkDependencies(draft), checkInstances(draft)] };
}

function* checkDependencies({ nodes, keys }: Draft): Generator<Problem> {
  for (const [key, { depends_on: needed }] of Object.entries(nodes)) {
    for (const [index, other] of needed.entries()) {
      if (keys.has(other)) continue;
      const message = `is no node of this assembly${suggest(other, [...keys])}`;
      yield { path: pointer('nodes', key, 'depends_on', index), message };
    }
  }
}

function checkInstances({ nodes, isReadable }: Draft): Problem[] {
  const takenBy = new Map<string, string>();
  return Object.entries(nodes).flatMap(([key, node]): Problem[] => {
    if (!isReadable(key, 'instance')) return [];
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
