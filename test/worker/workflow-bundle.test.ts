import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bundledSources, bundleWorkflows } from '#worker/workflow-bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The paths in the map of sources that a bundle ends with. */
function readSourceMap(code: string): string[] {
  const [, encoded = ''] = /sourceMappingURL=data:[^,]*;base64,(\S+)\s*$/.exec(code) ?? [];
  const { sources } = JSON.parse(Buffer.from(encoded, 'base64').toString()) as { sources: string[] };
  return sources;
}

it('the key of a cached bundle covers every file of the project that the bundle contains', async () => {
  const { code } = await bundleWorkflows();
  const bundled = readSourceMap(code).filter(
    (source) => /\/src\/.*\.ts$/.test(source) && !source.includes('node_modules'),
  );

  expect(bundled.length).toBeGreaterThan(5);
  const covered = bundledSources().map((path) => path.slice(root.length));
  expect(bundled.filter((source) => !covered.some((path) => source.endsWith(path)))).toEqual([]);
});

it('the key of a cached bundle covers the values that workflows share with the domain', () => {
  expect(bundledSources()).toContain(`${root}src/domain/shared/vocabulary/runs.ts`);
});
