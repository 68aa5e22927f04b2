import { describe, expect, it } from 'vitest';
import {
  type DeployedNode,
  findDependentLeftBehind,
  nodesToDestroy,
} from '#domain/assemblies/runs/admission/plan-nodes.ts';

function made(key: string, dependencies: string[] = [], holdsResources = true): DeployedNode {
  const template = { templateId: 't', templateVersionId: 'v', templateVersion: '1.0.0' };
  return {
    key,
    dependencies,
    holdsResources,
    instance: key,
    spec: {} as DeployedNode['spec'],
    assemblyVersionId: 'v',
    ...template,
  };
}

describe('a destroy', () => {
  it('makes each node wait for the nodes that depend on it', () => {
    const nodes = nodesToDestroy([made('network'), made('app', ['network']), made('test', ['app', 'network'])], null);
    expect(nodes.map(({ key }) => key)).toEqual(['test', 'app', 'network']);
    expect(nodes.map(({ dependencies }) => dependencies)).toEqual([[], ['test'], ['app', 'test']]);
  });

  it('skips nodes that are not deployed', () => {
    const [app, network] = nodesToDestroy([made('network'), made('app', ['network'], false)], null);
    expect(app).toMatchObject({ key: 'app', skipped: { code: 'not_deployed' } });
    expect(network).toMatchObject({ key: 'network', skipped: null });
  });

  it('has no cycle if two nodes were deployed with dependencies on each other', () => {
    const nodes = nodesToDestroy([made('a', ['b']), made('b', ['a'])], null);
    expect(nodes).toHaveLength(2);
    expect(nodes.filter(({ dependencies }) => dependencies.length > 0)).toHaveLength(1);
  });

  it('does not wait for a node that was never deployed', () => {
    expect(nodesToDestroy([made('app', ['gone'])], null)).toMatchObject([{ key: 'app', dependencies: [] }]);
  });

  it('of one node names a deployed node that depends on it', () => {
    const all = [made('network'), made('app', ['network'])];
    expect(findDependentLeftBehind(nodesToDestroy(all, ['network']), all)).toEqual({
      node: 'network',
      dependent: 'app',
    });
    expect(findDependentLeftBehind(nodesToDestroy(all, ['app']), all)).toBeNull();
    const gone = [made('network'), made('app', ['network'], false)];
    expect(findDependentLeftBehind(nodesToDestroy(gone, ['network']), gone)).toBeNull();
  });
});
