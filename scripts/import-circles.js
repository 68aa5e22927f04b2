import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the lists of `src/domain` from all areas, which name types that are made from those lists. */
const areas = 'src/domain/areas.ts';

/**
 * The circles of imports among modules, as dependency-cruiser found them. Imports of types count, except in circles through the list of areas: those
 * are circles only if the files load each other.
 * @returns a line for each
 */
export function findCircles(directory, modules) {
  const imports = new Map(modules.map(({ source, dependencies }) => [source, dependencies]));
  const others = new Map(
    [...imports].map(([source, dependencies]) => [source, namesOf(dependencies).filter((name) => name !== areas)]),
  );
  const loaded = (source) => namesOf(loadedBy(join(directory, source), imports.get(source) ?? []));
  const circles = [
    ...[...others.keys()].map((source) => findCircle(source, (name) => others.get(name) ?? [])),
    ...(imports.has(areas) ? [findCircle(areas, loaded)] : []),
  ];
  // A circle is found from each of its modules.
  const found = circles.filter((circle) => circle !== undefined);
  const bySet = new Map(found.map((circle) => [[...circle].sort().join(), circle]));
  return [...bySet.values()].map((circle) => [...circle, circle[0]].join(' → '));
}

function namesOf(dependencies) {
  return dependencies.map(({ resolved }) => resolved);
}

/** The imports of a file that are still there when its types are stripped. */
function loadedBy(file, dependencies) {
  if (dependencies.length === 0) return [];
  const statements = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s+(?!type\s)(?:[^;'"]*?\bfrom\s+)?['"]([^'"]+)['"]/gm,
  );
  const named = new Set([...statements].map(([, name]) => name));
  return dependencies.filter(({ module }) => named.has(module));
}

/** The shortest way from a module through its imports back to it; undefined if there is none. */
function findCircle(start, importsOf) {
  const cameFrom = new Map([[start, undefined]]);
  for (const name of cameFrom.keys()) {
    for (const next of importsOf(name)) {
      if (next === start) return wayTo(name, cameFrom);
      if (!cameFrom.has(next)) cameFrom.set(next, name);
    }
  }
  return undefined;
}

function wayTo(end, cameFrom) {
  const way = [];
  for (let name = end; name !== undefined; name = cameFrom.get(name)) way.unshift(name);
  return way;
}
