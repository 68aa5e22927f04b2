import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, codeBlocks, markdownFiles, prose, readMarkdown, root } from './markdown.ts';

const files = markdownFiles();
const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

/** The test that runs each kind of shell block. Every other block has only scripts of package.json, one on each line. */
const tried: Record<string, string> = {
  'sh tour': 'readme.test.ts',
  'sh file plan.sh': 'writing-templates.test.ts',
  'sh file apply.sh': 'writing-templates.test.ts',
  'sh tried': 'operating.test.ts',
  'sh key': 'operating.test.ts',
  'sh access': 'access.test.ts',
  'sh errors': 'errors.test.ts',
  'sh following': 'following-runs.test.ts',
  'sh instances': 'instances.test.ts',
  'sh drift': 'drift.test.ts',
  'sh quota': 'quotas.test.ts',
  'sh variables': 'variable-sets.test.ts',
  // A real OpenBao, which `npm test` does not install.
  'sh openbao': '../openbao/login.proof.ts',
  'sh identity': 'workload-identity.test.ts',
  'sh plugins': 'plugins.test.ts',
  'sh webhooks': 'webhooks.test.ts',
  'sh notifications': 'notifications.test.ts',
  'sh channels': 'notifications.test.ts',
  'sh undo': 'undo.test.ts',
  'sh place': 'instances.test.ts',
  'sh assemblies': 'assemblies.test.ts',
  'sh example': 'assemblies-example.test.ts',
  'sh containers': '../containers/installation.proof.ts',
  // These commands need a container engine. The test compares them with the files that they use.
  'sh engine': '../containers/composition.test.ts',
};

/** The documentation names these without a folder, because many areas have them. */
const filesOfAreas = [
  ...['model.ts', 'entity.ts', 'store.ts', 'ownership.ts', 'events.ts', 'news.ts', 'feature.ts', 'sealed.ts'],
  ...['operations.ts', 'views.ts', 'area.ts', 'page-list.ts', 'declarations.ts'],
];

const shellBlocks = files.flatMap(codeBlocks).filter(({ info }) => /^(sh|bash|console|shell)\b/.test(info));

describe('a shell block in the documentation', () => {
  it.each(shellBlocks.map((block) => [`${block.file}:${block.line}`, block] as const))(
    'is run by a test or consists of existing scripts (%s)',
    (_place, { info, text }) => {
      if (tried[info]) {
        expect(existsSync(join(import.meta.dirname, tried[info]))).toBe(true);
        return;
      }
      for (const line of text.trim().split('\n')) expect(scripts).toHaveProperty([scriptOf(line) ?? line]);
    },
  );

  it('exists for every kind that a test runs', () => {
    const shown = new Set(shellBlocks.map(({ info }) => info));
    expect(Object.keys(tried).filter((info) => !shown.has(info))).toEqual([]);
  });
});

/** The script of a line such as `npm start`, `npm test` or `npm run NAME`, perhaps with settings and arguments. */
function scriptOf(line: string): string | undefined {
  return /^(?:[A-Z_]+=\S* )*npm (?:run )?([a-z:-]+)(?: -- .*)?$/.exec(line)?.[1];
}

describe.each(files)('%s', (file) => {
  it('mentions only scripts that exist', () => {
    const named = [...readMarkdown(file).matchAll(/npm (?:run ([a-z:-]+)|(start|test)\b)/g)].map(([, a, b]) => a ?? b);
    expect(named.filter((name) => !Object.hasOwn(scripts, name ?? ''))).toEqual([]);
  });

  it('links only to existing files and headings', () => {
    const links = [...prose(file).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('mentions only source files that exist, by their full paths', () => {
    const paths = /`((?:src|test|scripts|migrations|docs)\/[\w./-]*\w|[\w./-]+\.ts)`/g;
    const named = [...prose(file).matchAll(paths)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(join(root, path)) && !filesOfAreas.includes(path))).toEqual([]);
  });

  it('mentions only settings that exist', () => {
    const known = readMarkdown('docs/configuration.md');
    const named = [
      ...readMarkdown(file).matchAll(/\b(?:COORDINATOR|TEMPORAL|WORKER|METRICS|BOOTSTRAP)_[A-Z_]+[A-Z]\b/g),
    ]
      .map(([name]) => name)
      .filter(
        (name) =>
          !/^COORDINATOR_(VAR|VARIABLES|STATE|PLAN|OUTPUTS|PHASE|OPERATION|RUN)\b|^COORDINATOR_(VAR|VARIABLES|STATE|PLAN|OUTPUTS|RUN)_/.test(
            name,
          ),
      );
    expect(named.filter((name) => !known.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/configuration.md', () => {
  it('matches src/config/settings.ts', () => {
    execFileSync('node', ['scripts/docs-configuration.js', '--check'], { cwd: root, stdio: 'pipe' });
  });
});
