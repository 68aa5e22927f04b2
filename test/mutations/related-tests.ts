import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The tests that should kill a mutant, the nearest first. */
export interface RelatedTests {
  readonly files: readonly string[];
  /** Only these tests of the files; all if there is none. */
  readonly pattern?: RegExp;
}

/** Tries no more files than this. Somebody looks at a mutant that survives them. */
const maxFiles = 3;
/** Beyond this number of imports, nearly every file is related. */
const farthest = 2;

/** The tests to run for a change of a file: those that import it nearly, then those of its area that are called most alike. */
export function relatedTests(file: string): RelatedTests {
  if (file.startsWith('src/api/'))
    return { files: ['test/api/pipeline/operations.test.ts'], pattern: /states the access|the table of demands/ };
  const near = importersOf(file);
  const [, , area = ''] = file.split('/');
  const ofArea = globSync([
    `test/domain/${area}/**/*.test.ts`,
    `test/api/${area}/**/*.test.ts`,
    `test/faults/${area}*.test.ts`,
  ])
    .filter((test) => !near.includes(test))
    .sort((one, other) => likeness(other, file) - likeness(one, file) || one.localeCompare(other));
  const general = ['test/api/pipeline/operations.test.ts', 'test/api/access-reviews/can-i.test.ts'];
  const isGeneral = file.startsWith('src/domain/shared/access/');
  return { files: [...near, ...(isGeneral ? general : []), ...ofArea].slice(0, maxFiles) };
}

/** Whether tests of the domain, which start no service, import the file nearly. */
export function isTestedAlone(file: string): boolean {
  return importersOf(file).length > 0;
}

/** How many words the paths share. */
function likeness(test: string, file: string): number {
  const words = new Set(wordsOf(file));
  return new Set(wordsOf(test).filter((word) => words.has(word))).size;
}

function wordsOf(path: string): string[] {
  return path
    .replace(/\.(?:test\.)?ts$/, '')
    .split(/[/-]/)
    .slice(2)
    .map((word) => word.replace(/s$/, ''));
}

/** Tests of `test/domain` that import a file, directly or by others. */
function importersOf(file: string): string[] {
  const distances = globSync('test/domain/**/*.test.ts').map((test) => ({ test, hops: distanceOf(test, file) }));
  const near = distances.filter(({ hops }) => hops <= farthest);
  return near
    .sort((one, other) => one.hops - other.hops || likeness(other.test, file) - likeness(one.test, file))
    .map(({ test }) => test)
    .slice(0, 4);
}

function distanceOf(test: string, file: string): number {
  const seen = new Set([test]);
  let reached = [test];
  for (let hops = 1; hops <= farthest; hops += 1) {
    reached = reached.flatMap(importsOf).filter((each) => !seen.has(each) && seen.add(each));
    if (seen.has(file)) return hops;
  }
  return Number.POSITIVE_INFINITY;
}

const known = new Map<string, string[]>();

function importsOf(file: string): string[] {
  const imports = known.get(file) ?? readImports(file);
  known.set(file, imports);
  return imports;
}

function readImports(file: string): string[] {
  if (!existsSync(file)) return [];
  const imported = readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) (?!type).*?from '([#.][^']+)';$/gm);
  return [...imported].flatMap(([, name = '']) => {
    if (name.startsWith('.')) return [join(dirname(file), name)];
    return name.startsWith('#test/') ? [name.slice(1)] : [name.replace('#', 'src/')];
  });
}
