import { cpSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { makeTestDirectory } from '#test/support/directories.ts';
import { runShell } from '#test/support/programs/shell.ts';

const root = resolve(import.meta.dirname, '../..');

/** The test renames these properties of entities, while statements keep the old names. */
const renamed = [
  ['runs/entity.ts', 'instancePosition'],
  ['runs/log/entity.ts', 'firstLine'],
  ['instances/entity.ts', 'nextPosition'],
  ['identity/entity.ts', 'enabled'],
  ['registry/entity.ts', 'yankedAt'],
  ['workers/entity.ts', 'drainRequestedAt'],
] as const;

it('renaming the property of a column fails the compiler in a statement that names the column', async () => {
  const directory = makeTestDirectory();
  copyDomain(directory);
  for (const [file, property] of renamed) renameProperty(join(directory, 'src/domain', file), property);
  const errors = await compileStores(directory);
  const missed = renamed.filter(([, property]) => !errors.some((error) => new RegExp(`\\b${property}"`).test(error)));
  expect(missed, errors.join('\n')).toEqual([]);
}, 600_000);

function copyDomain(directory: string): void {
  for (const path of ['src/domain', 'src/database', 'migrations', 'package.json', 'tsconfig.json'])
    cpSync(join(root, path), join(directory, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
}

function renameProperty(path: string, property: string): void {
  const source = readFileSync(path, 'utf8');
  const changed = source.replace(new RegExp(`^    ${property}: `, 'm'), `    ${property}Renamed: `);
  expect(changed, `${path} has no property ${property}`).not.toBe(source);
  writeFileSync(path, changed);
}

/** The errors of the compiler in the stores that name a renamed column. For all stores it takes a minute and a half of processor time. */
async function compileStores(directory: string): Promise<string[]> {
  const names = new RegExp(`\\b(${renamed.map(([, property]) => property).join('|')})\\b`);
  const files = globSync('src/domain/**/*store.ts', { cwd: directory }).filter((file) =>
    names.test(readFileSync(join(directory, file), 'utf8')),
  );
  const project = join(directory, 'tsconfig.stores.json');
  writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', files, include: [] }));
  const environment = { TSC: join(root, 'node_modules/.bin/tsc'), PROJECT: project };
  const { output } = await runShell(['-c', '"$TSC" --checkers 1 --project "$PROJECT"'], environment, {
    withinMs: 500_000,
  });
  return output.split(/\n(?=\S)/).filter((error) => /^\S*store\.ts\(/.test(error));
}
