import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { markdownFiles, prose, root } from './markdown.ts';

const specification = 'docs/specification.md';
/** `specification, *Section*, rules 1 and 2` */
const citation = /\bspecification, \*([^*]+)\*(?:, (?:rules?|conditions?) (\d+(?:(?:, | and )\d+)*))?/g;
/** `docs/access.md`, or `docs/access.md, *Section*` */
const documentCitation = /([\w./-]*\b[\w-]+\.md)\b(?:, \*([^*]+)\*)?/g;

/** The sections of a document by their headings, each without those below it. */
function sectionsOf(file: string): Map<string, string> {
  const parts = prose(file)
    .split(/^#+ (.*)$/m)
    .slice(1);
  return new Map(parts.flatMap((title, at) => (at % 2 === 0 ? [[title, parts[at + 1] ?? '']] : [])));
}

/** The comments of a file, each on one line. */
function commentsOf(file: string): string[] {
  const blocks = readFileSync(join(root, file), 'utf8').match(/\/\*\*[\s\S]*?\*\/|(?:^\s*\/\/.*\n)+/gm) ?? [];
  return blocks.map((block) => block.replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' '));
}

const comments = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root })
  .filter((file) => file !== 'test/docs/citations.test.ts')
  .flatMap((file) => commentsOf(file).map((comment) => ({ file, comment })));

const documents = markdownFiles().map((file) => ({ file, comment: prose(file).replace(/\s*\n\s*/g, ' ') }));

describe('citations', () => {
  it('name sections and rules that docs/specification.md has', () => {
    const sections = sectionsOf(specification);
    const cited = [...comments, ...documents].flatMap(({ file, comment }) =>
      [...comment.matchAll(citation)].map(([cite, title = '', rules = '']) => {
        const numbers = rules.match(/\d+/g) ?? [];
        const section = sections.get(title);
        const holds = section !== undefined && numbers.every((number) => section.includes(`\n${number}. `));
        return { file, cite, holds };
      }),
    );
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ holds }) => !holds)).toEqual([]);
  });

  it('have one form for the specification in comments', () => {
    const others = comments.filter(({ comment }) => /\bspecification\b/i.test(comment.replace(citation, '')));
    expect(others).toEqual([]);
  });

  it('name documents of this project, and sections that these have', () => {
    const cited = comments.flatMap(({ file, comment }) =>
      [...comment.matchAll(documentCitation)].map(([, path = '', title]) => ({ file, path, title })),
    );
    const broken = cited.filter(({ path, title }) => {
      if (!existsSync(join(root, path))) return true;
      return title !== undefined && !sectionsOf(path).has(title);
    });
    expect(broken).toEqual([]);
  });

  it('name no design document', () => {
    expect(comments.filter(({ comment }) => /\bthe design\b/.test(comment))).toEqual([]);
  });
});
