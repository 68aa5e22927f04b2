import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, tableUnder } from './markdown.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const page = 'docs/dependencies.md';

const tables = [
  ['## The service', 'dependencies'],
  ['## Development and tests', 'devDependencies'],
] as const;

/** Packages that no file imports, and how they are used. */
const unimported: Record<string, string> = {
  node: 'the runtime itself',
  '@mikro-orm/sql': 'a pin',
  protobufjs: 'a pin',
  '@biomejs/biome': 'a program',
  'dependency-cruiser': 'a program',
  typescript: 'a program',
  '@swc/core': 'loaded by dependency-cruiser',
};

function sourcesIn(...directories: string[]): string {
  const read = (directory: string) =>
    readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return directories.flatMap(read).join('\n');
}

/** Whether a file imports the package or refers to its types. */
function isImported(name: string, sources: string): boolean {
  const types = name.startsWith('@types/') ? name.slice('@types/'.length) : name;
  return types === 'node' || new RegExp(`['"]${types}(/[^'"]*)?['"]`).test(sources);
}

describe('docs/dependencies.md', () => {
  it.each(tables)('lists under "%s" exactly the %s of package.json, in order', (heading, field) => {
    const rows = tableUnder(page, heading);
    expect(rows.map(([name]) => name?.replaceAll('`', ''))).toEqual(Object.keys(manifest[field]).sort());
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
  });
});

describe('a dependency', () => {
  it('a dependency of the service is imported by it, or has another documented use', () => {
    const sources = sourcesIn('src', 'migrations');
    const idle = Object.keys(manifest.dependencies).filter((name) => !isImported(name, sources));
    expect(idle.filter((name) => !unimported[name])).toEqual([]);
  });

  it('a dependency for development is imported by tests, scripts or benchmarks, or has another documented use', () => {
    const sources = sourcesIn('src', 'test', 'scripts', 'bench');
    const idle = Object.keys(manifest.devDependencies).filter((name) => !isImported(name, sources));
    expect(idle.filter((name) => !unimported[name])).toEqual([]);
  });
});
