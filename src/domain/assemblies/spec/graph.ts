import { type CheckedCondition, checkCondition } from './conditions/conditions.ts';
import { findReferences } from './references.ts';
import type { AssemblyNodeSpec } from './spec.ts';

/** Computes which nodes wait for which others. */

/** The nodes that each node depends on, by key. */
export type Dependencies = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The dependencies by references, conditions and `depends_on`. Nodes that do not exist are left out: `validateSpec` reports them. Parsing
 * conditions takes time, so pass known conditions, and store the result with a published version.
 */
export function dependenciesOf(
  spec: { readonly nodes: Readonly<Record<string, AssemblyNodeSpec>> },
  conditionOf: (key: string) => CheckedCondition | undefined = (key) => checkWhen(spec.nodes[key]),
): Map<string, Set<string>> {
  const known = new Set(Object.keys(spec.nodes));
  const needs = (key: string, node: AssemblyNodeSpec) =>
    new Set(namedBy(node, conditionOf(key)).filter((other) => known.has(other)));
  return new Map(Object.entries(spec.nodes).map(([key, node]) => [key, needs(key, node)]));
}

function checkWhen(node: AssemblyNodeSpec | undefined): CheckedCondition | undefined {
  return node?.when === undefined ? undefined : checkCondition(node.when);
}

/** The keys of the nodes that a node refers to. */
function namedBy(node: AssemblyNodeSpec, condition: CheckedCondition | undefined): string[] {
  const read = condition && !('problem' in condition) ? condition : { references: [], statuses: [] };
  const outputs = [...findReferences(node.variables), ...read.references].flatMap((reference) =>
    reference.kind === 'output' ? [reference.node] : [],
  );
  return [...outputs, ...read.statuses, ...node.depends_on];
}

/** Returns one cycle for each strongly connected component, as keys in order. The last key depends on the first. */
export function findCycles(dependencies: Dependencies): string[][] {
  return groupsOf(dependencies).flatMap((group) => {
    const [first = ''] = group;
    const isCycle = group.length > 1 || dependencies.get(first)?.has(first);
    return isCycle ? [shortestCycle(new Set(group), dependencies)] : [];
  });
}

/** Tarjan's strongly connected components, without recursion: a chain may be long. */
function groupsOf(dependencies: Dependencies): string[][] {
  const search = { numbers: new Map<string, number>(), lows: new Map<string, number>(), open: new Set<string>() };
  const groups: string[][] = [];
  for (const start of dependencies.keys()) {
    if (search.numbers.has(start)) continue;
    const path = [enter(start, dependencies, search)];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.next();
      if (!next.done) {
        if (!search.numbers.has(next.value)) path.push(enter(next.value, dependencies, search));
        else if (search.open.has(next.value)) lower(top.key, search.numbers.get(next.value) ?? 0, search);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) lower(parent.key, search.lows.get(top.key) ?? 0, search);
      if (search.lows.get(top.key) === search.numbers.get(top.key)) groups.push(close(top.key, search));
    }
  }
  return groups;
}

interface Search {
  /** The order in which nodes were entered. */
  readonly numbers: Map<string, number>;
  /** The lowest number that each node leads back to. */
  readonly lows: Map<string, number>;
  /** Nodes whose group is not known yet, in the order of their numbers. */
  readonly open: Set<string>;
}

function enter(key: string, dependencies: Dependencies, { numbers, lows, open }: Search) {
  lows.set(key, numbers.size);
  numbers.set(key, numbers.size);
  open.add(key);
  return { key, rest: (dependencies.get(key) ?? new Set<string>()).values() };
}

function lower(key: string, number: number, { lows }: Search): void {
  lows.set(key, Math.min(lows.get(key) ?? number, number));
}

/** Closes the group of a node from which no earlier node can be reached: all nodes opened since. */
function close(key: string, { numbers, open }: Search): string[] {
  const first = numbers.get(key) ?? 0;
  const group = [...open].filter((member) => (numbers.get(member) ?? 0) >= first);
  for (const member of group) open.delete(member);
  return group;
}

/** A shortest cycle through the first node of a group, so that the message names few keys. */
function shortestCycle(group: ReadonlySet<string>, dependencies: Dependencies): string[] {
  const [start = ''] = group;
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const key of queue) {
    for (const next of dependencies.get(key) ?? []) {
      if (next === start) return pathTo(key, start, cameFrom);
      if (!group.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, key);
      queue.push(next);
    }
  }
  throw new Error(`the node ${start} is in no cycle`);
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let key = end; key !== start; ) {
    key = cameFrom.get(key) ?? start;
    path.unshift(key);
  }
  return path;
}

/** The nodes, each after all nodes that it depends on. @throws Error if there is a cycle */
export function topologicalOrder(dependencies: Dependencies): string[] {
  const missing = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [key, needed] of dependencies) {
    const known = [...needed].filter((other) => dependencies.has(other));
    missing.set(key, known.length);
    for (const other of known) {
      const waiting = dependents.get(other);
      if (waiting) waiting.push(key);
      else dependents.set(other, [key]);
    }
  }
  const order = [...dependencies.keys()].filter((key) => missing.get(key) === 0);
  for (const key of order) {
    for (const dependent of dependents.get(key) ?? []) {
      const left = (missing.get(dependent) ?? 0) - 1;
      missing.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  }
  if (order.length < dependencies.size) throw new Error('the graph has a cycle, so its nodes have no order');
  return order;
}
